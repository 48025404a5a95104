"""A recipe: everything that decides what a training gives, in five sections.

    [corpus] ─▶ [subwords] ─▶ [model] ─▶ [training] ─▶ [decoding]

Each section is a frozen dataclass and the one place of its defaults; the defaults are the paper's base model.
Recipes are read from TOML and checked once, here: every problem of a recipe is reported in one error.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from tongsa.errors import RecipeError

Values = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class CorpusSection:
    """Which pairs of the corpus are used."""

    max_tokens: int = 256
    """Pairs with more subwords than this on a side are left out, and counted."""
    max_ratio: float = 9.0
    """Pairs where one side has this many times the subwords of the other are left out, and counted (0: never)."""
    deduplicate: bool = False
    """Leave out repeated pairs."""
    mask: bool = False
    """Replace placeholders by {1}, {2}, ... on both sides, so that the model learns to carry them through documents."""
    held_out: int = 0
    """Pairs to hold out where no validation corpus is given (0: 2% of them, at most 2,000)."""
    encoding: str = "utf-8"
    """The encoding of the text files."""

    def problems(self) -> list[str]:
        return _bounds(self, at_least_1=["max_tokens"], at_least_0=["max_ratio", "held_out"])


@dataclass(frozen=True, kw_only=True)
class SubwordsSection:
    """How text becomes pieces (SentencePiece)."""

    size: int = 37000
    """Pieces in the vocabulary (§5.1: about 37,000, shared)."""
    kind: Literal["bpe", "unigram"] = "bpe"
    """Byte-pair encoding or a unigram language model."""
    joint: bool = True
    """One vocabulary for both languages, or one each."""
    byte_fallback: bool = True
    """Write characters outside the vocabulary as bytes, so that nothing is unknown."""
    character_coverage: float = 0.9999
    """Share of the characters that get a piece of their own."""
    sampling: float = 0.0
    """BPE-dropout probability, or the unigram sampling temperature; 0 segments always alike."""
    sample: int = 1_000_000
    """Lines, drawn with a seed, that the vocabulary is learnt from."""

    def problems(self) -> list[str]:
        found = _bounds(self, at_least_1=["size", "sample"], fractions=["sampling"])
        if not 0.9 <= self.character_coverage <= 1.0:
            found.append(f"character_coverage is {self.character_coverage}; it lies between 0.9 and 1")
        return found


@dataclass(frozen=True, kw_only=True)
class ModelSection:
    """What every architecture has; each architecture adds its own keys."""

    architecture: str = "transformer"
    """The name of the architecture (see tongsa.models)."""
    d_model: int = 512
    """Width of embeddings and hidden states."""
    dropout: float = 0.1
    """P_drop (§5.4)."""

    def problems(self) -> list[str]:
        return _bounds(self, at_least_1=["d_model"], fractions=["dropout"])


@dataclass(frozen=True, kw_only=True)
class TransformerSection(ModelSection):
    """The Transformer, in the letters of Table 3."""

    encoder_layers: int = 6
    """N of the encoder (§3.1)."""
    decoder_layers: int = 6
    """N of the decoder (§3.1)."""
    d_ff: int = 2048
    """Inner width of the feed-forward networks (§3.3)."""
    heads: int = 8
    """h, the parallel attention heads (§3.2.2)."""
    d_k: int = 0
    """Width of queries and keys of a head (0: d_model / heads)."""
    d_v: int = 0
    """Width of the values of a head (0: d_model / heads)."""
    norm: Literal["post", "pre"] = "post"
    """LayerNorm after each residual sum, as in the paper, or before each sublayer."""
    activation: Literal["relu", "gelu", "swish"] = "relu"
    """Between the two layers of the feed-forward network (Eq. 2 has ReLU)."""
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    """Position encodings (§3.5), or learned embeddings (Table 3, row E)."""
    max_positions: int = 1024
    """Learned positions there are; sinusoids go on for ever."""
    tied: bool = True
    """One matrix for both embeddings and the output (§3.4); without a joint vocabulary: the decoder's two."""
    output_bias: bool = False
    """A bias on the logits: the paper has none, models imported from Marian do."""

    @property
    def key_width(self) -> int:
        return self.d_k or self.d_model // self.heads

    @property
    def value_width(self) -> int:
        return self.d_v or self.d_model // self.heads

    def problems(self) -> list[str]:
        whole = ["encoder_layers", "decoder_layers", "d_ff", "heads", "max_positions"]
        found = super().problems() + _bounds(self, at_least_1=whole, at_least_0=["d_k", "d_v"])
        if self.d_model % 2:
            found.append(f"d_model is {self.d_model}; sines and cosines need an even number")
        if self.heads > 0 and self.d_model % self.heads and not (self.d_k and self.d_v):
            found.append(f"d_model {self.d_model} is no multiple of heads {self.heads}; give d_k and d_v of their own")
        return found


