"""The walk-through: its numbers, multiplied out with numpy alone, give the model's logits."""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from tongsa.base.errors import UsageError
from tongsa.lab.walk_through.page import as_values, draw_walk
from tongsa.lab.walk_through.steps import Walk, walk_through
from tongsa.translation.translator import Translator

ROOT = Path(__file__).parents[2]
SENTENCE = "나는 책을 읽는다."

Matrix = Any


@pytest.fixture(scope="module")
def translator(trained_translator: Path) -> Translator:
    return Translator.load(trained_translator, engine="native", threads=1)


@pytest.fixture(scope="module")
def walk(translator: Translator) -> Walk:
    return walk_through(translator, SENTENCE, head=2)


def _softmax(x: Matrix) -> Matrix:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


class _Numpy:
    """The paper's layers, with the weights of the file and nothing of ours."""

    def __init__(self, weights: dict[str, Matrix], values: dict[str, Any]) -> None:
        self.weights = {name: matrix.astype(np.float64) for name, matrix in weights.items()}
        self.given = {
            (step["part"], step["name"]): np.array(
                [[-np.inf if value is None else value for value in row] for row in step["values"]]
            )
            for step in values["steps"]
        }
        self.heads, self.head = values["heads"], values["head"] - 1
        self.compared: set[tuple[str, str]] = set()

    def same(self, part: str, name: str, computed: Matrix) -> None:
        np.testing.assert_allclose(self.given[part, name], computed, rtol=0, atol=1e-4, err_msg=f"{part}: {name}")
        self.compared.add((part, name))

    def linear(self, name: str, x: Matrix) -> Matrix:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, name: str, x: Matrix) -> Matrix:
        x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def embedded(self, part: str) -> Matrix:
        ids = self.given[part, "tokens"][:, 0].astype(int)
        self.compared.add((part, "tokens"))
        table = self.weights["source_embedding.weight"]
        x, d = table[ids], table.shape[1]
        self.same(part, "embeddings", x)
        self.same(part, "scaled embeddings", x * np.sqrt(d))
        angles = np.arange(len(ids))[:, None] / 10000 ** (np.arange(0, d, 2) / d)
        positions = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(ids), d)
        self.same(part, "positions", positions)
        self.same(part, "input", x * np.sqrt(d) + positions)
        return self.given[part, "input"]

    def attended(self, part: str, where: str, end: str, x: Matrix, memory: Matrix, *, masked: bool = False) -> Matrix:
        found = []
        q, k, v = (self.linear(f"{where}.{name}", y) for name, y in (("w_q", x), ("w_k", memory), ("w_v", memory)))
        d = q.shape[1] // self.heads
        for head in range(self.heads):
            part_of = slice(head * d, (head + 1) * d)
            scores = q[:, part_of] @ k[:, part_of].T
            scaled = scores / np.sqrt(d)
            seen = np.where(np.tril(np.ones_like(scaled)) > 0, scaled, -np.inf) if masked else scaled
            weights = _softmax(seen)
            found.append(weights @ v[:, part_of])
            if head == self.head:
                for name, matrix in (("Q", q), ("K", k), ("V", v)):
                    self.same(part, name, matrix[:, part_of])
                self.same(part, "scores", scores)
                self.same(part, "scaled scores", scaled)
                if masked:
                    self.same(part, "masked scores", seen)
                self.same(part, "weights", weights)
                self.same(part, "head", found[-1])
        together = np.concatenate(found, axis=1)
        self.same(part, "concatenation", together)
        out = self.linear(f"{where}.w_o", together)
        self.same(part, "attention", out)
        self.same(part, "sum", x + out)
        self.same(part, "LayerNorm", self.norm(end, x + out))
        return self.given[part, "LayerNorm"]

    def fed_forward(self, part: str, where: str, end: str, x: Matrix) -> Matrix:
        inner = np.maximum(0, self.linear(f"{where}.linear_1", x))
        self.same(part, "inner", inner)
        out = self.linear(f"{where}.linear_2", inner)
        self.same(part, "feed-forward", out)
        self.same(part, "sum of the network", x + out)
        self.same(part, "LayerNorm of the network", self.norm(end, x + out))
        return self.given[part, "LayerNorm of the network"]


