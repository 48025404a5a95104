"""`tongsa document`"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import Beam, EngineOptions, LengthPenalty, SearchOptions, grouped
from tongsa.cli.translators import LanguageOptions
from tongsa.runs.names import find_translator

if TYPE_CHECKING:
    from tongsa.base.progress import Show
    from tongsa.documents import Languages, TranslatedDocument
    from tongsa.documents.translate import TranslatorLike
    from tongsa.formats.segments import State

LEAST_FUZZY = 0.5
"""Least likeness that a user can ask for: texts that share less are different texts."""


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    panel: ClassVar[str] = "Documents"

    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write, or folder for several (default: beside each).")
    ] = None
    glossary: Annotated[Path | None, typer.Option("--glossary", help="Terms to use: SOURCE, tab, TARGET.")] = None
    do_not_translate: Annotated[
        list[Path] | None, typer.Option("--do-not-translate", help="Terms to keep as they are, a line each.")
    ] = None
    memory: Annotated[
        list[Path] | None, typer.Option("--memory", help="Earlier translations to reuse: TMX, PO, TSV, ...")
    ] = None
    fuzzy: Annotated[
        float | None,
        typer.Option(
            "--fuzzy", help="Use the memory's translation of a similar text from this likeness on, e.g. 0.75."
        ),
    ] = None
    review: Annotated[
        list[Path] | None,
        typer.Option("--review", help="Write the least certain translations here: .po, .xliff, .html, or a table."),
    ] = None
    columns: Annotated[
        str | None, typer.Option("--columns", help="Columns of a CSV file to translate, with commas.")
    ] = None
    keys: Annotated[
        str | None, typer.Option("--keys", help="Keys of a JSON file to translate, with commas: title,menu.*")
    ] = None
    skip_keys: Annotated[
        str | None, typer.Option("--skip-keys", help="Keys of a JSON file to leave as they are, with commas.")
    ] = None
    encoding: Annotated[str | None, typer.Option("--encoding", help="Encoding of text that is not UTF-8.")] = None


@grouped
def document(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="[DIR]",
            help="A translator: a directory, or a name (default: the shipped one).",
            parser=find_translator,
        ),
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="Markdown, HTML, PO, XLIFF, TMX, SRT, DOCX, ODT, JSON, CSV or text."),
    ] = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    *,
    languages: LanguageOptions,
    options: DocumentOptions,
    engine: EngineOptions,
) -> None:
    """Translate files with structure; tags, placeholders and layout stay as they are.

    Examples:  tongsa document runs/en-de manual.md      tongsa document runs/en-de *.po -o translated --review r.po
    """
    if directory.is_file():  # no translator is named
        translate_documents(languages.choose(), [directory, *(files or ())], beam, length_penalty, options, engine)
        return
    languages.refuse_beside(directory)
    if not files:
        raise UsageError(f"there is no file to translate: {directory}", "tongsa document [DIR] FILE...")
    translate_documents(directory, files, beam, length_penalty, options, engine)


def translate_documents(
    directory: Path,
    files: Sequence[Path],
    beam: int | None,
    length_penalty: float | None,
    options: DocumentOptions,
    engine: EngineOptions,
) -> None:
    """Load a translator and translate the files."""
    from tongsa.base.progress import for_this_stream

    translator = engine.load(directory)
    translator.search = SearchOptions(beam=beam, length_penalty=length_penalty).over(translator.search)
    translate_files(translator, files, options, for_this_stream())


def translate_files(translator: TranslatorLike, files: Sequence[Path], options: DocumentOptions, show: Show) -> None:
    """Translate each file, report where it was written and what needs review, and write the review."""
    from tongsa.documents import Languages, Resources, translate_document
    from tongsa.documents.memory import Memory
    from tongsa.documents.review import wants_review
    from tongsa.translation.glossary import read_glossary

    if options.fuzzy is not None and not LEAST_FUZZY <= options.fuzzy <= 1:
        raise UsageError(f"--fuzzy is {options.fuzzy:g}", f"It must be between {LEAST_FUZZY} and 1; 0.75 is usual.")
    languages = Languages(source=translator.card.source, target=translator.card.target)
    targets = _targets(files, options.output, languages)
    resources = Resources(
        glossary=read_glossary(options.glossary, options.do_not_translate or ()),
        memory=Memory.read(options.memory or (), languages),
        fuzzy=options.fuzzy,
    )
    for line in resources.memory.left_out:
        show.say(f"memory: {line}")
    done: list[TranslatedDocument] = []
    for file, target in zip(files, targets, strict=True):
        made = translate_document(
            translator,
            file,
            target,
            resources=resources,
            encoding=options.encoding,
            columns=_listed(options.columns),
            keys=_listed(options.keys),
            skip_keys=_listed(options.skip_keys),
            show=show,
        )
        done.append(made)
        show.say(f"{file} -> {made.target}: {_summary(made)}")
    for review in options.review or ():
        count = _write_review(review, done, languages)
        show.say(f"{review}: {count:,} to review, the least certain first")
    if options.review:
        return
    if unsure := sum(wants_review(outcome) for document in done for outcome in document.outcomes):
        show.say(f"{unsure:,} should be reviewed; to write them to a file:  --review FILE")


def _write_review(path: Path, done: Sequence[TranslatedDocument], languages: Languages) -> int:
    from tongsa.documents.review import doubtful, write_review

    if path.suffix.lower() not in (".html", ".htm"):
        return write_review(path, done, languages)
    from tongsa.base.files import write_atomically
    from tongsa.pages.review import draw_review

    write_atomically(path, draw_review(done, languages))
    return len(doubtful(done))


def _listed(names: str | None) -> tuple[str, ...]:
    """Split names at commas."""
    return tuple(name.strip() for name in names.split(",") if name.strip()) if names else ()


def _targets(files: Sequence[Path], out: Path | None, languages: object) -> list[Path]:
    """The files to write: beside the sources, or -o (a file for one, a directory for several); no two are the same."""
    from tongsa.documents import Languages, default_target

    assert isinstance(languages, Languages)
    if out is None:
        targets = [default_target(file, languages) for file in files]
    elif len(files) > 1 or out.is_dir() or not out.suffix:
        targets = [out / default_target(file, languages).name for file in files]
    else:
        targets = [out]
    twice = [str(target) for target, count in Counter(targets).items() if count > 1]
    if twice:
        raise UsageError(
            f"two documents would be written to {twice[0]}", "Translate them one by one, each with its -o."
        )
    return targets


def _summary(document: TranslatedDocument) -> str:
    counts = Counter(outcome.state for outcome in document.outcomes)
    words: dict[State, str] = {
        "translated": "translated",
        "memory": "from the memory",
        "fuzzy": "from similar entries of the memory",
        "copied": "with nothing to translate",
        "source": "left in the source language",
    }
    near = sum(outcome.near is not None and outcome.state != "fuzzy" for outcome in document.outcomes)
    parts = [f"{counts[state]:,} {word}" for state, word in words.items() if state in counts]
    return ", ".join([*parts, *([f"{near:,} similar to a memory entry"] if near else [])]) or "nothing to translate"
