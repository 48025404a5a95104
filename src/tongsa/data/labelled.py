"""Labelled examples, texts or pictures, for classification: read from files, stored as arrays, cut into batches.

FILE.tsv   label <tab> text, a line each        FOLDER/label/picture.png
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save
from torch import Tensor

from tongsa.base.errors import CorpusError, DirectoryError
from tongsa.base.files import write_atomically
from tongsa.data.batches import Rows
from tongsa.data.masking import BertTokens
from tongsa.formats.pairs import Place, Tally
from tongsa.formats.pictures import Pixels
from tongsa.text.lines import read_lines, tidy

HELD_OUT_SHARE = 10
"""One in this many examples of each label is held out if no validation file is given."""

Numbers = NDArray[np.int64]


class LabelledText(NamedTuple):
    label: str
    text: str


class LabelledBatch(NamedTuple):
    """Examples as tensors."""

    source: Tensor
    """Ids (batch, positions), or pictures (batch, channels, height, width)."""
    mask: Tensor
    """(batch, positions): True where there is something."""
    labels: Tensor

    def to(self, device: torch.device) -> LabelledBatch:
        return LabelledBatch(*(tensor.to(device, non_blocking=True) for tensor in self))


class Examples(ABC):
    """Examples that a classifier reads, and the numbers of their labels."""

    labels: Numbers

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, rows: Rows) -> LabelledBatch:
        source, mask = self.source(rows)
        return LabelledBatch(source, mask, torch.from_numpy(self.labels[rows]))

    @abstractmethod
    def source(self, rows: Rows) -> tuple[Tensor, Tensor]:
        """The tensors that an encoder takes."""

    @abstractmethod
    def save(self, path: Path) -> None: ...


@dataclass(frozen=True)
class TextExamples(Examples):
    """Texts as ids, each with [CLS] before it and the end behind it."""

    labels: Numbers
    ids: NDArray[np.uint32]
    """All texts, one after the other."""
    offsets: Numbers
    """Where each begins; one more than there are texts."""
    pad: int

    @classmethod
    def of(cls, labels: Sequence[int], texts: Sequence[Sequence[int]], tokens: BertTokens) -> TextExamples:
        offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        ids = np.array([id for text in texts for id in text], dtype=np.uint32)
        return cls(np.array(labels, dtype=np.int64), ids, offsets, tokens.pad)

    @classmethod
    def open(cls, path: Path, tokens: BertTokens) -> TextExamples:
        labels, ids, offsets = _read(path, "labels", "ids", "offsets")
        return cls(labels, ids, offsets, tokens.pad)

    def source(self, rows: Rows) -> tuple[Tensor, Tensor]:
        texts = [self.ids[self.offsets[row] : self.offsets[row + 1]].astype(np.int64) for row in rows]
        filled = np.full((len(texts), max(map(len, texts))), self.pad, dtype=np.int64)
        for row, text in zip(filled, texts, strict=True):
            row[: len(text)] = text
        source = torch.from_numpy(filled)
        return source, source != self.pad

    def save(self, path: Path) -> None:
        write_atomically(path, save({"labels": self.labels, "ids": self.ids, "offsets": self.offsets}))


@dataclass(frozen=True)
class PictureExamples(Examples):
    """Pictures of one size."""

    labels: Numbers
    pictures: NDArray[np.uint8]
    """(pictures, channels, height, width)"""
    positions: int
    """Positions of the encoder: the patches and the class token."""

    @classmethod
    def of(cls, labels: Sequence[int], pictures: Sequence[Pixels], positions: int) -> PictureExamples:
        return cls(np.array(labels, dtype=np.int64), np.stack(pictures), positions)

    @classmethod
    def open(cls, path: Path, positions: int) -> PictureExamples:
        labels, pictures = _read(path, "labels", "pictures")
        return cls(labels, pictures, positions)

    def source(self, rows: Rows) -> tuple[Tensor, Tensor]:
        values = torch.from_numpy(self.pictures[rows]).float() / 127.5 - 1  # black is -1, white is 1
        return values, torch.ones(len(rows), self.positions, dtype=torch.bool)

    def save(self, path: Path) -> None:
        write_atomically(path, save({"labels": self.labels, "pictures": self.pictures}))


def shifted(pictures: Tensor, most: int, generator: torch.Generator) -> Tensor:
    """Each picture (batch, channels, height, width) moved by up to `most` pixels; its border fills what is left."""
    height, width = pictures.shape[2:]
    wider = torch.nn.functional.pad(pictures, (most, most, most, most), mode="replicate")
    tops, lefts = torch.randint(0, 2 * most + 1, (2, len(pictures)), generator=generator).tolist()
    moved = [
        picture[:, top : top + height, left : left + width]
        for picture, top, left in zip(wider, tops, lefts, strict=True)
    ]
    return torch.stack(moved)


def _read(path: Path, *names: str) -> list[NDArray[Any]]:
    try:
        arrays = load_file(path)
        return [arrays[name] for name in names]
    except (OSError, SafetensorError, KeyError) as error:
        raise DirectoryError(f"{path} is missing or damaged: {error}", "Train again in another --out.") from error


def labelled_texts(files: Sequence[Path], encoding: str, left_out: Tally) -> Iterator[LabelledText]:
    """The lines `label <tab> text` of files."""
    for file in files:
        for number, line in enumerate(read_lines(file, encoding), 1):
            if not line.strip():
                continue
            label, tab, text = line.partition("\t")
            if not tab:
                raise CorpusError(
                    f"{file}, line {number:,} has no tab", "A line is a label, a tab and a text:  sport<TAB>We won."
                )
            if not (tidy(label) and tidy(text)):
                left_out.drop("with an empty label or text", Place(file, number))
                continue
            yield LabelledText(tidy(label), tidy(text))


def hold_out(labels: Sequence[str], seed: int) -> set[int]:
    """Indices of the examples to validate on: one in ten of each label, at least one of each that has two."""
    by_label: dict[str, list[int]] = defaultdict(list)
    for index, label in enumerate(labels):
        by_label[label].append(index)
    draw = random.Random(seed)
    held = set()
    for own in by_label.values():
        count = max(1, len(own) // HELD_OUT_SHARE) if len(own) > 1 else 0
        held |= set(draw.sample(own, count))
    return held