def test_multiplied_out_with_numpy_the_numbers_give_the_logits(
    walk: Walk, translator: Translator, trained_translator: Path
) -> None:
    values = json.loads(json.dumps(as_values(walk)))
    layer = _Numpy(load_file(trained_translator / "weights.safetensors"), values)
    x = layer.embedded("source")
    x = layer.attended("encoder", "encoder.0.self_attention", "encoder.0.residuals.0.norm", x, x)
    memory = layer.fed_forward("encoder", "encoder.0.feed_forward", "encoder.0.residuals.1.norm", x)
    y = layer.embedded("target")
    y = layer.attended("decoder", "decoder.0.self_attention", "decoder.0.residuals.0.norm", y, y, masked=True)
    y = layer.attended("cross", "decoder.0.cross_attention", "decoder.0.residuals.1.norm", y, memory)
    y = layer.fed_forward("network", "decoder.0.feed_forward", "decoder.0.residuals.2.norm", y)
    logits = y @ layer.weights["source_embedding.weight"][:-1].T
    layer.same("output", "logits", logits)
    assert set(layer.given) - layer.compared == {("output", "probabilities"), ("search", "hypotheses")}

    ids = [[[int(row[0]) for row in layer.given[side, "tokens"]]] for side in ("source", "target")]
    source, target = map(torch.tensor, ids)
    with torch.no_grad():
        model = translator.native.model(source, torch.ones_like(source, dtype=torch.bool), target)
    np.testing.assert_allclose(logits, model[0].numpy(), rtol=0, atol=1e-4)


def test_each_step_names_the_line_that_computes_it(walk: Walk) -> None:
    named = [step.where for step in walk.steps if step.where]
    assert len(named) > len(walk.steps) / 2
    for where in named:
        file, _, line = where.partition(":")
        assert re.match(r"\s*(def|class|@)", (ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1])


def test_the_page_shows_every_step_in_both_languages(walk: Walk) -> None:
    for language, said in (("en", "residual connection"), ("ko", "잔차 연결")):
        page = draw_walk(walk, language)
        assert f'<html lang="{language}"' in page
        assert said in page
        assert page.count('class="step"') == len(walk.steps)
        assert "-∞" in page


def test_what_cannot_be_shown_is_refused(translator: Translator) -> None:
    with pytest.raises(UsageError, match="no head 9"):
        walk_through(translator, SENTENCE, head=9)
    with pytest.raises(UsageError, match="no text"):
        walk_through(translator, " ")


NOTEBOOK = ROOT / "docs" / "walk-through.ipynb"
UPDATE = "UPDATE_GOLDEN=1 python -m pytest tests/lab/test_walk_through.py -k notebook"


def _run_cell(source: str, space: dict[str, Any]) -> str:
    """Run a cell as a notebook does, and return its last value as text."""
    *statements, last = ast.parse(source).body
    assert isinstance(last, ast.Expr), "a cell ends with what it shows"
    exec(compile(ast.Module(statements, []), "notebook", "exec"), space)
    return repr(eval(compile(ast.Expression(last.value), "notebook", "eval"), space))


def _result(count: int, text: str) -> dict[str, Any]:
    data = {"text/plain": text.splitlines(keepends=True)}
    return {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}


def _words_and_numbers(text: str) -> tuple[list[str], list[float]]:
    number = r"-?\d+\.\d*(?:e-?\d+)?"
    return re.sub(rf"{number}|\s", "", text).split(), [float(found) for found in re.findall(number, text)]


def test_the_notebook_runs_and_shows_what_is_stored_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    space: dict[str, Any] = {}
    shown = []
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(cells, 1):
        shown.append(_result(count, _run_cell("".join(cell["source"]), space)))
        if os.environ.get("UPDATE_GOLDEN"):
            cell["outputs"], cell["execution_count"] = [shown[-1]], count
    assert space["difference"] < 1e-4
    if os.environ.get("UPDATE_GOLDEN"):
        NOTEBOOK.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for cell, result in zip(cells, shown, strict=True):
        (stored,) = cell["outputs"]
        (words, numbers), (stored_words, stored_numbers) = (
            _words_and_numbers("".join(each["data"]["text/plain"])) for each in (result, stored)
        )
        assert words == stored_words, f"after a change that is meant: {UPDATE}"
        np.testing.assert_allclose(numbers, stored_numbers, rtol=0, atol=0.02, err_msg=UPDATE)
