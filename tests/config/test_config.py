"""Recipes: checked once, all problems together, and the same after a round trip through TOML."""

from __future__ import annotations

import ast
import dataclasses
import tomllib
import typing
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tongsa
from tongsa.base.errors import RecipeError
from tongsa.config import Recipe, TransformerSection, merge, parse_settings, read_toml
from tongsa.config.schedules import SCHEDULES

ROOT = Path(tongsa.__file__).parent


def _values(section: type[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any values of the right types, possible or not."""
    kinds: dict[Any, st.SearchStrategy[Any]] = {
        int: st.integers(-3, 2**40),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        str: st.text(st.characters(blacklist_categories=["Cs"])),
    }
    optional = {}
    for key, kind in typing.get_type_hints(section).items():
        choices = typing.get_origin(kind) is Literal
        optional[key] = st.sampled_from(typing.get_args(kind)) if choices else kinds[kind]
    optional.pop("architecture", None)
    return st.fixed_dictionaries({}, optional=optional)


SECTIONS = {
    field.name: TransformerSection if field.name == "model" else type(getattr(Recipe(), field.name))
    for field in dataclasses.fields(Recipe)
}


@given(st.fixed_dictionaries({}, optional={name: _values(section) for name, section in SECTIONS.items()}))
def test_a_recipe_is_the_same_after_toml_and_never_breaks_in_another_way(values: dict[str, dict[str, Any]]) -> None:
    try:
        recipe = Recipe.from_values(values, "test")
    except RecipeError:
        return
    assert Recipe.from_values(tomllib.loads(recipe.to_toml()), "test") == recipe
    assert Recipe.from_values(recipe.to_values(), "test") == recipe


@given(st.text(st.characters(blacklist_categories=["Cs"])))
def test_any_text_survives_toml(encoding: str) -> None:
    recipe = Recipe.from_values({"corpus": {"encoding": encoding}}, "test")
    assert tomllib.loads(recipe.to_toml())["corpus"]["encoding"] == encoding


def test_the_defaults_are_the_papers_base_model() -> None:
    recipe = Recipe()
    model = recipe.model
    assert isinstance(model, TransformerSection)
    assert (model.encoder_layers, model.decoder_layers, model.d_model, model.d_ff, model.heads) == (6, 6, 512, 2048, 8)
    assert (model.key_width, model.value_width, model.dropout, recipe.training.label_smoothing) == (64, 64, 0.1, 0.1)
    assert (recipe.training.beta1, recipe.training.beta2, recipe.training.epsilon) == (0.9, 0.98, 1e-9)
    assert (recipe.training.schedule, recipe.training.warmup, recipe.training.updates) == ("noam", 4000, 100_000)
    assert (recipe.decoding.beam, recipe.decoding.length_penalty) == (4, 0.6)
    assert recipe.model.norm == "post"  # type: ignore[attr-defined]
    assert Recipe.from_values({}, "test") == recipe


@pytest.mark.parametrize(
    "path", [*ROOT.glob("config/*.py"), *ROOT.glob("models/*.py")], ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_every_key_has_a_line_that_explains_it(path: Path) -> None:
    for section in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(section, ast.ClassDef) and section.name.endswith(("Section", "Layers")):
            for field, after in zip(section.body, [*section.body[1:], None], strict=True):
                if isinstance(field, ast.AnnAssign):
                    told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                    assert told, f"{section.name}.{ast.unparse(field.target)} has no docstring line"


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("model.d_model", "70000", "at most 65,536"),
        ("model.encoder_layers", "1001", "at most 1,000"),
        ("training.updates", "10000000000", "at most 1,000,000,000"),
        ("decoding.beam", "1001", "at most 1,000"),
        ("corpus.max_tokens", "0", "at least 1"),
        ("decoding.max_ratio", "-1", "not be negative"),
    ],
)
def test_values_out_of_all_proportion_are_refused(setting: str, value: str, told: str) -> None:
    with pytest.raises(RecipeError, match=f"{setting} is .*{told}"):
        Recipe().with_settings({setting: value})


@pytest.mark.parametrize(("setting", "value"), [("model.d_model", "65536"), ("decoding.beam", "1000")])
def test_a_limit_includes_its_own_value(setting: str, value: str) -> None:
    Recipe().with_settings({setting: value})


def test_all_problems_are_told_together() -> None:
    values = {
        "modle": {},
        "model": {"d_modle": 3, "heads": "x", "dropout": 1.5},
        "training": {"schedule": "linear", "updates": 0, "peak": -1.0},
        "decoding": 5,
    }
    with pytest.raises(RecipeError) as caught:
        Recipe.from_values(values, "my.toml")  # type: ignore[arg-type]
    what, *problems = str(caught.value).split("\n  ")
    assert what == "my.toml cannot be used"
    assert problems == [
        "unknown section [modle]: did you mean model?",
        "unknown key model.d_modle: did you mean d_model?",
        "model.heads is 'x'; it must be a whole number",
        "model.dropout is 1.5; it must be at least 0 and below 1",
        "training.updates is 0; it must be at least 1",
        "training.peak is -1.0; it must not be negative",
        f"training.schedule is 'linear'; it can be {', '.join(SCHEDULES)}",
        "decoding must be a section: write [decoding] on a line of its own",
    ]


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("model.d_model", "256.5", "whole number"),
        ("model.d_model", "true", "whole number"),
        ("model.d_model", "", "whole number"),
        ("model.d_model", "127", "even"),
        ("model.heads", "7", "multiple of heads"),
        ("model.tied", "1", "true or false"),
        ("model.norm", "[1]", "post, pre"),
        ("model.architecture", "transfomer", "did you mean transformer"),
        ("model.architecture", "[1]", "unknown"),
        ("training.peak", "nan", "a number"),
        ("training.clip", "inf", "a number"),
        ("training.schedule", "cosine", "needs a peak"),
        ("training.clip", "[" * 10_000, "a number"),
        ("corpus.encoding", "5", "a text"),
        ("subwords.character_coverage", "0.97", "between 0.98 and 1"),
        ("modell.d_model", "5", "did you mean model"),
        ("d_model", "5", "SECTION.KEY=VALUE"),
        ("model.", "5", "unknown key"),
    ],
)
def test_a_setting_that_cannot_be_is_told(setting: str, value: str, told: str) -> None:
    with pytest.raises(RecipeError) as caught:
        Recipe().with_settings({setting: value})
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("model.d_model", "256", 256),
        ("model.dropout", "0", 0.0),
        ("training.epsilon", "1e-8", 1e-8),
        ("model.tied", "false", False),
        ("corpus.encoding", "cp949", "cp949"),
        ("corpus.encoding", '"cp949"', "cp949"),
        ("model.positions", "learned", "learned"),
    ],
)
def test_settings_are_read_as_toml_or_bare_words(setting: str, value: str, expected: object) -> None:
    section, key = setting.split(".")
    found = Recipe().with_settings({setting: value}).to_values()[section][key]
    assert (found, type(found)) == (expected, type(expected))


def test_own_widths_of_keys_and_values_free_the_width_of_the_model() -> None:
    recipe = Recipe().with_settings({"model.heads": "7", "model.d_k": "64", "model.d_v": "32"})
    assert recipe.model.key_width == 64  # type: ignore[attr-defined]


def test_merging_lays_changes_over_and_leaves_the_base_alone() -> None:
    base = {"model": {"d_model": 128, "heads": 4}}
    assert merge(base, {"model": {"heads": 2}, "training": {"updates": 5}}) == {
        "model": {"d_model": 128, "heads": 2},
        "training": {"updates": 5},
    }
    assert base == {"model": {"d_model": 128, "heads": 4}}


def test_another_architecture_takes_over_only_what_all_have() -> None:
    base = {"model": {"architecture": "transformer", "d_model": 128, "heads": 4}}
    assert merge(base, {"model": {"architecture": "other"}}) == {"model": {"architecture": "other", "d_model": 128}}


def test_settings_of_several_keys_gather_by_section() -> None:
    assert parse_settings({"model.heads": "4", "model.norm": "pre", "training.clip": "1.5"}) == {
        "model": {"heads": 4, "norm": "pre"},
        "training": {"clip": 1.5},
    }


@pytest.mark.parametrize("values", [None, [], "text", 5, [{}]])
def test_values_that_are_no_tables_are_told(values: Any) -> None:
    with pytest.raises(RecipeError, match="card cannot be used"):
        Recipe.from_values(values, "card")


def test_files_that_are_no_toml_are_told(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    with pytest.raises(RecipeError, match=r"recipe\.toml cannot be read: No such file"):
        read_toml(path)
    for content in (b"[model\n", b"\xff\xfe", b"x = " + b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(RecipeError, match=r"recipe\.toml is not TOML"):
            read_toml(path)
