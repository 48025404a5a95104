"""`tongsa corpus`: report, clean, split, convert, sample, dedupe"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import Corpora, Encoding, Salvage, Seed
from tongsa.formats.registry import suffixes_with

if TYPE_CHECKING:
    from tongsa.base.progress import Show
    from tongsa.formats.pairs import Corpus, Pair

app = typer.Typer(
    name="corpus",
    help="Inspect, repair, split and convert parallel text.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Source = Annotated[str, typer.Option("--from", help="Code of the source language, for example en.")]
Target = Annotated[str, typer.Option("--to", help="Code of the target language, for example de.")]
Workers = Annotated[int | None, typer.Option("--workers", help="Processes (as many as cores by default).")]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        help=f"The file to write: {' '.join(suffixes_with('write_pairs', added=False))} (text also .gz, .xz, .bz2),"
        " or a prefix for two aligned files.",
    ),
]


@app.command("report")
def report(
    corpus: Corpora,
    source: Source = "",
    target: Target = "",
    html: Annotated[Path | None, typer.Option("--html", help="Also write the report as an HTML page.")] = None,
    encoding: Encoding = "utf-8",
    salvage: Salvage = False,
    workers: Workers = None,
    seed: Seed = 1,
) -> None:
    """Report sizes, lengths, languages and faults, with examples and their places.

    Example:  tongsa corpus report data/train --from en --to de --html report.html
    """
    from tongsa.base.files import write_atomically
    from tongsa.base.progress import for_this_stream
    from tongsa.corpus.report import as_text, make_report
    from tongsa.pages.corpus import draw_corpus

    made = make_report(
        _open(corpus, source, target, encoding, salvage), workers=workers, seed=seed, show=for_this_stream()
    )
    for line in as_text(made):
        print(line)
    if html:
        write_atomically(html, draw_corpus(made))


@app.command("clean")
def clean(
    corpus: Corpora,
    out: Out,
    source: Source = "",
    target: Target = "",
    removed: Annotated[
        Path | None, typer.Option("--removed", help="File for removed pairs with reasons (OUT.removed.jsonl).")
    ] = None,
    only: Annotated[str, typer.Option("--only", help="Remove only these faults, with commas.")] = "",
    also: Annotated[str, typer.Option("--also", help="Also remove these faults: numbers.")] = "",
    keep: Annotated[str, typer.Option("--keep", help="Do not remove these faults, with commas.")] = "",
    encoding: Encoding = "utf-8",
    salvage: Salvage = False,
    workers: Workers = None,
    seed: Seed = 1,
) -> None:
    """Write the pairs without faults, and a file of the removed pairs with the reasons.

    Faults: empty, mojibake, copy, swapped, language, script, shifted, unrelated, cut, length, placeholders, long,
    duplicate, and, if asked for, numbers.

    Example:  tongsa corpus clean data/train --from en --to de --out data/clean
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.corpus.clean import chosen_faults, clean_corpus

    faults = chosen_faults(
        *([name.strip() for name in names.split(",") if name.strip()] for names in (only, keep, also))
    )
    show = for_this_stream()
    opened = _open(corpus, source, target, encoding, salvage)
    removed = removed or out.with_name(f"{out.name}.removed.jsonl")
    tally, changed = clean_corpus(opened, out, removed, faults, workers=workers, seed=seed, show=show)
    _tell(opened, changed, show)
    for line in tally.lines():
        show.say(line)
    show.say(f"kept {tally.kept:,} of {tally.seen:,} pairs in {out}; the others are in {removed}")


