"""Translate lines for `tongsa translate`: input, output format, and the report at the end."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

from tongsa.base.errors import CorpusError, DirectoryError
from tongsa.base.files import cannot_write, descriptor_of
from tongsa.base.partial import PartialOutput
from tongsa.base.progress import for_this_stream
from tongsa.text.lines import decode, open_bytes
from tongsa.translation.options import TranslateOptions
from tongsa.translation.stream import Lines, Stream
from tongsa.translation.translator import Translation, Translator


@dataclass(frozen=True, kw_only=True)
class OutputFormat:
    """The output format of a translation."""

    nbest: int
    scores: bool
    alignment: bool

    def lines(self, translation: Translation, number: int) -> Iterator[str]:
        """One line, or with `nbest` one for each hypothesis that begins with the input line's number."""
        for hypothesis in (translation, *translation.alternatives):
            columns = [hypothesis.text]
            if self.nbest > 1:
                columns = [str(number), f"{hypothesis.score:.4f}", *columns]
            elif self.scores:
                columns = [f"{hypothesis.score:.4f}", *columns]
            if self.alignment:
                columns.append(" ".join(f"{source}-{target}" for source, target in hypothesis.alignment))
            yield "\t".join(columns) + "\n"

    def text(self, translations: Sequence[Translation], first: int) -> str:
        if self == OutputFormat(nbest=1, scores=False, alignment=False):
            return "".join([translation.text + "\n" for translation in translations])
        return "".join(line for n, one in enumerate(translations, first) for line in self.lines(one, n))


class LineTranslation:
    """One run of the command."""

    def __init__(
        self, translator: Translator, options: TranslateOptions, output_format: OutputFormat, *, weights: Sequence[Path]
    ) -> None:
        self.translator = translator
        search = options.search or translator.search
        self.search = replace(search, scores=output_format.nbest > 1 or output_format.scores)
        self.options = replace(options, search=self.search)
        self.format = output_format
        self.weights = weights
        self.notes: Counter[str] = Counter()
        self.count = 0

    def texts(self, texts: list[str]) -> None:
        translations = self.translator.translate(texts, self.options)
        self._note(translations)
        _print(self.format.text(translations, 1))

    def to_standard_output(self, source: Path | None) -> None:
        with _opened(source) as stream, _bar(stream, to_file=False) as advance:
            for done in self._stream(source).translate(_lines(stream, source)):
                self._note(done.translations)
                _print(self.format.text(done.translations, done.window.first))
                advance(len(done.translations))

    def to_file(self, source: Path | None, path: Path, *, resume: bool) -> None:
        output = PartialOutput(path, self._settings(), resume=resume, say=_say)
        with ExitStack() as stack:
            stack.callback(output.close)
            stream = stack.enter_context(_opened(source))
            lines = _lines(stream, source)
            self._skip(lines, output, source)
            if output.note.complete:
                output.finish()
                _say(f"{path} is complete")
                return
            advance = stack.enter_context(_bar(stream, to_file=True))
            advance(lines.number)
            for done in self._stream(source).translate(lines):
                self._note(done.translations)
                text = self.format.text(done.translations, done.window.first)
                output.write(text, lines=len(done.translations), digest=done.window.digest)
                advance(len(done.translations))
            output.finish()

    def into(self, source: Path | None, path: Path) -> None:
        """Write into a device or pipe, which is never replaced, nor truncated if it is an open descriptor."""
        number = descriptor_of(path)
        try:
            with os.fdopen(os.dup(number), "wb") if number is not None else path.open("wb") as file:
                self._write_all(source, file)
        except OSError as error:
            raise cannot_write(path, error, "What was translated before is lost: write to a file instead.") from error

    def _write_all(self, source: Path | None, file: BinaryIO) -> None:
        with _opened(source) as stream, _bar(stream, to_file=True) as advance:
            for done in self._stream(source).translate(Lines(stream)):
                self._note(done.translations)
                file.write(self.format.text(done.translations, done.window.first).encode())
                file.flush()
                advance(len(done.translations))

    def tell_notes(self) -> None:
        for note, count in self.notes.items():
            if note != "blank":
                _say(f"{count:,} of {self.count:,} lines: {note}")

    def _note(self, translations: Sequence[Translation]) -> None:
        self.count += len(translations)
        for translation in translations:
            if translation.notes:
                self.notes.update(translation.notes)

    def _stream(self, source: Path | None) -> Stream:
        name = source or Path("standard input")

        def text(line: bytes, number: int) -> str:
            decoded = decode(line, name, number, "utf-8").removesuffix("\r")
            return decoded.removeprefix("\ufeff") if number == 1 else decoded

        return Stream(self.translator, self.options, text)

    def _settings(self) -> dict[str, str]:
        """The settings that must be the same for a resumed output to be consistent."""
        weights = ",".join(map(_digest, self.weights))
        chosen = {f"search.{name}": str(value) for name, value in asdict(self.search).items()}
        written = {f"output.{name}": str(value) for name, value in asdict(self.format).items()}
        terms = self.options.glossary.terms if self.options.glossary else {}
        given = {"terms": hashlib.blake2b(repr(sorted(terms.items())).encode()).hexdigest()[:16]} if terms else {}
        given |= {"fallback": "yes"} if self.options.fallback else {}
        return {"weights": weights, "engine": self.translator.made_with, **chosen, **written, **given}

    @staticmethod
    def _skip(lines: Lines, output: PartialOutput, source: Path | None) -> None:
        note = output.note
        if note.lines == 0:
            return
        digest = lines.skip(note.lines)
        if digest != note.input:
            raise CorpusError(
                f"{source or 'standard input'} is not the input that {output.path} was made from",
                f"Its first {note.lines:,} lines have changed, so the two would not fit together.",
                "To translate it from the beginning, leave out --resume.",
            )
        if not note.complete:
            _say(f"continuing after line {note.lines:,}")
        elif lines.more():
            raise CorpusError(
                f"{source or 'standard input'} has more lines than the {note.lines:,} that {output.path} was made from",
                "To translate it from the beginning, leave out --resume.",
            )


def _digest(weights: Path) -> str:
    try:
        with weights.open("rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()[:16]
    except OSError as error:
        raise DirectoryError(f"{weights} cannot be read: {error.strerror or error}") from error


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _lines(stream: BinaryIO, source: Path | None) -> Lines:
    return Lines(stream, source) if source else Lines(stream)


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@contextmanager
def _opened(source: Path | None) -> Iterator[BinaryIO]:
    if source is None:
        yield sys.stdin.buffer
        return
    with open_bytes(source) as file:
        yield file  # type: ignore[misc]


@contextmanager
def _bar(stream: BinaryIO, *, to_file: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar for the lines of a file; none if translations go to a terminal or the input is a pipe."""
    total = _count_lines(stream)
    if not to_file and (total is None or sys.stdout.isatty()):
        yield lambda amount: None
        return
    with for_this_stream().bar("translating", total, "lines") as bar:
        yield bar.advance


def _count_lines(stream: BinaryIO) -> int | None:
    """The number of lines, if it can be known without reading ahead: in a plain file."""
    try:
        file = stream.fileno()
        if not isinstance(stream, io.BufferedReader) or not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        place, count = 0, 0
        while block := os.pread(file, 1 << 20, place):
            place += len(block)
            count += block.count(b"\n")
        return count
    except (OSError, AttributeError):
        return None
