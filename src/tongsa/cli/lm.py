"""`tongsa lab lm`"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from tongsa.cli.options import Encoding, Seed, Settings, Threads, check_minutes, grouped, parse_settings


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    panel: ClassVar[str] = "Text"

    lines: Annotated[int | None, typer.Option("--lines", help="Lines of the text to learn from (all by default).")] = (
        None
    )
    vocabulary: Annotated[int, typer.Option("--vocabulary", help="Most frequent words to keep; others are <rare>.")] = (
        10_000
    )
    encoding: Encoding = "utf-8"


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    panel: ClassVar[str] = "Network and training"

    models: Annotated[
        str, typer.Option("--models", help="Networks to train: memory-network, lstm, transformer (with commas).")
    ] = "memory-network,lstm,transformer"
    d: Annotated[int | None, typer.Option("--width", help="Width of the embeddings (each recipe's own).")] = None
    hops: Annotated[int, typer.Option("--hops", help="Times that the memory is read.")] = 6
    memories: Annotated[int, typer.Option("--memories", help="Words in the memory: those just before.")] = 50
    epochs: Annotated[int, typer.Option("--epochs", help="Passes over the text.")] = 5
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="Training time of each network, instead of --epochs.")
    ] = None
    dropout: Annotated[float | None, typer.Option("--dropout", help="Dropout (each recipe's own).")] = None
    seed: Seed = 1
    threads: Threads = None


@grouped
def lm(
    text: Annotated[Path, typer.Argument(metavar="TEXT", help="Text to learn from, one sentence per line (.gz .xz).")],
    valid: Annotated[Path, typer.Option("--valid", help="Held-out text, measured after every epoch.")],
    test: Annotated[Path | None, typer.Option("--test", help="Held-out text, measured once at the end.")] = None,
    out: Annotated[Path, typer.Option("--out", help="Directory for model and figures.")] = Path("runs/lm"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue a training that was interrupted.")] = False,
    setting: Settings = None,
    *,
    words: TextOptions,
    network: NetworkOptions,
) -> None:
    """Compare language models of one text and vocabulary: a trigram, a memory network, an LSTM, a Transformer.

    Example:  tongsa lab lm data/train.en --valid data/valid.en --lines 40000 --out runs/lm
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.lab import language_model

    check_minutes(network.minutes)
    names = tuple(name.strip() for name in network.models.split(",") if name.strip())
    chosen = {**asdict(words), **asdict(network), "models": names, "changes": parse_settings(setting)}
    settings = language_model.Settings(text=str(text), **chosen)
    held_out = {"valid": valid} | ({"test": test} if test else {})
    result = language_model.run(settings, held_out, out, resume, for_this_stream())
    print(language_model.as_text(result, settings), end="")