@app.command("convert")
def convert(
    corpus: Corpora,
    out: Out,
    source: Source = "",
    target: Target = "",
    encoding: Encoding = "utf-8",
    salvage: Salvage = False,
) -> None:
    """Read any format, write any format.

    Example:  tongsa corpus convert memory.tmx --from en --to de --out data/train
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.formats.writers import write_corpus

    show = for_this_stream()
    opened = _open(corpus, source, target, encoding, salvage)
    changed = write_corpus(opened, out, opened.reading)
    written = changed.pop("written", 0)
    _tell(opened, changed, show)
    show.say(f"wrote {written:,} pairs to {out}")


@app.command("split")
def split(
    corpus: Corpora,
    out: Annotated[Path, typer.Option("--out", help="Directory for the parts.")],
    source: Source = "",
    target: Target = "",
    valid: Annotated[int, typer.Option("--valid", help="Pairs to validate on.")] = 2000,
    test: Annotated[int, typer.Option("--test", help="Pairs to test on.")] = 2000,
    suffix: Annotated[
        str, typer.Option("--as", help="Format of the parts, for example .tsv; otherwise aligned files.")
    ] = "",
    encoding: Encoding = "utf-8",
    salvage: Salvage = False,
    seed: Seed = 1,
) -> None:
    """Draw a part to validate on and a part to test on; no sentence is in two parts.

    Example:  tongsa corpus split data/all --from en --to de --valid 2000 --test 2000 --out data
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.corpus.split import split as split_corpus

    show = for_this_stream()
    opened = _open(corpus, source, target, encoding, salvage)
    sizes = {name: size for name, size in {"valid": valid, "test": test}.items() if size}
    ending = f".{suffix.lstrip('.')}" if suffix else ""
    counts = split_corpus(opened, sizes, "train", lambda name: out / f"{name}{ending}", seed)
    _tell(opened, Counter(), show)
    for name in ("train", *sizes):
        show.say(f"{name}: {counts[name]:,} pairs")


@app.command("sample")
def sample(
    corpus: Corpora,
    out: Out,
    source: Source = "",
    target: Target = "",
    count: Annotated[int, typer.Option("--count", help="Pairs to draw.")] = 1000,
    encoding: Encoding = "utf-8",
    salvage: Salvage = False,
    seed: Seed = 1,
) -> None:
    """Draw pairs at random, each with the same chance, in the order of the corpus.

    Example:  tongsa corpus sample data/train --from en --to de --count 500 --out sample.tsv
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.data.selection import reservoir
    from tongsa.formats.writers import write_corpus

    show = for_this_stream()
    opened = _open(corpus, source, target, encoding, salvage)
    changed = write_corpus(reservoir(opened, count, seed), out, opened.reading)
    written = changed.pop("written", 0)
    _tell(opened, changed, show)
    show.say(f"wrote {written:,} pairs to {out}")


@app.command("dedupe")
def dedupe(
    corpus: Corpora,
    out: Out,
    source: Source = "",
    target: Target = "",
    by: Annotated[str, typer.Option("--by", help="Key that must be unique: pair, source or target.")] = "pair",
    encoding: Encoding = "utf-8",
    salvage: Salvage = False,
) -> None:
    """Keep the first of several equal pairs.

    Example:  tongsa corpus dedupe data/train --from en --to de --by source --out data/once
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.corpus.duplicates import deduplicated
    from tongsa.formats.pairs import Tally
    from tongsa.formats.writers import write_corpus

    show = for_this_stream()
    opened = _open(corpus, source, target, encoding, salvage)
    tally = Tally()

    def fresh() -> Iterator[Pair]:
        for pair, before in deduplicated(opened, by):
            tally.seen += 1
            if before:
                tally.drop(f"pairs whose {by} occurred before", pair.where)
            else:
                yield pair

    changed = write_corpus(fresh(), out, opened.reading)
    changed.pop("written", 0)
    _tell(opened, changed, show)
    for line in tally.lines():
        show.say(line)
    show.say(f"kept {tally.kept:,} of {tally.seen:,} pairs in {out}")


def _open(names: list[str], source: str, target: str, encoding: str, salvage: bool) -> Corpus:
    from tongsa.formats.pairs import Reading, open_corpus

    if not source or not target:
        raise UsageError("the languages are missing", "Name them:  --from en --to de")
    return open_corpus(names, Reading(source=source, target=target, encoding=encoding, salvage=salvage))


def _tell(corpus: Corpus, changed: Counter[str], show: Show) -> None:
    """Report what the readers left out, and what the writer changed."""
    for line in corpus.left_out.lines():
        show.say(line)
    for what, count in changed.items():
        show.say(f"{count:,} {what}")