@dataclass(frozen=True, kw_only=True)
class TrainingSection:
    """How the weights are found."""

    updates: int = 100_000
    """Optimizer steps (§5.2), unless the minutes of --minutes are over first."""
    batch_tokens: int = 25_000
    """Target tokens of one update (§5.1)."""
    chunk_tokens: int = 0
    """Target tokens that go through the model at once: bounds the memory (0: chosen for the device)."""
    processes: int = 0
    """Worker processes on the CPU, a share of the threads each (0: chosen for the machine and the model)."""
    schedule: Literal["noam", "inverse-sqrt", "cosine", "constant"] = "noam"
    """The learning rate over time; noam is Eq. 3."""
    warmup: int = 4000
    """Updates in which the learning rate rises."""
    peak: float = 0.0
    """The highest learning rate; for noam 0 means Eq. 3 as it stands, else Eq. 3 scaled to this peak."""
    label_smoothing: float = 0.1
    """epsilon_ls (§5.4)."""
    beta1: float = 0.9
    """Adam's beta_1 (§5.3)."""
    beta2: float = 0.98
    """Adam's beta_2 (§5.3)."""
    epsilon: float = 1e-9
    """Adam's epsilon (§5.3)."""
    clip: float = 0.0
    """Largest norm of an update's gradient (0: no clipping, as in the paper)."""
    checkpoint_every: int = 0
    """Updates between two checkpoints (0: as often as validations)."""
    validate_every: int = 0
    """Updates between two validations (0: twenty in a training)."""
    validation_pairs: int = 2000
    """Pairs of the validation set that are scored while training."""
    patience: int = 0
    """Stop after so many validations without a better score (0: never)."""
    average: int = 5
    """Checkpoints averaged into the final weights (§6.1: the last 5); 1 takes one as it is."""
    average_of: Literal["last", "best"] = "last"
    """Which checkpoints are averaged: the last ones, or those with the best validation score."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Number format of the products on a GPU; weights and sums stay float32."""

    def problems(self) -> list[str]:
        found = _bounds(
            self,
            at_least_1=["updates", "batch_tokens", "warmup", "validation_pairs", "average"],
            at_least_0=["chunk_tokens", "processes", "peak", "clip"],
            fractions=["label_smoothing", "beta1", "beta2"],
        )
        found += _bounds(self, at_least_0=["checkpoint_every", "validate_every", "patience"])
        if self.schedule != "noam" and self.peak == 0:
            found.append(f'schedule "{self.schedule}" needs a peak: the highest learning rate, for example 0.001')
        return found


@dataclass(frozen=True, kw_only=True)
class DecodingSection:
    """How translations are searched for, unless the command says otherwise."""

    beam: int = 4
    """Hypotheses kept at each step (§6.1)."""
    length_penalty: float = 0.6
    """alpha of ((5 + n) / 6)^alpha (§6.1)."""
    max_extra: int = 50
    """Output tokens beyond max_ratio times the input's (§6.1: input length + 50)."""
    max_ratio: float = 1.0
    """See max_extra."""
    batch_tokens: int = 4096
    """Source tokens translated at once."""

    def problems(self) -> list[str]:
        return _bounds(
            self, at_least_1=["beam", "batch_tokens"], at_least_0=["length_penalty", "max_extra", "max_ratio"]
        )


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The five sections; `Recipe()` is the paper's base model."""

    corpus: CorpusSection = CorpusSection()
    subwords: SubwordsSection = SubwordsSection()
    model: ModelSection = TransformerSection()
    training: TrainingSection = TrainingSection()
    decoding: DecodingSection = DecodingSection()

    MODEL_SECTIONS: ClassVar[dict[str, type[ModelSection]]] = {"transformer": TransformerSection}
    """The keys of each architecture."""

    @classmethod
    def from_values(cls, values: Mapping[str, Values], where: str) -> Recipe:
        """Build and check a recipe; all its problems are told together."""
        if not isinstance(values, Mapping):
            raise RecipeError(f"{where} cannot be used", f"A recipe has the sections {', '.join(_SECTIONS)}.")
        problems = [f"[{name}] is no section{hint(name, _SECTIONS)}" for name in values if name not in _SECTIONS]
        built: dict[str, Any] = {}
        for name, section in _SECTIONS.items():
            given = values.get(name, {})
            if not isinstance(given, Mapping):
                problems.append(f"{name} must be a section: write [{name}] on a line of its own")
                continue
            if name == "model":
                section = cls._model_section(given, problems)
            arguments = {key: _checked(section, name, key, value, problems) for key, value in given.items()}
            try:
                built[name] = section(**{key: value for key, value in arguments.items() if value is not None})
            except TypeError:  # an unknown key, told of above
                continue
            problems += [f"{name}.{problem}" for problem in built[name].problems()]
        if problems:
            raise RecipeError(f"{where} cannot be used", *problems)
        return cls(**built)

    @classmethod
    def _model_section(cls, given: Values, problems: list[str]) -> type[ModelSection]:
        name = given.get("architecture", ModelSection.architecture)
        if not isinstance(name, str) or name not in cls.MODEL_SECTIONS:
            known = ", ".join(cls.MODEL_SECTIONS)
            problems.append(
                f"model.architecture {name!r} is unknown{hint(str(name), cls.MODEL_SECTIONS)} (known: {known})"
            )
            return TransformerSection
        return cls.MODEL_SECTIONS[name]

    def to_values(self) -> dict[str, dict[str, Any]]:
        """Every key with its value: what `from_values` reads."""
        return dataclasses.asdict(self)

    def to_toml(self) -> str:
        lines = []
        for name, section in self.to_values().items():
            lines += [f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in section.items()), ""]
        return "\n".join(lines)

    def with_settings(self, settings: Mapping[str, str], where: str = "--set") -> Recipe:
        """The recipe with `section.key` replaced, as `--set` gives them."""
        return Recipe.from_values(merge(self.to_values(), parse_settings(settings)), where)


