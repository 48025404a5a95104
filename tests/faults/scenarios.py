"""What is tried with faults: every kind of command that writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from faults.contract import Scenario, command
from small_translators import sentences
from tongsa.base.errors import TongsaError
from tongsa.base.files import replacing, write_atomically
from tongsa.cli.lines import LineTranslation, OutputFormat
from tongsa.decoding import Search
from tongsa.server.http.keys import Allowances, Key
from tongsa.server.http.limits import Limits
from tongsa.server.work.glossaries import Dictionary, Glossaries, StoredGlossary
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translation

LANGUAGES = ("--from", "ko", "--to", "en")


def write_file(folder: Path) -> None:
    write_atomically(folder / "new" / "folders" / "file", "new")
    write_atomically(folder / "file", "new" * 1000)


def old_file(folder: Path) -> None:
    (folder / "file").write_text("old")
    (folder / "file").chmod(0o600)


def write_directory(folder: Path) -> None:
    with replacing(folder / "ids") as temporary:
        (temporary / "deep").mkdir(parents=True)
        (temporary / "deep" / "source").write_bytes(b"new" * 1000)
        (temporary / "about").write_text("new")


def old_directory(folder: Path) -> None:
    (folder / "ids" / "deep").mkdir(parents=True)
    (folder / "ids" / "deep" / "source").write_text("old")
    (folder / "ids" / "about").write_text("old")


class Shouting:
    """A translator that needs no model."""

    search = Search()
    made_with = "shouting"

    def translate(self, texts: Sequence[str], options: TranslateOptions) -> list[Translation]:
        return [Translation(text=text.upper(), tokens=()) for text in texts]


def bulk_input(folder: Path) -> None:
    (folder / "weights").write_text("weights")
    (folder / "in").write_text("".join(f"line {number}\n" for number in range(700)))
    (folder / "out").write_text("of another input\n" * 3)


def bulk(*, resume: bool) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        lines = LineTranslation(
            Shouting(),  # type: ignore[arg-type]
            Search(),
            OutputFormat(nbest=1, scores=False, alignment=False),
            weights=folder / "weights",
        )
        lines.to_file(folder / "in", folder / "out", resume=resume)

    return run


def corpus(folder: Path) -> None:
    """A corpus with a few faults, and earlier results of every command."""
    pairs = [*sentences(120), ("", "empty"), ("같은", "같은"), *sentences(3)]
    for side, language in enumerate(("ko", "en")):
        (folder / f"all.{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
        for name in ("out", "train", "valid", "test"):
            (folder / f"{name}.{language}").write_text("earlier\n" * 7)
    for name in ("out.tsv", "out.removed.jsonl", "out.html"):
        (folder / name).write_text("earlier\n")


def on_corpus(*arguments: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        places = [argument.replace("FOLDER", str(folder)) for argument in arguments]
        command("corpus", places[0], folder / "all", *LANGUAGES, *places[1:])

    return run


PARTS = tuple(f"{name}.{language}" for name in ("train", "valid", "test") for language in ("ko", "en"))
CLIENT = Key(name="weblate", digest=b"x", characters=1000)


def server_data(folder: Path) -> None:
    (folder / "glossaries").mkdir()
    terms = {"source": "ko", "target": "en", "terms": {"책": "book"}}
    for name in ("one", "two"):
        values = {"name": name, "owner": "weblate", "id": name, "made": "2026-01-01", "dictionaries": [terms]}
        (folder / "glossaries" / f"{name}.json").write_text(json.dumps(values, ensure_ascii=False))
    (folder / "usage.json").write_text(json.dumps({"month": "2026-01", "characters": {"weblate": 5}}))


def change_server_data(folder: Path) -> None:
    """Change, add and remove glossaries, and count characters; memory and disk agree after a fault."""
    glossaries = Glossaries(folder, Limits())
    try:
        found = {each.id: each for each in glossaries.of("weblate")}
        if "one" in found:
            more = Dictionary(source="ko", target="en", terms={"학교": "school"})
            glossaries.put(found["one"], more, merge=True)
        if "three" not in found:
            new = Dictionary(source="en", target="ko", terms={"book": "책"})
            glossaries.add(StoredGlossary(name="3", owner="weblate", dictionaries=(new,), id="three", made="2026"))
        if "two" in found:
            glossaries.remove(found["two"])
    except TongsaError:
        stored = {path.stem for path in (folder / "glossaries").glob("*.json")}
        assert {each.id for each in glossaries.of("weblate")} == stored
        raise
    allowances = Allowances(0, folder)
    allowances._month, allowances._used = "2026-02", {CLIENT.name: 12}
    allowances.save()


QUICK = {
    "a file": Scenario(old_file, write_file),
    "a directory": Scenario(old_directory, write_directory),
    "bulk translation": Scenario(bulk_input, bulk(resume=False), again=bulk(resume=True)),
    "resumed bulk translation": Scenario(bulk_input, bulk(resume=True)),
    "server data": Scenario(server_data, change_server_data),
    "corpus convert": Scenario(corpus, on_corpus("convert", "--out", "FOLDER/out"), together=("out.ko", "out.en")),
    "corpus split": Scenario(
        corpus, on_corpus("split", "--valid", "10", "--test", "10", "--out", "FOLDER"), together=PARTS
    ),
}
"""Scenarios by name."""
