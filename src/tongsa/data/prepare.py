"""From text to ids: hold out, learn subwords, encode. Steps whose results exist are skipped.

with spilled(corpus, recipe.corpus, seed=1, folder=..., show=show) as text:       reads the files once
    data = prepare_pairs(text, None, PrepareSettings(directory=..., recipe=recipe, threads=2))
"""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from tongsa.base.errors import CorpusError, DirectoryError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show, Silent
from tongsa.config import CorpusSection, Recipe
from tongsa.data.ids import ABOUT, PairIds, stored_key, write_ids
from tongsa.data.selection import Split, clean, mask, reservoir, usual_filters
from tongsa.data.spill import FEWEST, MOST_HELD_OUT, Pairs, Spill
from tongsa.formats.pairs import Pair, Tally
from tongsa.text.lines import tidy
from tongsa.text.subwords import Subwords, learn

VALIDATION = "valid.jsonl"

DIVERSIFIED = "diversified"
"""Folder of the training pairs together with those that were made of them, if there are any."""

SAMPLE_BLOCK = 20_000
"""Lines given to SentencePiece at a time."""


@dataclass(frozen=True, kw_only=True)
class PrepareSettings:
    """How text becomes ids, and where they are written."""

    directory: Path
    """The subwords are written here, everything else into its folder `data`."""
    recipe: Recipe
    threads: int
    given: Subwords | None = None
    """Subwords to use instead of learning new ones."""
    show: Show = dataclasses.field(default_factory=Silent)
    log: Callable[[Tally], None] = lambda tally: None
    """Called once with the counts of what the filters left out of the training text."""

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def section(self) -> CorpusSection:
        return self.recipe.corpus


@dataclass(frozen=True)
class Prepared:
    """Everything that training reads."""

    train: PairIds
    valid: PairIds
    valid_text: list[tuple[str, str]]
    subwords: Subwords

    @classmethod
    def open(cls, directory: Path) -> Prepared:
        data = directory / "data"
        lines = (data / VALIDATION).read_text(encoding="utf-8").split("\n")
        with_made = data / DIVERSIFIED
        return cls(
            PairIds.open(with_made if with_made.is_dir() else data / "train"),
            PairIds.open(data / "valid"),
            [(source, target) for source, target in (json.loads(line) for line in lines if line)],
            Subwords.load(directory),
        )


def prepare_pairs(text: Spill, valid: Pairs | None, settings: PrepareSettings) -> Prepared:
    """Write subwords (given or newly learnt) and ids; without a validation corpus, hold out some pairs."""
    assert text.section == settings.section, "the text was filtered with the same settings"
    split = Split(text.seed) if valid else _hold_out(text, settings)
    if settings.given:
        settings.given.save(settings.directory)
    subwords = settings.given or _learn(text, split, settings)
    key = _key(text, split, [subwords.source.model, subwords.target.model])
    _write_training_ids(text, split, subwords, key, settings)
    _write_validation(_validation_pairs(text, valid, split), subwords, key, text.seed, settings)
    return Prepared.open(settings.directory)


def write_again(prepared: Prepared, directory: Path, *, swapped: bool) -> None:
    """Write what was prepared into another directory, perhaps as pairs of the other direction."""
    subwords, data = prepared.subwords, directory / "data"
    (Subwords(subwords.target, subwords.source) if swapped else subwords).save(directory)
    for name, pairs in (("train", prepared.train), ("valid", prepared.valid)):
        (pairs.swapped if swapped else pairs).store(data / name, key="")
    write_atomically(data / VALIDATION, _lines(pair[::-1] if swapped else pair for pair in prepared.valid_text))


def _lines(texts: Iterable[tuple[str, ...]]) -> str:
    return "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in texts)


