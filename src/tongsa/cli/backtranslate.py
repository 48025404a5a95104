"""`tongsa backtranslate` and `tongsa rounds`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import (
    Directory,
    EngineOptions,
    MachineOptions,
    SearchOptions,
    Seed,
    Settings,
    Valid,
    grouped,
    parse_settings,
)
from tongsa.runs.names import ensemble_members


@grouped
def backtranslate(
    directory: Directory,
    text: Annotated[Path, typer.Argument(metavar="TEXT", help="Text in one language, a sentence a line; also .gz.")],
    out: Annotated[Path, typer.Option("--out", help="The corpus to write: a prefix, or a file such as synthetic.tsv.")],
    forward: Annotated[
        bool, typer.Option("--forward", help="TEXT is the source of the pairs (self-training), not the target.")
    ] = False,
    tag: Annotated[
        bool, typer.Option("--tag/--no-tag", help="Begin synthetic sources with <BT>, so that a model can tell them.")
    ] = True,
    resume: Annotated[bool, typer.Option("--resume", help="Continue where an interrupted run stopped.")] = False,
    *,
    search: SearchOptions,
    engine: EngineOptions,
) -> None:
    """Make a corpus from text in one language: its translations become the other side.

    To train en-de, translate German text with de-en; then mix the pairs in.

    Example:  tongsa backtranslate runs/de-en news.de --out data/synthetic
    """
    from tongsa.cli.lines import LineTranslation, OutputFormat
    from tongsa.corpus.synthetic import TAG, Synthetic
    from tongsa.runs.directory import Run
    from tongsa.translation.options import TranslateOptions

    if search.nbest > 1:
        raise UsageError("back-translation takes one translation of each line", "Leave out --nbest.")
    if not text.is_file():
        raise UsageError(f"{text} is not a file")
    translator = engine.load(directory)
    options = TranslateOptions(search=search.over(translator.search))
    weights = [Run(path).weights_file for path in ensemble_members(directory)]
    plain = OutputFormat(nbest=1, scores=False, alignment=False)
    lines = LineTranslation(translator, options, plain, weights=weights)
    translations = out.with_name(f"{out.name}.translations")
    lines.to_file(text, translations, resume=resume)
    lines.tell_notes()
    card = translator.card
    made = Synthetic(
        text=text,
        translations=translations,
        language=card.source,
        other=card.target,
        forward=forward,
        tag=TAG if tag else "",
    )
    tally = made.write(out)
    translations.unlink()
    for line in tally.lines():
        print(line)
    print(f"{tally.kept:,} pairs: {out}")
    source, target = (card.source, card.target) if forward else (card.target, card.source)
    print(f"Next:  tongsa train data/train --mix {out} --valid data/valid --from {source} --to {target} --out ...")


@grouped
def rounds(
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS...", help="Prefixes of two aligned files.")],
    source: Annotated[str, typer.Option("--from", help="Code of the source language, for example en.")],
    target: Annotated[str, typer.Option("--to", help="Code of the target language, for example de.")],
    out: Annotated[Path, typer.Option("--out", help="Directory for all trainings and synthetic pairs.")],
    target_text: Annotated[Path, typer.Option("--target-text", help="Text in the target language, a sentence a line.")],
    source_text: Annotated[
        Path | None, typer.Option("--source-text", help="Text in the source language: needed for further rounds.")
    ] = None,
    count: Annotated[int, typer.Option("--rounds", help="Number of rounds: two trainings each.", min=1)] = 1,
    mix_ratio: Annotated[float, typer.Option("--mix-ratio", help="Synthetic pairs for each real one.")] = 1.0,
    recipe: Annotated[str, typer.Option("--recipe", help="auto, the name of a recipe, or a TOML file.")] = "auto",
    setting: Settings = None,
    valid: Valid = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", help="Time of all trainings together."),
    ] = None,
    seed: Seed = 1,
    *,
    machine: MachineOptions,
) -> None:
    """Train in rounds of back-translation: each direction learns from what the other makes of text in one language.

    The same command continues after an interruption.

    Example:  tongsa rounds data/train --from en --to de --valid data/valid --target-text news.de --out runs/rounds
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.runs.job import TrainOptions
    from tongsa.training.rounds import Rounds

    options = TrainOptions(
        corpora=tuple(corpus),
        source=source,
        target=target,
        valid=tuple(valid or ()),
        recipe=recipe,
        settings=parse_settings(setting),
        minutes=minutes,
        seed=seed,
        threads=machine.threads,
        device=machine.device,
        mix_ratio=mix_ratio,
    )
    work = Rounds(options=options, out=out, target_text=target_text, source_text=source_text, rounds=count)
    if work.run(for_this_stream()) is None:
        raise typer.Exit(130)  # interrupted
    print(f"the translator is {work.result}")
