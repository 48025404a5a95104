"""Plain text as one stream of ids, for language models: all lines, each followed by an end token.

    files ─ tidied, spilled ─▶ lines ─ subwords ─▶ train.ids, valid.ids ─ cut ─▶ pieces of one length ─▶ updates

Every epoch is cut at different places. The order is a pure function of the seed and the epoch, as in batches.py.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tongsa.base.errors import CorpusError, DirectoryError
from tongsa.base.files import replacing, write_atomically
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.data.batches import EpochOrder, Rows
from tongsa.text.lines import read_lines, tidy
from tongsa.text.subwords import END, LONGEST, Subwords, Vocabulary, learn

HELD_OUT_SHARE = 50
"""One in this many lines is held out if no validation text is given."""
MOST_HELD_OUT = 2000
LINES_AT_ONCE = 10_000
"""Lines encoded together."""
CHARACTERS_AT_ONCE = 1 << 24
ID = np.dtype("<u4")

Ids = NDArray[np.uint32]


@dataclass(frozen=True)
class Counts:
    """Size of a text."""

    lines: int
    words: int
    """Words separated by spaces, plus one end per line."""
    tokens: int
    """Subwords, plus one end per line."""


@dataclass(frozen=True)
class Stream:
    """A text as ids, memory-mapped."""

    ids: Ids
    counts: Counts

    @classmethod
    def open(cls, path: Path) -> Stream:
        try:
            counts = Counts(**json.loads(_counts_file(path).read_text(encoding="utf-8")))
            return cls(np.memmap(path, dtype=ID, mode="r"), counts)
        except (OSError, ValueError, TypeError) as error:
            raise DirectoryError(f"{path} is missing or damaged: {error}", "Train again in another --out.") from error


@dataclass(frozen=True)
class PreparedText:
    """Everything that the training of a language model reads."""

    train: Stream
    valid: Stream
    subwords: Subwords

    @property
    def vocabulary(self) -> Vocabulary:
        return self.subwords.target

    @classmethod
    def open(cls, directory: Path) -> PreparedText:
        data = directory / "data"
        return cls(Stream.open(data / "train.ids"), Stream.open(data / "valid.ids"), Subwords.load(directory))


def prepare_text(
    directory: Path,
    training: Sequence[str],
    validation: Sequence[str],
    recipe: Recipe,
    *,
    seed: int,
    threads: int,
    show: Show,
) -> None:
    """Write subwords and ids of text files (also .gz, .xz, .bz2) into a run directory."""
    section = recipe.corpus
    data = directory / "data"
    with replacing(data / "text.tmp") as spill:
        sample, lines = _spill(training, section.encoding, spill, recipe.subwords.sample, seed, show)
        held_out = 0 if validation else section.held_out or min(MOST_HELD_OUT, lines // HELD_OUT_SHARE)
        if lines - held_out < 1 or not (validation or held_out):
            raise CorpusError(
                f"{lines:,} lines of text are too few to train and validate on",
                "Give more text, or a separate validation text:  --valid FILE",
            )
        show.say(f"{lines - held_out:,} lines to train on" + (f", {held_out:,} held out" if held_out else ""))
        vocabulary = learn(sample, recipe.subwords, threads)
        subwords = Subwords(vocabulary, vocabulary)
        with spill.open(encoding="utf-8") as file:
            text = (line[:-1] for line in file)
            _write(data / "train.ids", islice(text, lines - held_out), vocabulary, threads)
            if held_out:
                _write(data / "valid.ids", text, vocabulary, threads)
    (data / "text.tmp").unlink()
    if validation:
        _write(data / "valid.ids", _lines(validation, section.encoding), vocabulary, threads)
    subwords.save(directory)


def _spill(
    names: Sequence[str], encoding: str, path: Path, sample: int, seed: int, show: Show
) -> tuple[list[str], int]:
    """Write the tidied lines to one file; return a sample of them and their number."""
    draw = random.Random(seed)
    kept: list[str] = []
    number = -1
    with show.bar("reading", None, "lines") as bar, path.open("w", encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(_lines(names, encoding)):
            file.write(line + "\n")
            line = line[: LONGEST + 1]  # subwords are not learnt from longer ones
            if number < sample:
                kept.append(line)
            elif (place := draw.randrange(number + 1)) < sample:
                kept[place] = line
            bar.advance(1)
    if number < 0:
        raise CorpusError(f"there is no text in {', '.join(names)}")
    return kept, number + 1


def _lines(names: Sequence[str], encoding: str) -> Iterator[str]:
    """Yield the lines with text of all files."""
    for name in names:
        for line in read_lines(Path(name), encoding):
            if text := tidy(line):
                yield text


def _write(path: Path, lines: Iterator[str], vocabulary: Vocabulary, threads: int) -> None:
    counted = words = tokens = 0
    with replacing(path) as temporary, temporary.open("wb") as file:
        while some := _block(lines):
            encoded = vocabulary.encode_many(some, threads)
            file.write(np.array([id for ids in encoded for id in (*ids, END)], dtype=ID).tobytes())
            counted += len(some)
            words += sum(len(line.split()) + 1 for line in some)
            tokens += sum(len(ids) + 1 for ids in encoded)
    if not counted:
        raise CorpusError(f"there is no text for {path.name}")
    write_atomically(_counts_file(path), json.dumps(asdict(Counts(counted, words, tokens))) + "\n")


def _block(lines: Iterator[str]) -> list[str]:
    """Take the next lines to encode together, fewer if they are long."""
    some: list[str] = []
    held = 0
    for line in islice(lines, LINES_AT_ONCE):
        some.append(line)
        held += len(line)
        if held > CHARACTERS_AT_ONCE:
            break
    return some


def _counts_file(path: Path) -> Path:
    return path.with_suffix(".json")


class Pieces(NamedTuple):
    """Pieces of a stream as tensors (pieces, positions)."""

    memory: Tensor | None
    """Tokens before each piece, for models that read them; `<pad>` where there are none."""
    target: Tensor
    """What the decoder reads: `<pad>` (with a memory, the token before the piece), then the piece, shifted by one."""
    labels: Tensor
    """What the decoder should write: the piece, then `<pad>` beyond the end of the stream."""

    def to(self, device: torch.device) -> Pieces:
        return Pieces(*(None if x is None else x.to(device, non_blocking=True) for x in self))  # type: ignore[arg-type]


def cut(ids: Ids, starts: Rows, length: int, context: int, pad: int) -> Pieces:
    """Build the pieces of `length` tokens that begin at `starts`; with `context`, also that many tokens before each."""
    places = starts[:, None] + np.arange(-1 - context, length)
    inside = (places >= 0) & (places < len(ids))
    taken = np.where(inside, ids[np.clip(places, 0, len(ids) - 1)].astype(np.int64), pad)
    tokens = torch.from_numpy(taken)
    labels = tokens[:, 1 + context :]
    if context:
        return Pieces(tokens[:, :context], tokens[:, context:-1], labels)
    return Pieces(None, torch.cat([tokens.new_full((len(tokens), 1), pad), labels[:, :-1]], dim=1), labels)


@dataclass(frozen=True, kw_only=True)
class PieceOrder(EpochOrder):
    """The order in which a stream is gone through; a chunk is a list of places where its pieces begin."""

    tokens: int
    """Number of tokens in the stream."""
    piece: int
    """Number of tokens in a piece."""
    batch_tokens: int
    chunk_tokens: int
    seed: int

    def epoch(self, number: int) -> list[list[Rows]]:
        """Return the updates of an epoch. Every token occurs once, except those before the first cut, which varies."""
        draw = np.random.default_rng((self.seed, number))
        first = int(draw.integers(min(self.piece, self.tokens)))
        starts = draw.permutation(np.arange(first, self.tokens, self.piece))
        pieces_of_a_chunk = max(1, self.chunk_tokens // self.piece)
        chunks = np.array_split(starts, -(-len(starts) // pieces_of_a_chunk))
        per_update = max(1, round(self.batch_tokens / (pieces_of_a_chunk * self.piece)))
        groups = np.array_split(np.arange(len(chunks)), max(1, round(len(chunks) / per_update)))
        return [[chunks[i] for i in group] for group in groups]
