"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tongsa.base.containers import PACKED
from tongsa.base.errors import UsageError
from tongsa.formats.registry import suffixes_with

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="A translator directory, as `tongsa train` writes it.")]
CORPORA_HELP = (
    "Prefix of two aligned files (data/train for data/train.en and data/train.de), a file"
    f" ({' '.join(suffixes_with('read_pairs', added=False))}, also {' '.join(PACKED)}), a .zip, a directory,"
    " or mtdata:NAME. Several are read one after the other."
)
Corpora = Annotated[list[str], typer.Argument(metavar="CORPUS...", help=CORPORA_HELP)]
Device = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]
Threads = Annotated[int | None, typer.Option("--threads", help="Cores to use (all by default).")]
EngineName = Annotated[str, typer.Option("--engine", help="auto, ctranslate2 or native.")]
Precision = Annotated[str, typer.Option("--precision", help="auto, int8 or float32.")]
Shortlist = Annotated[
    bool, typer.Option("--shortlist", help="Score only what the source can become: faster (CTranslate2).")
]
Beam = Annotated[int | None, typer.Option("--beam", help="Hypotheses kept at each step.")]
LengthPenalty = Annotated[
    float | None, typer.Option("--length-penalty", help="alpha of ((5 + n) / 6)^alpha: higher for longer output.")
]
Encoding = Annotated[str, typer.Option("--encoding", help="Encoding of the text, for example cp949.")]
Salvage = Annotated[
    bool,
    typer.Option(
        "--salvage", help="Recover what is readable from damaged files and report the rest, instead of failing."
    ),
]


def check_threads(threads: int | None) -> None:
    if threads is not None and threads < 1:
        raise UsageError(f"--threads must be at least 1, not {threads}")
