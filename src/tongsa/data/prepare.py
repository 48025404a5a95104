"""From corpora to ids: read and count, hold out, learn subwords, encode. What was done before is not done again."""

from __future__ import annotations

import dataclasses
import heapq
import json
import random
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

from tongsa.base.errors import CorpusError, DirectoryError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config import CorpusSection, Recipe
from tongsa.data.cleaning import Filter, Tally, clean, has_text, not_seen_before, shorter_than
from tongsa.data.draws import reservoir
from tongsa.data.ids import ABOUT, PairIds, stored_key, write_ids
from tongsa.data.masking import mask
from tongsa.formats.pairs import Pair
from tongsa.runs.log import RunLog
from tongsa.text.lines import tidy
from tongsa.text.subwords import Subwords, learn

FEWEST = 20
"""Pairs below which there is nothing to learn from."""


class Pairs(Protocol):
    """A corpus, or several of them mixed: read anew each time it is iterated."""

    @property
    def name(self) -> str: ...

    def __iter__(self) -> Iterator[Pair]: ...


@dataclass(frozen=True)
class Survey:
    """One pass over a corpus: what it holds, and a digest that changes with its text."""

    pairs: int
    characters: int
    digest: str


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
        lines = (data / "valid.jsonl").read_text(encoding="utf-8").split("\n")
        return cls(
            PairIds.open(data / "train"),
            PairIds.open(data / "valid"),
            [(source, target) for source, target in (json.loads(line) for line in lines if line)],
            Subwords.load(directory),
        )


def survey(corpus: Pairs, show: Show) -> Survey:
    """Read everything once: bad input is found here, before anything is written."""
    pairs = characters = 0
    digest = blake2b(digest_size=16)
    number = 0
    with show.bar("reading", None, "pairs") as bar:
        for number, pair in enumerate(corpus, 1):
            if has_text(pair):
                pairs += 1
                characters += len(pair.source) + len(pair.target)
            digest.update(f"{pair.source}\n{pair.target}\n".encode())
            if number % 4096 == 0:
                bar.advance(4096)
        bar.advance(number % 4096)
    if pairs < FEWEST:
        raise CorpusError(
            f"{corpus.name} has {pairs:,} pairs with text on both sides: too few to learn from",
            f"{FEWEST} are the least that can be tried, a few thousand the least that is useful.",
        )
    return Survey(pairs, characters, digest.hexdigest())


def prepare(
    directory: Path,
    train: Pairs,
    valid: Pairs | None,
    found: Survey,
    recipe: Recipe,
    *,
    seed: int,
    threads: int,
    show: Show,
    given: Subwords | None = None,
) -> None:
    """Write subwords (those given, or new ones) and ids into the directory."""
    section = recipe.corpus
    split = Split(seed) if valid else _split(train, found, section, seed, show)
    training = _Filtered(train, section, split, held_out_side=False)
    if given:
        given.save(directory)
    subwords = given or _subwords(directory, training, found, recipe, split, threads=threads, show=show)
    key = _key(found.digest, section, split, [subwords.source.model, subwords.target.model])
    _ids(directory / "data" / "train", training, subwords, section, key, found.pairs, threads, show)
    checking = _Filtered(valid or train, section, split, held_out_side=not valid)
    _validation(directory, checking, subwords, section, key, recipe.training.validation_pairs, seed, threads, show)


@dataclass(frozen=True)
class Split:
    """Which pairs are held out: decided by the source text, so that no sentence stands on both sides."""

    seed: int
    threshold: int = 0
    """Held out is what has a digest below this one."""

    @classmethod
    def holding_out(cls, count: int, pairs: Iterable[Pair], seed: int) -> Split:
        """The split that holds out exactly `count` source sentences, whatever the number of pairs."""
        split = cls(seed)
        smallest: set[int] = set()
        limit = 1 << 64
        for pair in pairs:
            digest = split._digest(pair)
            if digest < limit:
                smallest.add(digest)
            if len(smallest) > 2 * count + 1000:
                smallest = set(heapq.nsmallest(count, smallest))
                limit = max(smallest)
        return cls(seed, max(heapq.nsmallest(count, smallest), default=-1) + 1)

    def holds_out(self, pair: Pair) -> bool:
        return self._digest(pair) < self.threshold

    def _digest(self, pair: Pair) -> int:
        digest = blake2b(pair.source.encode(), digest_size=8, key=str(self.seed).encode())
        return int.from_bytes(digest.digest(), "big")


