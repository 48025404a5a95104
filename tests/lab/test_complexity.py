"""Table 1, and that an encoder sees as far as the table says."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from tongsa.config import ModelSection, TransformerSection
from tongsa.config.architectures import architecture_names, section_class
from tongsa.lab.compare.complexity import UNKNOWN, Order, row
from tongsa.models import build
from tongsa.models.attentional import AttentionalSection
from tongsa.models.bytenet import ByteNetSection
from tongsa.models.convs2s import ConvS2SSection
from tongsa.models.neural_gpu import NeuralGPUSection
from tongsa.models.recurrent import RecurrentSection

N = 16.0


def test_the_rows_of_the_paper() -> None:
    attention = row("t", TransformerSection(d_model=64), N)
    assert (attention.complexity, attention.sequential, attention.path) == (
        Order("n²·d", 16 * 16 * 64),
        Order("1", 1),
        Order("1", 1),
    )
    recurrent = row("r", RecurrentSection(d_model=64, hidden=32), N)
    assert (recurrent.complexity, recurrent.sequential, recurrent.path) == (
        Order("n·d²", 16 * 32 * 32),
        Order("n", 16),
        Order("n", 16),
    )
    convolution = row("c", ConvS2SSection(d_model=64, kernel=5), N)
    assert (convolution.complexity, convolution.sequential, convolution.path) == (
        Order("k·n·d²", 5 * 16 * 64 * 64),
        Order("1", 1),
        Order("n/k", 16 / 5),
    )
    dilated = row("b", ByteNetSection(d_model=64, kernel=3), N)
    assert dilated.complexity == Order("k·n·d²", 3 * 16 * 32 * 32)
    assert dilated.path == Order("log_k(n)", pytest.approx(math.log(16, 3)))


class Unheard(ModelSection):
    """An architecture that tells no facts."""


def test_an_architecture_that_tells_no_facts_is_called_unknown_and_nothing_is_made_up() -> None:
    found = row("mine", Unheard(d_model=32), N)
    assert (found.kind, found.d, found.complexity, found.sequential, found.path) == ("unknown", 32, None, None, None)
    assert (found.sees, found.decoder_path, found.layers) == (UNKNOWN, UNKNOWN, UNKNOWN)


@pytest.mark.parametrize("name", architecture_names())
def test_every_architecture_of_ours_tells_its_facts(name: str) -> None:
    assert section_class(name)(architecture=name).facts(N) is not None


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
    assert sees == ("all" if depended_on == length else f"{depended_on} positions")


def test_a_neural_gpu_sees_further_with_every_step() -> None:
    near, far = (row("g", NeuralGPUSection(layers=1, kernel=3), n).sees for n in (5.0, 10.0))
    assert (near, far) == ("11 positions", "21 positions")
