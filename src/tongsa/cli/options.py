"""Options that several commands share.

A group of options is a dataclass whose fields are options, and a panel of the help. A command takes the group as one
parameter; `grouped` spreads its fields over the command line.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from tongsa.base.errors import UsageError
from tongsa.config.sections import MAX_BEAM
from tongsa.formats.registry import suffixes_with
from tongsa.runs.names import find_translator

if typing.TYPE_CHECKING:
    from tongsa.decoding.search import Sampling, Search
    from tongsa.translation.translator import Translator

Directory = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="A translator: a directory, as `tongsa train` writes it, or a name (`tongsa get` lists them).",
        parser=find_translator,
    ),
]
CORPORA_HELP = (
    "Prefix of two aligned files (data/train for data/train.en and data/train.de), a file"
    f" ({' '.join(suffixes_with('read_pairs', added=False))}, also .gz .xz .bz2), a .zip, a directory,"
    " or mtdata:NAME. Several are read one after the other."
)
Corpora = Annotated[list[str], typer.Argument(metavar="CORPUS...", help=CORPORA_HELP)]
Threads = Annotated[int | None, typer.Option("--threads", help="Cores to use (all by default).", min=1)]
Device = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]
Beam = Annotated[int | None, typer.Option("--beam", help="Hypotheses kept at each step.", min=1, max=MAX_BEAM)]
LengthPenalty = Annotated[
    float | None, typer.Option("--length-penalty", help="Exponent alpha in ((5 + n) / 6)^alpha; higher: longer output.")
]
Precision = Annotated[str, typer.Option("--precision", help="auto, int8 or float32.")]
Encoding = Annotated[str, typer.Option("--encoding", help="Encoding of the text, for example cp949.")]
Salvage = Annotated[
    bool,
    typer.Option(
        "--salvage", help="Recover what is readable from damaged files and report the rest, instead of failing."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed for all random choices.", min=0)]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue the same training if --out holds it already; otherwise begin.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Change a key of the recipe: SECTION.KEY=VALUE.", metavar="KEY=VALUE")
]
Minutes = Annotated[float | None, typer.Option("--minutes", help="Training time; the learning rate is planned for it.")]
Valid = Annotated[
    list[str] | None, typer.Option("--valid", help="Corpus to validate on; by default some pairs are held out.")
]


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    panel: ClassVar[str] = "Machine"

    threads: Threads = None
    device: Device = "auto"


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    panel: ClassVar[str] = "Engine and machine"

    engine: Annotated[str, typer.Option("--engine", help="auto, ctranslate2 or native.")] = "auto"
    precision: Precision = "auto"
    shortlist: Annotated[
        bool, typer.Option("--shortlist", help="Score only likely translations of the source's words: faster.")
    ] = False
    device: Device = "auto"
    threads: Threads = None

    def load(self, directory: Path) -> Translator:
        from tongsa.translation.translator import Translator

        return Translator.load(
            directory,
            engine=self.engine,
            precision=self.precision,
            threads=self.threads,
            device=self.device,
            shortlist=self.shortlist,
        )


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    panel: ClassVar[str] = "Search"

    beam: Beam = None
    length_penalty: LengthPenalty = None
    nbest: Annotated[
        int,
        typer.Option("--nbest", help="Print this many hypotheses: number, tab, score, tab, text.", min=1, max=MAX_BEAM),
    ] = 1
    sample: Annotated[bool, typer.Option("--sample", help="Draw at random instead of searching for the best.")] = False
    temperature: Annotated[
        float, typer.Option("--temperature", help="With --sample: above 1 for more variety, below 1 for less.")
    ] = 1.0
    top_k: Annotated[int, typer.Option("--top-k", help="With --sample: draw from the k likeliest tokens.")] = 0
    top_p: Annotated[
        float, typer.Option("--top-p", help="With --sample: draw from the likeliest tokens that sum to p.")
    ] = 1.0
    seed: Annotated[int, typer.Option("--seed", help="With --sample: seed of the draws.")] = 0

    def __post_init__(self) -> None:
        if not self.sample and (self.temperature != 1.0 or self.top_k or self.top_p != 1.0):
            raise UsageError("--temperature, --top-k and --top-p need --sample")

    def over(self, search: Search) -> Search:
        """A translator's own settings, overridden by the options of the command."""
        found = replace(search, nbest=self.nbest, sampling=self._sampling())
        if self.beam is not None:
            found = replace(found, beam=self.beam)
        return found if self.length_penalty is None else replace(found, length_penalty=self.length_penalty)

    def _sampling(self) -> Sampling | None:
        from tongsa.decoding.search import Sampling

        if not self.sample:
            return None
        return Sampling(temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, seed=self.seed)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with each group of options spread over its signature, for typer to read."""
    groups: dict[str, type[Any]] = {}
    spread: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if dataclasses.is_dataclass(parameter.annotation):
            groups[parameter.name] = typing.cast(type[Any], parameter.annotation)
            spread += _fields(groups[parameter.name])
        else:
            spread.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in dataclasses.fields(group)})
        command(**values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    run.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    return run


def _fields(group: type[Any]) -> list[inspect.Parameter]:
    hints = typing.get_type_hints(group, include_extras=True)
    found = []
    for field in dataclasses.fields(group):
        kind, option = typing.get_args(hints[field.name])
        option = copy.copy(option)
        option.rich_help_panel = group.panel
        default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
        found.append(
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
            )
        )
    return found


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """`["model.d_model=256"]` as a dict; the recipe checks keys and values."""
    wrong = [setting for setting in settings or [] if "=" not in setting]
    if wrong:
        raise UsageError(
            f"--set {wrong[0]} has no value", "A setting is SECTION.KEY=VALUE, for example model.d_model=256"
        )
    parts = [setting.partition("=") for setting in settings or []]
    return {key.strip(): value.strip() for key, _, value in parts}


def check_minutes(minutes: float | None) -> None:
    if minutes is not None and not 0 < minutes < float("inf"):
        raise UsageError(f"--minutes must be above 0, not {minutes:g}")


def renamed(old: str, new: str) -> None:
    """Print a note about a new spelling; the old one works for one more version."""
    print(f"note: {old} will be removed in version 0.3; use  {new}", file=sys.stderr)
