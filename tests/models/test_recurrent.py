"""Cells beside PyTorch's own, and models that hand everything over in one vector."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tongsa.base.errors import RecipeError
from tongsa.config import Recipe
from tongsa.config.presets import load_recipe
from tongsa.models import build
from tongsa.models.attentional import AttentionalSection
from tongsa.models.cells import CELLS, Hidden, Kind, Layers, RecurrentEncoder, Stack, Weights
from tongsa.models.contracts import token_mask
from tongsa.models.recurrent import DeepOutput, Recurrent, RecurrentSection, reversed_within

ALL: list[Kind] = ["rnn", "rnn-relu", "gru", "lstm"]
kinds = pytest.mark.parametrize("kind", ALL)

PAD = 11


def parts(kind: Kind, rows: int, width: int) -> Hidden:
    return tuple(torch.randn(rows, width) for _ in range(2 if kind == "lstm" else 1))


@kinds
def test_a_cell_is_the_cell_of_torch(kind: Kind) -> None:
    torch.manual_seed(0)
    theirs = {
        "rnn": nn.RNNCell,
        "rnn-relu": partial(nn.RNNCell, nonlinearity="relu"),
        "gru": nn.GRUCell,
        "lstm": nn.LSTMCell,
    }[kind](7, 5)
    x, hidden = torch.randn(4, 7), parts(kind, 4, 5)
    weights = (theirs.weight_ih, theirs.weight_hh, theirs.bias_ih, theirs.bias_hh)
    found = CELLS[kind](x, hidden, weights)
    expected = theirs(x, hidden if kind == "lstm" else hidden[0])
    for one, other in zip(found, expected if kind == "lstm" else (expected,), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


@kinds
@pytest.mark.parametrize("layers", [1, 3])
def test_steps_of_a_stack_are_the_kernel_of_torch_gradients_too(kind: Kind, layers: int) -> None:
    torch.manual_seed(0)
    stack = Stack(kind, 7, 6, layers, dropout=0.4).eval()
    x, first = torch.randn(4, 5, 7), tuple(parts(kind, 4, 6) for _ in range(layers))

    def by_steps() -> Tensor:
        states: Layers = first
        tops = []
        for x_t in x.unbind(dim=1):
            states = stack.step(x_t, states)
            tops.append(states[-1][0])
        return torch.stack(tops, dim=1)

    found = []
    for whole in (by_steps(), stack(x, first)):
        stack.zero_grad()
        (whole * torch.linspace(-1, 1, whole.numel()).view_as(whole)).sum().backward()
        found.append([whole.detach(), *(p.grad.clone() for p in stack.parameters() if p.grad is not None)])
    assert len(found[0]) == 1 + 4 * layers
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def weights(kernel: nn.RNNBase, layer: int, backward: bool) -> Weights:
    end = f"_l{layer}{'_reverse' if backward else ''}"
    w, u, b_w, b_u = (getattr(kernel, name + end) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    return w, u, b_w, b_u


def read(kind: Kind, encoder: RecurrentEncoder, x: Tensor) -> tuple[Tensor, Layers]:
    """One sentence (positions, width), by cells: the readable twin of the encoder."""
    units = encoder.kernel.hidden_size
    last: list[Hidden] = []
    for layer in range(encoder.kernel.num_layers):
        sides, ends = [], []
        for backward in (False, True)[: encoder.directions]:
            hidden: Hidden = tuple(torch.zeros(1, units) for _ in range(2 if kind == "lstm" else 1))
            outputs = []
            for x_t in x.flip(0) if backward else x:
                hidden = CELLS[kind](x_t[None], hidden, weights(encoder.kernel, layer, backward))
                outputs.append(hidden[0])
            sides.append(torch.cat(outputs[::-1] if backward else outputs))
            ends.append(hidden)
        x = torch.cat(sides, dim=1)
        last.append(tuple(torch.cat(each, dim=1) for each in zip(*ends, strict=True)))
    return x, tuple(last)


@kinds
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
def test_an_encoder_reads_each_sentence_of_a_padded_batch_as_its_twin_does(
    kind: Kind, bidirectional: bool, layers: int
) -> None:
    torch.manual_seed(0)
    encoder = RecurrentEncoder(kind, 7, 6, layers, dropout=0.0, bidirectional=bidirectional)
    lengths = [2, 5, 1, 4]
    x, mask = torch.randn(4, 6, 7), token_mask(torch.tensor(lengths), 6)
    outputs, last = encoder(x, mask)
    assert outputs.shape == (4, 6, 6)
    for row, length in enumerate(lengths):
        expected, ends = read(kind, encoder, x[row, :length])
        torch.testing.assert_close(outputs[row, :length], expected, atol=1e-6, rtol=0)
        for layer, end in enumerate(ends):
            for found, each in zip(last[layer], end, strict=True):
                torch.testing.assert_close(found[row], each[0], atol=1e-6, rtol=0)


def test_a_source_is_reversed_within_its_own_length_and_its_end_stays_last() -> None:
    source = torch.tensor([[2, 3, 4, 5, 0], [6, 7, 0, PAD, PAD], [0, PAD, PAD, PAD, PAD]])
    found = reversed_within(source, source != PAD)
    assert found.tolist() == [[5, 4, 3, 2, 0], [7, 6, 0, PAD, PAD], [0, PAD, PAD, PAD, PAD]]


def cell(kind: Kind) -> dict[str, str]:
    return {"architecture": "rnn", "activation": "relu"} if kind == "rnn-relu" else {"architecture": kind}


def make(**keys: Any) -> Recurrent:
    torch.manual_seed(0)
    return Recurrent(RecurrentSection(**{"d_model": 8, "dropout": 0.0, **keys}), PAD + 1).eval()


def test_reversing_the_source_is_reading_it_reversed() -> None:
    ahead, back = make(), make(reverse=True)
    mask, target = torch.ones(1, 4, dtype=torch.bool), torch.tensor([[PAD, 3]])
    torch.testing.assert_close(
        back(torch.tensor([[2, 3, 4, 0]]), mask, target), ahead(torch.tensor([[4, 3, 2, 0]]), mask, target)
    )


@kinds
def test_all_that_the_decoder_knows_of_a_source_has_the_size_of_its_states(kind: Kind) -> None:
    """The one vector: however long the sentence, nothing more of it goes over."""
    model = make(**cell(kind), layers=2, hidden=10, feed_context=True)
    for length in (1, 30):
        source = torch.randint(2, PAD, (3, length))
        state = model.start(model.encode(source, torch.ones_like(source, dtype=torch.bool)))
        layers = [[tuple(part.shape) for part in layer] for layer in state.cache]  # type: ignore[union-attr]
        assert layers == 2 * [(2 if kind == "lstm" else 1) * [(3, 10)]]
        assert [tuple(part.shape) for part in state.memory] == [(3, 10)]


def test_the_context_is_seen_at_every_step_where_it_is_fed() -> None:
    """With the decoder's states put to zero, only a fed context still tells sources apart."""
    for fed in (False, True):
        model = make(feed_context=fed)
        sources = torch.tensor([[2, 3, 0], [7, 8, 0]])
        state = model.start(model.encode(sources, torch.ones_like(sources, dtype=torch.bool)))
        cache = tuple(tuple(torch.zeros_like(part) for part in layer) for layer in state.cache)  # type: ignore[union-attr]
        logits, _ = model.step(torch.tensor([5, 5]), state._replace(cache=cache))
        assert torch.allclose(logits[0], logits[1], atol=1e-7) != fed


