"""Named corpora: `mtdata:Statmt-news_commentary-16-deu-eng` is downloaded once by mtdata.

mtdata runs in a separate process and folder: importing it would configure logging for the whole process, unpickle its
index, and run any `mtdata*.py` in the current directory.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

from tongsa.base.errors import CorpusError, MissingExtraError
from tongsa.formats.pairs import Reading
from tongsa.text.languages import matches


def fetch(name: str, reading: Reading) -> list[Path]:
    """Return the prefix of the two aligned files, which are downloaded if missing."""
    corpus = name.removeprefix("mtdata:")
    languages = _languages(corpus, reading)
    folder = home() / "tongsa" / corpus
    files = [folder / "train-parts" / f"{corpus}.{language}" for language in languages]
    if not all(file.is_file() for file in files):
        _download(corpus, languages, folder)
    prefix = folder / corpus
    for language, file in zip(languages, files, strict=True):
        wanted = reading.source if matches(language, reading.source) else reading.target
        link = prefix.with_name(f"{corpus}.{wanted}")
        link.unlink(missing_ok=True)
        link.symlink_to(file.relative_to(folder))
    return [prefix]


def home() -> Path:
    """Return the download folder of mtdata: $MTDATA, or ~/.mtdata."""
    return Path(os.environ.get("MTDATA", "~/.mtdata")).expanduser()


def _languages(corpus: str, reading: Reading) -> list[str]:
    parts = corpus.split("-")
    if len(parts) != 5 or not re.fullmatch(r"[\w.+-]+", corpus):
        raise CorpusError(
            f"mtdata:{corpus} is not a name of mtdata",
            "A name is GROUP-NAME-VERSION-LANGUAGE-LANGUAGE, for example mtdata:Statmt-news_commentary-16-deu-eng.",
            "See what there is:  mtdata list --langs deu-eng",
        )
    languages = parts[3:]
    for wanted in (reading.source, reading.target):
        if not any(matches(language, wanted) for language in languages):
            raise CorpusError(f"mtdata:{corpus} has {' and '.join(languages)}, not {wanted}")
    return languages


def _download(corpus: str, languages: list[str], folder: Path) -> None:
    if importlib.util.find_spec("mtdata") is None:
        raise MissingExtraError("mtdata", "mtdata")
    folder.mkdir(parents=True, exist_ok=True)
    # mtdata runs each mtdata*.py in the current directory: this one has only the user's own
    workplace = home() / "index"
    workplace.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-P", "-m", "mtdata", "get", "--langs", "-".join(languages), "--train", corpus]
    done = subprocess.run(
        [*command, "--out", str(folder.resolve())],
        cwd=workplace,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode or not (folder / "train-parts" / f"{corpus}.{languages[0]}").is_file():
        said = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        raise CorpusError(f"mtdata could not fetch {corpus}", *said[-3:], "See what there is:  mtdata list")