def _hold_out(text: Spill, settings: PrepareSettings) -> Split:
    pairs = text.survey.pairs
    count = settings.section.held_out or min(MOST_HELD_OUT, max(1, pairs // 50))
    if 2 * count > pairs:
        raise CorpusError(
            f"corpus.held_out is {count:,}, but {text.name} has only {pairs:,} pairs",
            "At most half of them can be held out.",
        )
    settings.show.say(f"holding out {count:,} source sentences of {pairs:,} pairs for validation (seed {text.seed})")
    return text.hold_out(count)


def _learn(text: Spill, split: Split, settings: PrepareSettings) -> Subwords:
    """Learn subwords, or reuse those learnt from the same text and settings."""
    section = dataclasses.replace(settings.recipe.subwords, sampling=0.0)  # sampling affects only training
    key = _key(text, split, [json.dumps(dataclasses.asdict(section)).encode()])
    stamp = settings.data / "subwords.json"
    if stored_key(stamp) == key:
        with suppress(DirectoryError):  # missing or damaged: learn them again
            return Subwords.load(settings.directory)
    kind = f"{section.kind}, {'joint' if section.joint else 'one set per language'}"
    settings.show.say(f"learning {section.size:,} subwords ({kind})")
    if section.joint:
        vocabulary = learn(_sample(text, split, section.sample, (0, 1)), section, settings.threads)
        subwords = Subwords(vocabulary, vocabulary)
    else:
        subwords = Subwords(
            *(learn(_sample(text, split, section.sample, (side,)), section, settings.threads) for side in (0, 1))
        )
    with suppress(OSError):  # if killed before the next lines, it must not remain beside other subwords
        stamp.unlink()
    subwords.save(settings.directory)
    write_atomically(stamp, json.dumps({"key": key}))
    return subwords


def _sample(text: Spill, split: Split, size: int, sides: tuple[int, ...]) -> Iterator[str]:
    """Draw about `size` lines of the text, from one side or both; the lines of a side are the same in either case.

    Lines are read in large blocks: alternating between reading one line and SentencePiece copying it fragments memory,
    which then takes twice as much as needed.
    """
    drawn = _drawn(text, split, size, sides)
    while block := list(islice(drawn, SAMPLE_BLOCK)):
        yield from block


def _drawn(text: Spill, split: Split, size: int, sides: tuple[int, ...]) -> Iterator[str]:
    share = min(1.0, size / (2 * text.survey.pairs))
    draw = random.Random(split.seed)
    for pair in text.texts(split):
        for side in (0, 1):
            drawn = draw.random() < share
            if drawn and side in sides:
                yield pair[side]


def _write_training_ids(text: Spill, split: Split, subwords: Subwords, key: str, settings: PrepareSettings) -> None:
    folder, show = settings.data / "train", settings.show
    if stored_key(folder / ABOUT) == key and len(PairIds.open(folder)) >= FEWEST:
        show.say(f"reusing the ids of {len(PairIds.open(folder)):,} pairs in {folder}")
        return
    tally = Tally()
    with show.bar("encoding", text.survey.pairs, "pairs") as bar:
        written = write_ids(
            folder,
            text.pairs(split, tally),
            subwords,
            settings.section,
            key=key,
            threads=settings.threads,
            tally=tally,
            advance=bar.advance,
        )
    for line in tally.lines():
        show.say(line)
    settings.log(tally)
    if len(written) < FEWEST:
        raise CorpusError(
            f"only {len(written):,} pairs are left to train on; at least {FEWEST} are needed",
            *tally.lines(),
        )


@dataclass(frozen=True)
class _Validation:
    """Pairs to validate on; they can be read once."""

    name: str
    pairs: Iterator[Pair]
    tally: Tally


def _validation_pairs(text: Spill, valid: Pairs | None, split: Split) -> _Validation:
    """Return the pairs held out of the text, or those of the validation corpus that pass the same filters."""
    tally = Tally()
    if valid is None:
        return _Validation(text.name, text.held_out(split, tally), tally)
    kept = clean(valid, usual_filters(text.section), tally)
    return _Validation(valid.name, (mask(pair) for pair in kept) if text.section.mask else kept, tally)


def _write_validation(found: _Validation, subwords: Subwords, key: str, seed: int, settings: PrepareSettings) -> None:
    drawn = reservoir(found.pairs, settings.recipe.training.validation_pairs, seed)
    chosen = [pair for pair in drawn if tidy(pair.source) and tidy(pair.target)]
    if not chosen:
        raise CorpusError(f"{found.name} has no pairs to validate on", *found.tally.lines())
    texts = _lines((pair.source, pair.target) for pair in chosen)
    # Every pair counts for the score, so none is left out for its length.
    unlimited = dataclasses.replace(settings.section, max_tokens=1 << 30, max_ratio=0.0)
    text_key = blake2b(texts.encode(), digest_size=16, key=key.encode()[:64]).hexdigest()
    if stored_key(settings.data / "valid" / ABOUT) != text_key:
        write_ids(
            settings.data / "valid",
            chosen,
            subwords,
            unlimited,
            key=text_key,
            threads=settings.threads,
            tally=Tally(),
            advance=lambda count: None,
        )
    write_atomically(settings.data / VALIDATION, texts)
    settings.show.say(f"validating on {len(chosen):,} pairs")


def _key(text: Spill, split: Split, parts: list[bytes]) -> str:
    """Hash everything that the ids or subwords depend on."""
    whole = blake2b(digest_size=16)
    seed = split.seed if split.threshold else 0
    described: list[Any] = [text.survey.digest, dataclasses.asdict(text.section), seed, split.threshold]
    whole.update(json.dumps(described).encode())
    for part in parts:
        whole.update(part)
    return whole.hexdigest()