_SECTIONS: dict[str, type[Any]] = {
    "corpus": CorpusSection,
    "subwords": SubwordsSection,
    "model": ModelSection,
    "training": TrainingSection,
    "decoding": DecodingSection,
}


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a recipe file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecipeError(f"{path} is not TOML: {error}") from error


def parse_settings(settings: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """`{"model.d_model": "256"}` as the tables that a TOML file would give."""
    values: dict[str, dict[str, Any]] = {}
    problems = []
    for name, text in settings.items():
        section, dot, key = name.partition(".")
        if not dot or section not in _SECTIONS:
            problems.append(f"{name}: a setting is SECTION.KEY=VALUE{hint(section, _SECTIONS)}")
            continue
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (tomllib.TOMLDecodeError, RecursionError):
            value = text  # a bare word is a string
        values.setdefault(section, {})[key] = value
    if problems:
        raise RecipeError("--set cannot be used", *problems, f"The sections are {', '.join(_SECTIONS)}.")
    return values


def merge(base: Mapping[str, Values], changes: Mapping[str, Values]) -> dict[str, Any]:
    """Tables with changes laid over them; another architecture takes no keys over from the one before."""
    # What should be a table and is none stays as it is, for `from_values` to tell of.
    merged: dict[str, Any] = {
        name: dict(table) if isinstance(table, Mapping) else table for name, table in base.items()
    }
    for name, table in changes.items():
        below = merged.get(name, {})
        if not isinstance(table, Mapping):
            merged[name] = table
            continue
        if not isinstance(below, Mapping):
            continue
        if name == "model" and "architecture" in table and table["architecture"] != below.get("architecture"):
            common = {field.name for field in dataclasses.fields(ModelSection)}
            below = {key: value for key, value in below.items() if key in common}
        merged[name] = {**below, **table}
    return merged


def _checked(section: type[Any], name: str, key: str, value: Any, problems: list[str]) -> Any:
    """The value in the field's own type, or None and a problem."""
    hints = typing.get_type_hints(section)
    fields = [field.name for field in dataclasses.fields(section)]
    if key not in fields:
        problems.append(f"{name}.{key} is no key of this recipe{hint(key, fields)}")
        return None
    kind = hints[key]
    if isinstance(kind, types.GenericAlias) or typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        if value not in choices:
            problems.append(f"{name}.{key} is {value!r}; it can be {', '.join(choices)}")
            return None
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        problems.append(f"{name}.{key} is {value!r}; it must be {_KINDS[kind]}")
        return None
    return value


_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _bounds(
    section: object,
    *,
    at_least_1: list[str] | None = None,
    at_least_0: list[str] | None = None,
    fractions: list[str] | None = None,
) -> list[str]:
    found = []
    for key in at_least_1 or []:
        if getattr(section, key) < 1:
            found.append(f"{key} is {getattr(section, key)}; it must be at least 1")
    for key in at_least_0 or []:
        if getattr(section, key) < 0:
            found.append(f"{key} is {getattr(section, key)}; it must not be negative")
    for key in fractions or []:
        if not 0 <= getattr(section, key) < 1:
            found.append(f"{key} is {getattr(section, key)}; it must be at least 0 and below 1")
    return found


def hint(word: str, known: typing.Iterable[str]) -> str:
    """`: did you mean ...?`, or nothing where no name is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f": did you mean {close[0]}?" if close else ""


def _toml(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):  # JSON escapes as TOML does, but for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
