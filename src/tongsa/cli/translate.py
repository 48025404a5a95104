"""`tongsa translate`"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from tongsa.base.errors import DirectoryError, UsageError
from tongsa.base.files import descriptor_of, destination, is_special
from tongsa.cli.document import DocumentOptions, translate_documents
from tongsa.cli.options import EngineOptions, SearchOptions, grouped, renamed
from tongsa.cli.translators import LanguageOptions, is_text
from tongsa.runs.names import CARD, NAME, advice, ensemble_members, find_translator

if TYPE_CHECKING:
    from tongsa.translation.glossary import Glossary


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    panel: ClassVar[str] = "Input and output"

    input_file: Annotated[
        Path | None, typer.Option("--input", "-i", help="Translate the lines of this file; also .gz and .xz.")
    ] = None
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead of to standard output.")] = (
        None
    )
    resume: Annotated[
        bool, typer.Option("--resume", help="With --output: continue a translation that was interrupted.")
    ] = False
    scores: Annotated[bool, typer.Option("--scores", help="Print the score before each line, with a tab.")] = False
    fallback: Annotated[
        bool, typer.Option("--fallback", help="Replace a loop or a copy by the next best that is none.")
    ] = False
    alignment: Annotated[
        bool, typer.Option("--alignment", help="Print source-target token pairs after each line, with a tab.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class TermOptions:
    panel: ClassVar[str] = "Terms"

    glossary: Annotated[
        Path | None, typer.Option("--glossary", help="Terms to use: SOURCE, tab, TARGET, or TARGET|FORM|...")
    ] = None
    do_not_translate: Annotated[
        list[Path] | None, typer.Option("--do-not-translate", help="Terms to keep as they are, a line each.")
    ] = None

    def read(self) -> Glossary | None:
        """Read the terms; None if there are none."""
        from tongsa.translation.glossary import read_glossary

        return read_glossary(self.glossary, self.do_not_translate or ()) or None


@dataclass(frozen=True, kw_only=True)
class OldTranslateOptions:
    """Options of version 0.1 for documents, which have a command of their own now."""

    panel: ClassVar[str] = "Old spellings"

    document: Annotated[list[Path] | None, typer.Option("--document", hidden=True)] = None
    memory: Annotated[list[Path] | None, typer.Option("--memory", hidden=True)] = None
    review: Annotated[Path | None, typer.Option("--review", hidden=True)] = None
    columns: Annotated[str | None, typer.Option("--columns", hidden=True)] = None
    encoding: Annotated[str | None, typer.Option("--encoding", hidden=True)] = None

    def document_options(self, output: Path | None, terms: TermOptions) -> DocumentOptions:
        return DocumentOptions(
            output=output,
            glossary=terms.glossary,
            do_not_translate=terms.do_not_translate,
            memory=self.memory,
            review=[self.review] if self.review else None,
            columns=self.columns,
            encoding=self.encoding,
        )

    def given(self) -> bool:
        return self != OldTranslateOptions()


@grouped
def translate(
    named: Annotated[
        str | None,
        typer.Argument(metavar="DIR", help="Directory or name; A,B is an ensemble (default: the shipped one)."),
    ] = None,
    text: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Text (default: lines of --input or stdin).")
    ] = None,
    *,
    files: FileOptions,
    languages: LanguageOptions,
    terms: TermOptions,
    search: SearchOptions,
    engine: EngineOptions,
    old: OldTranslateOptions,
) -> None:
    """Translate text: arguments, a file or standard input. Output line n belongs to input line n, always.

    Examples:  tongsa translate "Good morning."      tongsa translate runs/en-de < news.en > news.de
    """
    directory, text = _translator(named, text or [], languages)
    if old.document:
        _old_document(directory, text, files, terms, search, engine, old)
        return
    if old.given():
        raise UsageError(
            "--memory, --review, --columns and --encoding are for documents",
            f"tongsa document {directory} FILE...",
        )
    _refuse_file_names(directory, text)
    _refuse_translators(directory, text)
    if text and (files.input_file or files.output or files.resume):
        raise UsageError("text on the command line excludes --input, --output and --resume")
    if files.resume and not files.output:
        raise UsageError("--resume needs --output: the file whose translation is to be continued")
    target = _target(files)
    glossary = terms.read()
    from tongsa.cli.lines import LineTranslation, OutputFormat
    from tongsa.runs.directory import Run
    from tongsa.translation.options import TranslateOptions

    translator = engine.load(directory)
    output_format = OutputFormat(nbest=search.nbest, scores=files.scores, alignment=files.alignment)
    options = TranslateOptions(
        search=search.over(translator.search),
        alignment=output_format.alignment,
        glossary=glossary,
        fallback=files.fallback,
    )
    weights = [Run(path).weights_file for path in ensemble_members(directory)]
    lines = LineTranslation(translator, options, output_format, weights=weights)
    if text:
        lines.texts(text)
    elif target is None:
        lines.to_standard_output(files.input_file)
    elif _is_stream(target):
        lines.into(files.input_file, target)
    else:
        lines.to_file(files.input_file, target, resume=files.resume)
    lines.tell_notes()


def _translator(named: str | None, text: list[str], languages: LanguageOptions) -> tuple[Path, list[str]]:
    """Return the directory of the translator, and all texts: the first argument may be one of them."""
    if named is None:
        return languages.choose(), text
    if is_text(named):
        return languages.choose(), [named, *text]
    languages.refuse_beside(named)
    directory = find_translator(named)
    if not text:
        _refuse_file_names("", [named])
    if not text and NAME.fullmatch(named) and not directory.exists():
        raise DirectoryError(
            f"{named} is not a translator: there is no such directory",
            *advice(named),
            f"To translate it as a text, name a translator before it:  tongsa translate DIR {named}",
        )
    return directory, text


def _refuse_file_names(directory: str | Path, text: list[str]) -> None:
    """Raise an error if a file is given where a text is expected: its name is not to be translated."""
    named = f" {directory}" if directory else ""
    for name in text:
        if os.path.lexists(name) and Path(name).is_file():  # lexists is never an error, however long a text is
            raise UsageError(
                f"{name} is a file, and text is expected here",
                f"To translate its lines:  tongsa translate{named} --input {name}",
                f"To translate a document: tongsa document{named or ' DIR'} {name}",
            )


def _refuse_translators(directory: Path, text: list[str]) -> None:
    """Raise an error if another translator is given where a text is expected: its name is not to be translated."""
    for name in text:
        if os.path.lexists(name) and (Path(name) / CARD).is_file():
            raise UsageError(
                f"{name} is a translator, and text is expected here",
                f"To translate with both, as an ensemble:  tongsa translate {directory},{name}",
            )


def _target(files: FileOptions) -> Path | None:
    """Follow the links of --output; None is standard output. Errors come before a model is loaded."""
    if files.output is None:
        return None
    target = destination(files.output)
    if target.is_dir():
        raise UsageError(f"--output {files.output} is a directory", "Name a file.")
    if _is_stream(target) and files.resume:
        raise UsageError(
            f"--resume needs a file, and {files.output} is a device, a pipe or standard output",
            "What was written there cannot be taken back. Leave out --resume, or write to a file.",
        )
    return None if descriptor_of(target) == 1 else target


def _is_stream(target: Path) -> bool:
    return descriptor_of(target) is not None or is_special(target)


def _old_document(
    directory: Path,
    more: list[str],
    files: FileOptions,
    terms: TermOptions,
    search: SearchOptions,
    engine: EngineOptions,
    old: OldTranslateOptions,
) -> None:
    """`--document *.md`: further file names from the shell arrive as text."""
    if replace(files, output=None) != FileOptions() or search.nbest > 1 or search.sample:
        raise UsageError("--document excludes --input, --resume, --nbest, --sample, --scores and --alignment")
    renamed("translate --document", f"tongsa document {directory} FILE...")
    translate_documents(
        directory,
        [*(old.document or []), *map(Path, more)],
        search.beam,
        search.length_penalty,
        old.document_options(files.output, terms),
        engine,
    )