def test_maxout_takes_the_larger_of_each_pair() -> None:
    layer = DeepOutput(2, 2)
    with torch.no_grad():
        layer.linear.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]))
        layer.linear.bias.zero_()
    assert layer(torch.tensor([[3.0]]), torch.tensor([[-5.0]])).tolist() == [[3.0, 5.0]]


def test_an_lstm_begins_by_keeping_what_it_has_read() -> None:
    model = make(architecture="lstm", forget_bias=1.5)
    bias = model.decoder.kernel.bias_ih_l0
    assert bias.unflatten(0, (4, 8))[1].tolist() == 8 * [1.5]
    assert not bias.unflatten(0, (4, 8))[[0, 2, 3]].any()


@kinds
def test_recurrent_matrices_of_gates_without_a_memory_are_orthogonal(kind: Kind) -> None:
    u = make(**cell(kind)).decoder.kernel.weight_hh_l0
    for gate in u.split(8):
        assert torch.allclose(gate @ gate.T, torch.eye(8), atol=1e-5) == (kind != "lstm")


def test_two_directions_need_an_even_number_of_units() -> None:
    with pytest.raises(RecipeError, match=r"model\.hidden is 9; two directions share the units, so it must be even"):
        Recipe.from_values({"model": {"architecture": "gru", "hidden": 9, "bidirectional": True}}, "a test")


def test_only_a_simple_cell_has_a_choice_of_activation() -> None:
    with pytest.raises(RecipeError, match=r"model\.activation is relu; only the cell of rnn has a choice"):
        Recipe.from_values({"model": {"architecture": "gru", "activation": "relu"}}, "a test")


def test_keys_of_the_transformer_are_none_of_theirs() -> None:
    with pytest.raises(RecipeError, match=r"unknown key model\.heads"):
        Recipe.from_values({"model": {"architecture": "lstm", "heads": 4}}, "a test")


def test_an_lstm_begins_with_a_forget_bias_of_1_in_all_and_no_other() -> None:
    """A kernel of PyTorch's has two vectors of biases, which it adds up."""
    sizes: dict[str, Any] = {"d_model": 8, "hidden": 8, "layers": 2}
    sections = [RecurrentSection(architecture="lstm", **sizes), AttentionalSection(**sizes)]
    for model in (build(section, PAD + 1, None) for section in sections):
        kernels = [module for module in model.modules() if isinstance(module, nn.LSTM)]
        assert len(kernels) >= 2
        for kernel in kernels:
            biases = {name: bias for name, bias in kernel.named_parameters() if name.startswith("bias_ih")}
            assert len(biases) == kernel.num_layers * (2 if kernel.bidirectional else 1)
            for name, bias in biases.items():
                i, f, g, o = (bias + getattr(kernel, name.replace("_ih", "_hh"))).detach().chunk(4)
                assert torch.equal(f, torch.ones_like(f))
                assert not torch.cat([i, g, o]).any()


def test_the_plain_recipe_shows_its_vector_once_and_has_no_maxout() -> None:
    section = load_recipe("rnn-plain", {"model.d_model": "8", "model.hidden": "8"}).model
    assert isinstance(section, RecurrentSection)
    model = Recurrent(section, PAD + 1)
    source = torch.tensor([[2, 3, 0]])
    state = model.start(model.encode(source, torch.ones_like(source, dtype=torch.bool)))
    assert state.memory == ()
    assert model.deep_output is None


def test_the_vector_of_the_bidirectional_recipe_has_read_both_ends_last() -> None:
    section = load_recipe("lstm-bidirectional", {"model.d_model": "8", "model.hidden": "8"}).model
    assert isinstance(section, RecurrentSection)
    assert (section.bidirectional, section.reverse, section.feed_context) == (True, False, False)
