"""Documents on the command line: `tongsa translate DIR --document FILE...`"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tongsa.base.errors import UsageError
from tongsa.base.progress import Show

if TYPE_CHECKING:
    from tongsa.documents import Translated
    from tongsa.documents.engine import TranslatorLike
    from tongsa.formats.segments import State


def translate_documents(
    translator: TranslatorLike,
    files: Sequence[Path],
    *,
    out: Path | None = None,
    glossary: Path | None = None,
    do_not_translate: Sequence[Path] = (),
    memory: Sequence[Path] = (),
    review: Path | None = None,
    encoding: str | None = None,
    columns: tuple[str, ...] = (),
    show: Show,
) -> None:
    """Translate each file, say where it went and what needs a person, and write the review."""
    from tongsa.documents import Help, Languages, translate_document
    from tongsa.documents.glossary import read_glossary
    from tongsa.documents.memory import Memory
    from tongsa.documents.review import wants_review, write_review

    languages = Languages(source=translator.card.source, target=translator.card.target)
    targets = _targets(files, out, languages)
    help = Help(glossary=read_glossary(glossary, do_not_translate), memory=Memory.read(memory, languages))
    done: list[Translated] = []
    for file, target in zip(files, targets, strict=True):
        document = translate_document(
            translator, file, target, help=help, encoding=encoding, columns=columns, show=show
        )
        done.append(document)
        show.say(f"{file} -> {document.target}: {_summary(document)}")
    if review:
        count = write_review(review, done)
        show.say(f"{review}: {count:,} to look at, the least certain first")
    elif unsure := sum(wants_review(outcome) for document in done for outcome in document.outcomes):
        show.say(f"{unsure:,} are worth a look; to have them in a file:  --review FILE")


def _targets(files: Sequence[Path], out: Path | None, languages: object) -> list[Path]:
    """Beside the sources; or -o: a file for one, a directory for several. Nothing is written over another."""
    from tongsa.documents import Languages, beside

    assert isinstance(languages, Languages)
    if out is None:
        targets = [beside(file, languages) for file in files]
    elif len(files) > 1 or out.is_dir() or not out.suffix:
        targets = [out / beside(file, languages).name for file in files]
    else:
        targets = [out]
    twice = [str(target) for target, count in Counter(targets).items() if count > 1]
    if twice:
        raise UsageError(
            f"two documents would be written to {twice[0]}", "Translate them one by one, each with its -o."
        )
    return targets


def _summary(document: Translated) -> str:
    counts = Counter(outcome.state for outcome in document.outcomes)
    words: dict[State, str] = {
        "translated": "translated",
        "memory": "from the memory",
        "copied": "with nothing to translate",
        "source": "left in the source language",
    }
    near = sum(outcome.near is not None for outcome in document.outcomes)
    parts = [f"{counts[state]:,} {word}" for state, word in words.items() if state in counts]
    return ", ".join([*parts, *([f"{near:,} like an entry of the memory"] if near else [])]) or "nothing to translate"
