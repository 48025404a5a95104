"""Subwords: SentencePiece models for the two languages, one shared or one each.

Ids are those of MarianMT: `</s>` is 0, `<unk>` is 1, and `<pad>` is the last one, which SentencePiece does not know of.
The decoder starts from `<pad>`, whose embedding is zero.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import sentencepiece

from tongsa.base.errors import CorpusError, DirectoryError
from tongsa.base.files import remove_durably, write_atomically
from tongsa.base.regular import read_regular
from tongsa.config import SubwordsSection
from tongsa.text.lines import has_controls, one_line
from tongsa.text.resegmentation import Resegmenter

END = 0
UNKNOWN = 1

JOINT = "subwords.model"
SEPARATE = ("subwords.source.model", "subwords.target.model")
"""File names of the vocabularies in a translator directory."""


NOT_BYTES = 4
"""Pieces of a byte vocabulary that are not bytes: the end, `<unk>`, the space, and the letter it is learnt from."""

CONTROL_BYTES = frozenset(f"<0x{byte:02X}>" for byte in (*range(0x20), 0x7F))
"""Pieces of bytes that are control characters by themselves. Larger bytes are parts of a character."""

MAX_MODEL = 1 << 28
"""Largest SentencePiece model that is read, in bytes."""

FEW_TEXTS = 8
"""As many texts, or fewer, are encoded one by one."""


class Vocabulary:
    """The pieces of one SentencePiece model, and `<pad>` after them."""

    def __init__(self, model: bytes) -> None:
        if not model:  # SentencePiece would treat it as "none given"
            raise RuntimeError("an empty SentencePiece model")
        self.model = model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.pad: int = self._processor.get_piece_size()
        every = list(range(self.pad))
        is_byte = self._processor.is_byte(every)
        self._is_rare = [*map(bool.__or__, is_byte, self._processor.is_unknown(every))]
        self._of_bytes = self.pad - sum(is_byte) <= NOT_BYTES

    def __len__(self) -> int:
        """Number of pieces including `<pad>`: the rows of an embedding table."""
        return self.pad + 1

    def encode(self, text: str) -> list[int]:
        """Encode a tidy text as ids, without the end."""
        ids: list[int] = self._processor.encode(text)
        return ids

    def encode_many(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Encode tidy texts; SentencePiece starts threads for many at once, which costs more than encoding a few."""
        if len(texts) <= FEW_TEXTS:
            return [self._processor.encode(text) for text in texts]
        ids: list[list[int]] = self._processor.encode(list(texts), num_threads=threads)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        return self.decode_many([ids])[0]

    def decode_many(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        """Decode many sentences at once, several times as fast as one by one; each becomes one line.

        Searches avoid `unwritable`, but the bytes of several pieces may still form a line separator.
        """
        rows = [[id for id in ids if id != END and id != self.pad] for ids in sentences]
        texts: list[str] = self._processor.decode(rows) if rows else []
        return [one_line(text) for text in texts]

    @cached_property
    def unwritable(self) -> frozenset[int]:
        """The ids of pieces that hold a control character or a line separator: no search may write them."""
        table = self._table[:-1]
        bytes_ = {id for id, piece in enumerate(table) if piece in CONTROL_BYTES and self._processor.is_byte(id)}
        if "".join(table).isprintable():
            return frozenset(bytes_)
        return frozenset(bytes_ | {id for id, piece in enumerate(table) if has_controls(piece)})

    def pieces(self, ids: Sequence[int]) -> list[str]:
        table = self._table
        return [table[id] for id in ids]

    def all_pieces(self) -> list[str]:
        return list(self._table)

    @cached_property
    def _table(self) -> list[str]:
        return [*self._processor.id_to_piece(list(range(self.pad))), "<pad>"]

    def is_foreign(self, ids: Sequence[int]) -> bool:
        """Return True if most pieces are bytes or unknown: text unlike anything the model has seen."""
        return not self._of_bytes and 2 * sum(map(self._is_rare.__getitem__, ids)) > len(ids)

    def has_unknown(self, ids: Sequence[int]) -> bool:
        """Return True if some pieces are bytes or unknown, in a vocabulary of others."""
        return not self._of_bytes and any(map(self._is_rare.__getitem__, ids))

    def knows(self, character: str) -> bool:
        """Return True if the vocabulary holds a character."""
        return not self.has_unknown(self.encode(character))

    def ordinary_ids(self) -> list[int]:
        """List the pieces that usual text consists of: all but the end, `<unk>`, `<pad>`, and bytes beside others."""
        return [id for id in range(UNKNOWN + 1, self.pad) if self._of_bytes or not self._is_rare[id]]

    def resegment(self, sentences: Sequence[Sequence[int]], amount: float, seed: int) -> list[list[int]]:
        """Segment sentences at random, as a function of the seed: BPE-dropout, or unigram sampling."""
        return self._resegmenter(sentences, amount, seed)

    @cached_property
    def _resegmenter(self) -> Resegmenter:
        processor = self._processor
        return Resegmenter(
            {
                processor.id_to_piece(id): (id, processor.get_score(id))
                for id in range(self.pad)
                if not (self._is_rare[id] or processor.is_control(id) or processor.is_unused(id))
            }
        )


@dataclass(frozen=True)
class Subwords:
    """The vocabularies of both languages; a joint vocabulary is the same object twice."""

    source: Vocabulary
    target: Vocabulary

    @property
    def joint(self) -> bool:
        """True if both languages share ids, and so one embedding table, even if each has a SentencePiece model."""
        return self.source is self.target or self.source.all_pieces() == self.target.all_pieces()

    def save(self, directory: Path) -> None:
        files = self._files()
        for name in JOINT, *SEPARATE:
            if name not in files:  # left over from an earlier choice; `load` would use it
                remove_durably(directory / name)
        for name, vocabulary in files.items():
            write_atomically(directory / name, vocabulary.model)

    def _files(self) -> dict[str, Vocabulary]:
        if self.source is self.target:
            return {JOINT: self.source}
        return dict(zip(SEPARATE, (self.source, self.target), strict=True))

    @staticmethod
    def files(directory: Path) -> list[Path]:
        """List the files that `load` reads from a directory."""
        separate = [directory / name for name in SEPARATE]
        return separate if any(map(os.path.lexists, separate)) else [directory / JOINT]

    @classmethod
    def load(cls, directory: Path) -> Subwords:
        loaded = [_load(path) for path in cls.files(directory)]
        return cls(loaded[0], loaded[-1])


def _load(path: Path) -> Vocabulary:
    content = read_regular(path, MAX_MODEL)
    try:
        vocabulary = Vocabulary(content)
        first = vocabulary.pieces([END, UNKNOWN])
    except (RuntimeError, ValueError, IndexError) as error:
        raise DirectoryError(
            f"{path} is not a SentencePiece model", "It may have been cut short while it was copied."
        ) from error
    if first != ["</s>", "<unk>"]:
        raise DirectoryError(f"{path} does not begin with </s> and <unk>: it was not learnt for a translator")
    return vocabulary


class VocabularySizeError(CorpusError):
    """A vocabulary size that does not suit the text; `bearable` is the nearest possible size."""

    def __init__(self, what: str, advice: str, bearable: int) -> None:
        super().__init__(what, advice)
        self.bearable = bearable


class VocabularyTooLargeError(VocabularySizeError):
    """The text is too small for the requested number of pieces."""

    def __init__(self, size: int, most: int) -> None:
        what = f"the text is too small for a vocabulary of {size:,} pieces"
        super().__init__(what, f"It allows at most {most:,}:  --set subwords.size={most}", most)


class VocabularyTooSmallError(VocabularySizeError):
    """The text has more distinct characters than the requested number of pieces."""

    def __init__(self, size: int, least: int) -> None:
        super().__init__(
            f"a vocabulary of {size:,} pieces is too small for the characters of the text",
            f"It needs at least {least:,} (--set subwords.size={least}), or encode the rarest characters as bytes"
            " (--set subwords.character_coverage=0.999).",
            least,
        )


LONGEST = 16_384
"""Longest line that subwords are learnt from, in bytes."""


def learn(lines: Iterable[str], section: SubwordsSection, threads: int) -> Vocabulary:
    """Learn a vocabulary from (a sample of) the text."""
    written = io.BytesIO()
    if section.kind == "byte":
        lines = ["a"]  # Everything else is encoded as bytes.
    single = section.kind in ("char", "byte")
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_never_empty(lines),
            model_writer=written,
            model_type="char" if single else section.kind,
            vocab_size=NOT_BYTES + 256 if section.kind == "byte" else section.size,
            hard_vocab_limit=not single and section.kind != "word",  # there may be fewer characters or words
            character_coverage=section.character_coverage,
            byte_fallback=section.byte_fallback,
            normalization_rule_name="identity",  # the text is tidied before: NFC, white space
            eos_id=END,
            unk_id=UNKNOWN,
            bos_id=-1,
            pad_id=-1,
            max_sentence_length=LONGEST,
            num_threads=threads,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise _explained(error, section) from error
    return Vocabulary(written.getvalue())


def _never_empty(lines: Iterable[str]) -> Iterator[str]:
    empty = True
    for line in lines:
        empty = False
        yield line
    if empty:
        raise CorpusError("there is no text to learn subwords from")


def _explained(error: RuntimeError, section: SubwordsSection) -> CorpusError:
    message = str(error)
    too_high = re.search(r"value <= (\d+)", message)
    if too_high:
        return VocabularyTooLargeError(section.size, int(too_high.group(1)))
    too_low = re.search(r"smaller than required_chars\. \d+ vs (\d+)", message)
    if too_low:
        return VocabularyTooSmallError(section.size, int(too_low.group(1)))
    if "sentences_.empty()" in message:
        return CorpusError("there is no text to learn subwords from", f"Lines above {LONGEST:,} bytes are ignored.")
    return CorpusError(f"subwords could not be learnt: {message.splitlines()[-1] if message else 'no reason given'}")
