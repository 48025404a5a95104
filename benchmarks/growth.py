"""How time and memory of a training grow with its parts: tables with the slope of log against log."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from arena import SHARED, Text, prepare_text, set_model, start
from measuring import MEGABYTE, slope
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.text.subwords import VocabularySizeError


class Point(NamedTuple):
    x: float
    per_update: float
    """Seconds."""
    per_token: float
    """Seconds, of a target token."""
    memory: int


def tables(folder: Path, text: Text, seconds: float) -> None:
    """From the model `small`, one thing changed at a time."""
    directory = folder / "grown"
    shape = prepare_text(directory, text, 8000)
    _table(
        "batch (target tokens an update)",
        [_point(directory, n, {"training.batch_tokens": str(n)}, seconds) for n in (1024, 2048, 4096, 8192, 16384)],
    )
    _table(
        "depth (layers of encoder and of decoder)",
        [_point(directory, n, _settings(encoder_layers=n, decoder_layers=n), seconds) for n in (1, 2, 3, 6, 12)],
    )
    _table(
        "d_model (d_ff four times that, heads of 64)",
        [_point(directory, d, _settings(d_model=d, d_ff=4 * d, heads=d // 64), seconds) for d in (128, 256, 512, 1024)],
    )
    _table("vocabulary (of Europarl)", _by_vocabulary(folder, text, seconds))
    _table("sentence length (mean target tokens)", _by_length(folder, text, shape.vocabulary, seconds))


def _settings(**values: int) -> dict[str, str]:
    return {f"model.{key}": str(value) for key, value in values.items()}


def _point(directory: Path, x: float, settings: dict[str, str], seconds: float) -> Point:
    set_model(directory, "small", settings)
    with start("tongsa", directory) as contestant:
        contestant.warm_up(2, seconds)
        turn = contestant.turn(1, seconds)
    return Point(x, turn.seconds / turn.updates, turn.seconds / turn.tokens, contestant.memory)


def _by_vocabulary(folder: Path, text: Text, seconds: float) -> list[Point]:
    text = _with_many_words(folder, text)
    points = []
    for size in (2000, 8000, 32000):
        directory = folder / f"vocabulary-{size}"
        try:
            shape = prepare_text(directory, text, size)
        except VocabularySizeError as error:
            print(f"\nvocabulary {size:,} is left out: {error.what}")
            continue
        points.append(_point(directory, shape.vocabulary, {}, seconds))
    return points


def _with_many_words(folder: Path, text: Text) -> Text:
    """Part of Europarl, where it is: captions have too few words for 32,000 pieces."""
    if not (SHARED / "europarl-ende").is_dir():
        return text
    path = folder / "europarl.tsv"
    with path.open("w", encoding="utf-8") as file:
        corpus = open_corpus([str(SHARED / "europarl-ende" / "train")], Reading(source="en", target="de"))
        for pair in islice(corpus, 60_000):
            file.write(f"{pair.source}\t{pair.target}\n".replace("\r", " "))
    return Text(str(path), "en", "de")


def _by_length(folder: Path, text: Text, vocabulary: int, seconds: float) -> list[Point]:
    """Longer sentences are sentences of the corpus put together."""
    points = []
    for together in (1, 2, 4, 8):
        path = folder / f"joined-{together}.tsv"
        with path.open("w", encoding="utf-8") as file:
            pairs = iter(open_corpus([text.corpus], Reading(source=text.source, target=text.target)))
            while group := list(islice(pairs, together)):
                sides = [[pair.source for pair in group], [pair.target for pair in group]]
                file.write("\t".join(" ".join(side).replace("\t", " ") for side in sides) + "\n")
        directory = folder / f"joined-{together}"
        shape = prepare_text(directory, Text(str(path), text.source, text.target), vocabulary)
        points.append(_point(directory, shape.target_length, {}, seconds))
    return points


def _table(title: str, points: Sequence[Point]) -> None:
    print(f"\n{title:42} {'tokens/s':>9} {'ms an update':>13} {'MB':>7}")
    for point in points:
        print(
            f"{point.x:42,.0f} {1 / point.per_token:9,.0f} {1000 * point.per_update:13,.0f} "
            f"{point.memory / MEGABYTE:7,.0f}"
        )
    xs = [point.x for point in points]
    print(
        f"slope: time of a token {slope(xs, [point.per_token for point in points]):.2f}, "
        f"time of an update {slope(xs, [point.per_update for point in points]):.2f}, "
        f"memory {slope(xs, [point.memory for point in points]):.2f}"
    )