def _split(train: Pairs, found: Survey, section: CorpusSection, seed: int, show: Show) -> Split:
    count = section.held_out or min(2000, max(1, found.pairs // 50))
    if 2 * count > found.pairs:
        raise CorpusError(
            f"corpus.held_out is {count:,}, but {train.name} has only {found.pairs:,} pairs",
            "At most half of them can be held out.",
        )
    show.say(f"holding out {count:,} source sentences of {found.pairs:,} pairs for validation (seed {seed})")
    everything = _Filtered(train, section, Split(seed), held_out_side=False)
    return Split.holding_out(count, everything.read(Tally()), seed)


@dataclass(frozen=True)
class _Filtered:
    """Pairs of one side of the split after the filters that need no subwords; counted anew at each pass."""

    corpus: Pairs
    section: CorpusSection
    split: Split
    held_out_side: bool

    def read(self, tally: Tally) -> Iterator[Pair]:
        filters: dict[str, Filter] = {
            "with an empty side": has_text,
            "with a line of absurd length": shorter_than(40 * self.section.max_tokens),
        }
        if self.section.deduplicate:
            filters["seen before (corpus.deduplicate)"] = not_seen_before()
        mine = (pair for pair in self.corpus if self.split.holds_out(pair) == self.held_out_side)
        kept = clean(mine, filters, tally)
        return (mask(pair) for pair in kept) if self.section.mask else kept


def _subwords(
    directory: Path, pairs: _Filtered, found: Survey, recipe: Recipe, split: Split, *, threads: int, show: Show
) -> Subwords:
    """Learn them, or take those that are there from the same text and settings."""
    section = dataclasses.replace(recipe.subwords, sampling=0.0)  # sampling is a matter of training
    key = _key(found.digest, pairs.section, split, [json.dumps(dataclasses.asdict(section)).encode()])
    stamp = directory / "data" / "subwords.json"
    if stored_key(stamp) == key:
        with suppress(DirectoryError):  # gone or damaged: they are learnt again
            return Subwords.load(directory)
    show.say(
        f"learning {section.size:,} subwords ({section.kind}, {'joint' if section.joint else 'one set a language'})"
    )
    share = min(1.0, section.sample / (2 * found.pairs))

    def lines(*sides: int) -> Iterator[str]:
        draw = random.Random(split.seed)
        for pair in pairs.read(Tally()):
            for side in (0, 1):
                drawn = draw.random() < share
                if drawn and side in sides:
                    yield tidy(pair[side])

    if section.joint:
        vocabulary = learn(lines(0, 1), section, threads)
        subwords = Subwords(vocabulary, vocabulary)
    else:
        subwords = Subwords(learn(lines(0), section, threads), learn(lines(1), section, threads))
    with suppress(OSError):  # a kill before the next lines must not leave it beside other subwords
        stamp.unlink()
    subwords.save(directory)
    write_atomically(stamp, json.dumps({"key": key}))
    return subwords


def _ids(
    folder: Path,
    pairs: _Filtered,
    subwords: Subwords,
    section: CorpusSection,
    key: str,
    expected: int,
    threads: int,
    show: Show,
) -> None:
    if stored_key(folder / ABOUT) == key and len(PairIds.open(folder)) >= FEWEST:
        show.say(f"taking the ids of {len(PairIds.open(folder)):,} pairs from {folder}")
        return
    tally = Tally()
    with show.bar("encoding", expected, "pairs") as bar:
        written = write_ids(
            folder, pairs.read(tally), subwords, section, key=key, threads=threads, tally=tally, advance=bar.advance
        )
    for line in tally.lines():
        show.say(line)
    log = RunLog(folder.parent.parent / "log.jsonl")
    log.write("cleaning", 0, 0.0, seen=tally.seen, dropped=dict(tally.dropped))
    log.close()
    if len(written) < FEWEST:
        raise CorpusError(
            f"only {len(written):,} pairs are left to train on; {FEWEST} are the least that can be tried",
            *tally.lines(),
        )


def _validation(
    directory: Path,
    pairs: _Filtered,
    subwords: Subwords,
    section: CorpusSection,
    key: str,
    count: int,
    seed: int,
    threads: int,
    show: Show,
) -> None:
    tally = Tally()
    chosen = [pair for pair in reservoir(pairs.read(tally), count, seed) if tidy(pair.source) and tidy(pair.target)]
    if not chosen:
        raise CorpusError(f"{pairs.corpus.name} gives no pairs to validate on", *tally.lines())
    texts = "".join(json.dumps([pair.source, pair.target], ensure_ascii=False) + "\n" for pair in chosen)
    # Every pair counts for the score, so none is left out for its length.
    unlimited = dataclasses.replace(section, max_tokens=1 << 30, max_ratio=0.0)
    text_key = blake2b(texts.encode(), digest_size=16, key=key.encode()[:64]).hexdigest()
    if stored_key(directory / "data" / "valid" / ABOUT) != text_key:
        write_ids(
            directory / "data" / "valid",
            chosen,
            subwords,
            unlimited,
            key=text_key,
            threads=threads,
            tally=Tally(),
            advance=lambda count: None,
        )
    write_atomically(directory / "data" / "valid.jsonl", texts)
    show.say(f"validating on {len(chosen):,} pairs")


def _key(digest: str, section: CorpusSection, split: Split, parts: list[bytes]) -> str:
    whole = blake2b(digest_size=16)
    described: list[Any] = [digest, dataclasses.asdict(section), split.seed if split.threshold else 0, split.threshold]
    whole.update(json.dumps(described).encode())
    for part in parts:
        whole.update(part)
    return whole.hexdigest()
