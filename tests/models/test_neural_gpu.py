"""The Extended Neural GPU: what its paper says, beside what holds for every architecture."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from reach import reached
from torch import Tensor
from torch.nn.functional import conv2d, embedding

from tongsa.config.presets import load_recipe
from tongsa.models import neural_gpu
from tongsa.models.contracts import token_mask
from tongsa.models.neural_gpu import CGRU, NeuralGPU, NeuralGPUSection

SMALL = {"d_model": 6, "rows": 3, "layers": 2, "dropout": 0.0}


def make(**changes: Any) -> NeuralGPU:
    torch.manual_seed(1)
    return NeuralGPU(NeuralGPUSection(**{**SMALL, **changes}), 12).eval()


def sentence(length: int) -> tuple[Tensor, Tensor]:
    return torch.arange(length)[None] % 9 + 2, token_mask(torch.tensor([length]), length)


def kernel(weight: Tensor, rows: int, m: int) -> Tensor:
    """(outputs, rows * 3 * m) as torch has kernels: (outputs, m, rows, 3)."""
    return weight.unflatten(1, (rows, 3, m)).permute(0, 3, 1, 2)


def plain_cgru(unit: CGRU, s: Tensor, tape: Tensor | None = None, w: list[Tensor] | None = None) -> Tensor:
    """Eq. 1 with torch's own convolutions of the image s and the tape p (1, m, w, n)."""
    m = s.shape[1]
    side = (unit.rows // 2, 1)

    def sums(linear: torch.nn.Linear, x: Tensor) -> Tensor:
        return conv2d(x, kernel(linear.weight, unit.rows, m), linear.bias, padding=side)

    from_tape = [conv2d(tape, each, padding="same") for each in w] if tape is not None and w else [0.0] * 3
    update, reset = sums(unit.gates, s).chunk(2, dim=1)
    u, r = torch.sigmoid(update + from_tape[0]), torch.sigmoid(reset + from_tape[1])
    return u * s + (1 - u) * torch.tanh(sums(unit.change, r * s) + from_tape[2])


def tape_kernels(model: NeuralGPU, layer: int) -> list[Tensor]:
    """W', W'' and W of one CGRU^d as torch's kernels (m, m, 3, 3); the tape has nothing below its first row."""
    m, tape = model.config.d_model, model.tape
    # (rows down, columns from left to right of the symbol, 3m, m): torch's kernels look, these spread.
    spread = tape.linear.weight.unflatten(0, (tape.layers, tape.below, 3, 3 * m))[layer]
    whole = torch.zeros(3 * m, m, 3, 3)
    for down in range(tape.below):
        for right in range(3):
            whole[:, :, 1 - down, 2 - right] = spread[down, right]
    return list(whole.split(m))


def plainly(model: NeuralGPU, source: Tensor, target: Tensor) -> Tensor:
    """The features of one pair (target, m): every convolution in full, the tape p as the paper keeps it."""
    config = model.config
    scale = math.sqrt(config.d_model)
    n = math.ceil(config.unfold_a * len(source)) + config.unfold_b
    s = torch.zeros(1, config.d_model, config.rows, n)
    s[0, :, 0, : len(source)] = scale * embedding(source, model.source_embedding.weight).T
    for _ in source:
        for unit in model.encoder:
            s = plain_cgru(unit, s)  # type: ignore[arg-type]
    p, found = torch.zeros_like(s), []
    for step, token in enumerate(target):
        if 0 < step <= n:
            p[0, :, 0, step - 1] = scale * model.target_embedding.weight[token]
        for layer, unit in enumerate(model.decoder):
            s = plain_cgru(unit, s, p, tape_kernels(model, layer))  # type: ignore[arg-type]
        found.append(s[0, :, 0, min(step, n - 1)])
    return torch.stack(found)


@pytest.mark.parametrize(
    "changes", [{}, {"rows": 1, "layers": 1}, {"rows": 2, "unfold_a": 1.0, "unfold_b": 0}], ids=str
)
@torch.no_grad()
def test_a_batch_gives_what_whole_convolutions_of_image_and_tape_give_one_by_one(changes: dict[str, Any]) -> None:
    model = make(**changes)
    rows = [([2, 3, 4, 5, 6], [11, 4, 4, 7, 8, 9, 3]), ([8, 9, 0], [11, 3, 2, 5, 6, 7, 4])]
    source = torch.tensor([rows[0][0], rows[1][0] + [11, 11]])
    mask = token_mask(torch.tensor([5, 3]), 5)
    together = model.features(model.encode(source, mask), torch.tensor([target for _, target in rows]))
    for found, (read, target) in zip(together, rows, strict=True):
        torch.testing.assert_close(found, plainly(model, torch.tensor(read), torch.tensor(target)), atol=1e-5, rtol=0)


def test_a_sentence_takes_as_many_steps_as_it_has_tokens() -> None:
    model = make(layers=1)
    taken: list[Tensor] = []
    model.encoder[0].register_forward_hook(lambda module, given, after: taken.append(after))
    image, there = model.encode(torch.tensor([[2, 3, 4, 5], [6, 0, 11, 11]]), token_mask(torch.tensor([4, 2]), 4))
    assert len(taken) == 4
    torch.testing.assert_close(image[0], taken[3][0])
    torch.testing.assert_close(image[1], taken[1][1])
    assert there.sum(dim=1).tolist() == [math.ceil(1.2 * 4) + 6, math.ceil(1.2 * 2) + 6]
    assert not image[1, :, 9:].any(), "columns that the shorter one has not"


@pytest.mark.parametrize(("length", "layers"), [(1, 1), (3, 1), (2, 2)])
def test_a_unit_carries_a_symbol_one_column_further_into_the_empty_image(length: int, layers: int) -> None:
    model = make(layers=layers, unfold_b=30)
    reach = layers * length

    def column(place: int) -> list[int]:
        return reached(model.source_embedding, lambda: model.encode(*sentence(length))[0][0, :, place])

    last = length - 1
    assert last in column(last + reach)
    assert last not in column(last + reach + 1)


def test_what_was_written_is_read_from_the_tape_by_every_later_step() -> None:
    model = make(rows=2, tied=False)
    target = torch.tensor([[11, 5, 6, 7, 8]])
    for step in range(5):
        found = reached(
            model.target_embedding, lambda step=step: model.features(model.encode(*sentence(4)), target)[0, step]
        )
        assert found == list(range(1, step + 1)), "<pad> comes before the first place, and is written nowhere"


def test_gates_begin_by_keeping_the_image() -> None:
    for unit in make().encoder:
        assert bool((unit.gates.bias == 1).all())
        assert not unit.change.bias.any()


@pytest.mark.parametrize("length", [1, 2, 9])
def test_steps_that_are_computed_again_give_the_same_gradient_bit_for_bit(
    monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    gradients = []
    for most in (1 << 40, 0):
        monkeypatch.setattr(neural_gpu, "MOST_KEPT", most)
        model = make(dropout=0.2).train()
        source, mask = sentence(length)
        source, mask = source.repeat(2, 1), mask.repeat(2, 1)
        mask[1, length // 2 + 1 :] = False
        torch.manual_seed(2)
        features = model.features(model.encode(source, mask), source)
        features.square().sum().backward()
        gradients.append([features.detach(), *(p.grad for p in model.parameters() if p.grad is not None)])
    assert all(torch.equal(once, again) for once, again in zip(*gradients, strict=True))


def test_long_sentences_keep_little_for_the_backward_pass() -> None:
    """256 subwords on both sides, at the width that `auto` chooses: 9 GB without computing steps again."""
    model = make(d_model=256, rows=4)
    image = torch.empty(1, 4, 314, 256, device="meta")
    inside = model.config.layers * (2 * 9 + neural_gpu.KEPT_BESIDE_TAPS)
    kept = 0
    for inputs in (1, 7):
        segments = [steps for steps, _ in model._segments(257, image, inputs)]
        assert [step for steps in segments for step in steps] == list(range(257))
        kept += len(segments) * inputs + max(map(len, segments)) * inside
    assert 2 * 257 * inside * image.numel() * 4 > 9e9
    assert kept * image.numel() * 4 < 1.3e9


def test_the_recipe_has_an_image_and_no_mere_row() -> None:
    section = load_recipe("extended-neural-gpu", {}).model
    assert isinstance(section, NeuralGPUSection)
    assert (section.rows, section.layers) == (4, 2)
    assert CGRU(section).rows == 3  # a kernel of 3 x 3, which one row would make 1 x 3
