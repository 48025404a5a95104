"""What is tried with faults: every kind of command that writes."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

import torch

from faults.contract import PASSING, Scenario, command
from small_translators import random_translator, sentences
from tongsa.base.checksums import sealed_text, unsealed_text
from tongsa.base.errors import TongsaError
from tongsa.base.files import replacing, write_atomically
from tongsa.cli.lines import LineTranslation, OutputFormat
from tongsa.decoding import Search
from tongsa.models.weights import load_model
from tongsa.runs.directory import Run
from tongsa.server.http.keys import Allowances, Key
from tongsa.server.http.limits import Limits
from tongsa.server.work.glossaries import Dictionary, Glossaries, StoredGlossary
from tongsa.training.checkpoint import Progress, latest, prune, put_damaged_aside, save_checkpoint
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
            TranslateOptions(),
            OutputFormat(nbest=1, scores=False, alignment=False),
            weights=[folder / "weights"],
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


def published(seed: int) -> Callable[[Path], None]:
    def publish(folder: Path) -> None:
        """Replace the weights and the card, as every better validation of a training does."""
        random_translator(folder / "ko-en", seed=seed)

    return publish


def loads(folder: Path) -> None:
    run = Run(folder / "ko-en")
    card = run.read_card()
    load_model(run, card, run.read_subwords(card), torch.device("cpu"))


def checkpoint(*updates: int) -> Callable[[Path], None]:
    def save(folder: Path) -> None:
        for update in updates:
            weights = {"w": torch.full((40,), float(update))}
            save_checkpoint(folder / "checkpoints", weights, {"w.m": weights["w"] / 2}, Progress(update=update))
            prune(folder / "checkpoints", 2, None)

    return save


def has_checkpoint(folder: Path) -> None:
    """Set damaged checkpoints aside, as a resumed training does; an earlier or the new one remains."""
    put_damaged_aside(folder / "checkpoints", lambda line: None)
    newest = latest(folder / "checkpoints")
    assert newest is not None
    assert newest.update in (3, 4)
    assert newest.weights()["w"].tolist() == [float(newest.update)] * 40


OLD_CHECKPOINTS = re.compile(r"checkpoints/(?:0000000[12]|\.0000000\d\.(?:old|damaged))/.*|" + PASSING.pattern)

QUICK = {
    "a file": Scenario(old_file, write_file),
    "a directory": Scenario(old_directory, write_directory),
    "bulk translation": Scenario(bulk_input, bulk(resume=False), again=bulk(resume=True)),
    "resumed bulk translation": Scenario(bulk_input, bulk(resume=True)),
    "server data": Scenario(server_data, change_server_data),
    "published translator": Scenario(published(0), published(1), sound=loads, stages=True),
    "checkpoint": Scenario(
        checkpoint(1, 2, 3), checkpoint(4), sound=has_checkpoint, stages=True, ignored=OLD_CHECKPOINTS
    ),
    "corpus convert": Scenario(corpus, on_corpus("convert", "--out", "FOLDER/out"), together=("out.ko", "out.en")),
    "corpus split": Scenario(
        corpus, on_corpus("split", "--valid", "10", "--test", "10", "--out", "FOLDER"), together=PARTS
    ),
}
"""Scenarios by name."""


def translator(folder: Path) -> None:
    """A small translator, and earlier results of the commands that use it."""
    random_translator(folder / "ko-en")
    text = "".join(f"{source}\n" for source, _ in sentences(5))
    for name in ("in.txt", "in.md", "references"):
        (folder / name).write_text(text)
    for name in ("out", "out.txt", "out.md", "review.tsv", "saved", "page.html"):
        (folder / name).write_text("earlier\n")


def with_translator(*arguments: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        places = [argument.replace("FOLDER", str(folder)) for argument in arguments]
        (folder / "tmp").mkdir(exist_ok=True)  # engines are compiled with its help
        cache = patch.dict(os.environ, {"TONGSA_CACHE": str(folder / "cache")})
        with cache, patch.object(tempfile, "tempdir", str(folder / "tmp")):
            command(places[0], folder / "ko-en", *places[1:])

    return run


def unless_complete(run: Callable[[Path], None]) -> Callable[[Path], None]:
    """Go on after a kill that came when all was done: then nothing is overwritten."""

    def again(folder: Path) -> None:
        try:
            run(folder)
        except TongsaError as error:
            if "already exists" not in str(error):
                raise

    return again


MACHINE = ("--engine", "native", "--threads", "1")
BULK = ("translate", "--input", "FOLDER/in.txt", "--output", "FOLDER/out", "--threads", "1", "--beam", "1")
TRAINING = {
    "subwords.size": "700",
    "model.encoder_layers": "1",
    "model.decoder_layers": "1",
    "model.d_model": "8",
    "model.d_ff": "8",
    "model.heads": "1",
    "training.updates": "6",
    "training.batch_tokens": "200",
    "training.processes": "1",
    "training.warmup": "2",
    "training.validate_every": "2",
    "training.validation_pairs": "3",
    "training.average": "2",
    "decoding.max_extra": "2",
    "decoding.max_ratio": "0.5",
}


def train(folder: Path) -> None:
    settings = [argument for key, value in TRAINING.items() for argument in ("--set", f"{key}={value}")]
    places = (folder / "all", *LANGUAGES, "--out", folder / "run", "--recipe", "tiny", "--threads", "1", *settings)
    with patch.dict(os.environ, {"TONGSA_CACHE": str(folder / "cache")}):
        command("train", *places)


def train_or_resume(folder: Path) -> None:
    """Go on as the error says: with the same command, or with `tongsa resume`."""
    try:
        train(folder)
    except TongsaError as error:
        if "already holds a training" not in str(error):
            raise
        resume(folder)


def resume(folder: Path) -> None:
    with patch.dict(os.environ, {"TONGSA_CACHE": str(folder / "cache")}):
        command("resume", folder / "run")


def training_text(folder: Path) -> None:
    for side, language in enumerate(("ko", "en")):
        (folder / f"all.{language}").write_text("".join(f"{pair[side]}\n" for pair in sentences(80)))


def interrupted_training(folder: Path) -> None:
    """A training whose last checkpoint is not its end."""
    training_text(folder)
    with patch.dict(TRAINING, {"training.updates": "4"}):
        train(folder)
    recipe = Run(folder / "run").recipe_file
    recipe.write_text(sealed_text(unsealed_text(recipe.read_text()).replace("updates = 4", "updates = 6")))


EXCEPT_WEIGHTS = re.compile(r"(?!.*weights\.safetensors$)run/.*|run/checkpoints/.*|cache/.*|" + PASSING.pattern)
"""Of a training, the weights are compared: everything else holds times, and the weights come from all of it."""
COMPILED = re.compile(r"cache/.*|tmp/.*|" + PASSING.pattern)

TO_MARIAN = with_translator("export", "FOLDER/exported", "--format", "marian")
TO_CTRANSLATE2 = with_translator("export", "FOLDER/exported", "--format", "ctranslate2")

LONG = {
    "corpus clean": Scenario(
        corpus,
        on_corpus("clean", "--workers", "1", "--out", "FOLDER/out"),
        together=("out.ko", "out.en", "out.removed.jsonl"),
    ),
    "corpus sample": Scenario(corpus, on_corpus("sample", "--count", "9", "--out", "FOLDER/out.tsv")),
    "corpus dedupe": Scenario(corpus, on_corpus("dedupe", "--out", "FOLDER/out.tsv")),
    "corpus report": Scenario(corpus, on_corpus("report", "--workers", "1", "--html", "FOLDER/out.html")),
    "document": Scenario(
        translator,
        with_translator("document", "FOLDER/in.md", "-o", "FOLDER/out.md", "--review", "FOLDER/review.tsv", *MACHINE),
        ignored=COMPILED,
    ),
    "inspect": Scenario(
        translator, with_translator("inspect", "나는 책을 읽는다.", "--out", "FOLDER/page.html"), ignored=COMPILED
    ),
    "export marian": Scenario(translator, TO_MARIAN, again=unless_complete(TO_MARIAN), ignored=COMPILED),
    "export ctranslate2": Scenario(translator, TO_CTRANSLATE2, again=unless_complete(TO_CTRANSLATE2), ignored=COMPILED),
    "translate": Scenario(
        translator, with_translator(*BULK), again=with_translator(*BULK, "--resume"), ignored=COMPILED
    ),
    "train": Scenario(training_text, train, again=train_or_resume, ignored=EXCEPT_WEIGHTS, stages=True),
    "resume": Scenario(interrupted_training, resume, ignored=EXCEPT_WEIGHTS, stages=True),
}
"""Scenarios that take a second or more for each trial."""
