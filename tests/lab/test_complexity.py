"""Table 1, and that an encoder sees as far as the table says."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from tongsa.config import (
    AttentionalSection,
    ByteNetSection,
    ConvS2SSection,
    ModelSection,
    NeuralGPUSection,
    RecurrentSection,
    TransformerSection,
)
from tongsa.lab.compare.complexity import row
from tongsa.models import build

N = 16.0


def test_the_rows_of_the_paper() -> None:
    attention = row("t", TransformerSection(d_model=64), N)
    assert (attention.complexity, attention.operations, attention.steps, attention.longest) == (
        "n²·d",
        16 * 16 * 64,
        1,
        1,
    )
    recurrent = row("r", RecurrentSection(d_model=64, hidden=32), N)
    assert (recurrent.complexity, recurrent.operations, recurrent.steps, recurrent.longest) == (
        "n·d²",
        16 * 32 * 32,
        16,
        16,
    )
    convolution = row("c", ConvS2SSection(d_model=64, kernel=5), N)
    assert (convolution.operations, convolution.steps, convolution.longest) == (5 * 16 * 64 * 64, 1, 16 / 5)
    dilated = row("b", ByteNetSection(d_model=64, kernel=3), N)
    assert (dilated.operations, dilated.longest) == (3 * 16 * 32 * 32, pytest.approx(math.log(16, 3)))


def test_attention_shortens_the_way_from_source_to_target() -> None:
    assert row("a", AttentionalSection(), N).decoder_path.startswith("1,")
    assert row("l", RecurrentSection(), N).decoder_path.startswith("up to 2n")


@pytest.mark.parametrize(
    "section",
    [
        ConvS2SSection(d_model=8, encoder_layers=3, decoder_layers=1, kernel=5, dropout=0.0),
        ByteNetSection(d_model=8, sets=1, max_dilation=4, kernel=3, dropout=0.0),
        TransformerSection(d_model=8, d_ff=8, heads=2, encoder_layers=1, decoder_layers=1, dropout=0.0),
    ],
)
def test_one_output_of_an_encoder_sees_as_many_positions_as_the_table_says(section: ModelSection) -> None:
    torch.manual_seed(0)
    length = 61
    model = build(section, 100, None).double().eval()
    seen: list[Tensor] = []
    embeddings = [module for module in model.modules() if isinstance(module, nn.Embedding)]
    hooks = [module.register_forward_hook(lambda module, inputs, output: seen.append(output)) for module in embeddings]
    source = torch.arange(length)[None]
    memory = model.encode(source, torch.ones_like(source, dtype=torch.bool))
    for hook in hooks:
        hook.remove()
    encoded = memory
    while isinstance(encoded, tuple):
        encoded = encoded[0]
    (gradient,) = torch.autograd.grad(encoded[0, length // 2].square().sum(), seen[0])
    depended_on = int((gradient[0].abs().sum(dim=-1) > 0).sum())
    sees = row("model", section, float(length)).sees
    assert depended_on == (length if sees is None else sees)


def test_a_neural_gpu_sees_further_with_every_step() -> None:
    near, far = (row("g", NeuralGPUSection(layers=1, kernel=3), n).sees for n in (5.0, 10.0))
    assert (near, far) == (11, 21)
