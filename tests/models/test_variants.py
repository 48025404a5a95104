"""Variants of the paper's layers, against formulas written out in numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from tongsa.base.errors import RecipeError
from tongsa.config import Recipe, TransformerSection
from tongsa.models.attention import MultiHeadAttention, attention, fused_attention
from tongsa.models.contracts import causal_mask, token_mask
from tongsa.models.embeddings import sinusoids
from tongsa.models.layers import EncoderLayer, embed, initialise, positions
from tongsa.models.transformer import Transformer
from tongsa.models.variants import (
    AdditiveAttention,
    NoPositions,
    RestrictedAttention,
    dot_product_attention,
    multi_head,
)

Array = NDArray[np.float64]
Maker = Callable[..., Transformer]
Batch = tuple[Tensor, Tensor, Tensor]


def section(**keys: Any) -> TransformerSection:
    return TransformerSection(**{"d_model": 8, "d_ff": 12, "heads": 2, "dropout": 0.0, **keys})


def queries_keys_values(queries: int = 4, keys: int = 6) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    return torch.randn(2, 3, queries, 4), torch.randn(2, 3, keys, 4), torch.randn(2, 3, keys, 5)


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)  # type: ignore[no-any-return]


def numpy(*tensors: Tensor) -> list[Array]:
    return [tensor.detach().double().numpy() for tensor in tensors]


def assert_close(found: Tensor, expected: Array, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(found.detach().numpy(), expected, atol=tolerance, rtol=0)


def test_dot_product_attention_divides_by_nothing() -> None:
    given = queries_keys_values()
    q, k, v = numpy(*given)
    mask = torch.rand(2, 3, 4, 6) < 0.7
    mask[..., 0] = True
    scores = np.where(mask.numpy(), np.einsum("bhqd,bhkd->bhqk", q, k), -np.inf)
    seen: list[Tensor] = []
    assert_close(dot_product_attention(*given, mask, seen), softmax(scores) @ v)
    assert_close(seen[0], softmax(scores))


def test_additive_attention_is_a_network_with_one_hidden_layer() -> None:
    given = queries_keys_values()
    q, k, v = numpy(*given)
    module = AdditiveAttention(heads=3, d_k=4)
    module.apply(initialise)
    (w,) = numpy(module.weight)
    scores = np.zeros((2, 3, 4, 6))
    for b, h, i, j in np.ndindex(*scores.shape):
        scores[b, h, i, j] = w[h] @ np.tanh(q[b, h, i] + k[b, h, j])
    scores[..., 5] = -np.inf
    mask = torch.arange(6) < 5
    seen: list[Tensor] = []
    assert_close(module(*given, mask, seen), softmax(scores) @ v)
    assert_close(seen[0], softmax(scores))


def band(n: int, r: int) -> Tensor:
    places = torch.arange(n)
    return (places[:, None] - places).abs() <= r // 2


@pytest.mark.parametrize("r", [1, 3, 5, 99])
@pytest.mark.parametrize("causal", [False, True])
def test_restricted_attention_is_attention_with_a_band_for_a_mask(r: int, causal: bool) -> None:
    given = queries_keys_values(7, 7)
    mask = causal_mask(7, torch.device("cpu")) if causal else None
    expected: list[Tensor] = []
    found: list[Tensor] = []
    slow = attention(*given, band(7, r) if mask is None else band(7, r) & mask, expected)
    torch.testing.assert_close(RestrictedAttention(r, fused_attention)(*given, mask, found), slow)
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(RestrictedAttention(r, fused_attention)(*given, mask), slow)


def test_restricted_attention_sees_no_padding_and_gives_numbers_there() -> None:
    given = queries_keys_values(7, 7)
    mask = token_mask(torch.tensor([7, 2]), 7)[:, None, None, :]
    found = RestrictedAttention(3, fused_attention)(*given, mask)
    assert found.isfinite().all()
    expected = attention(*given, band(7, 3) & mask)
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(found[1, :, :2], expected[1, :, :2])


def test_the_last_query_alone_sees_its_neighbourhood() -> None:
    q, k, v = queries_keys_values(7, 7)
    restricted = RestrictedAttention(5, fused_attention)
    whole = restricted(q, k, v, causal_mask(7, q.device))
    torch.testing.assert_close(restricted(q[:, :, -1:], k, v, None), whole[:, :, -1:])


def test_the_work_of_restricted_attention_grows_as_the_length_and_of_the_others_as_its_square() -> None:
    def work(n: int, **keys: Any) -> int:
        q, k, v = (torch.randn(1, 2, n, 4) for _ in range(3))
        attention_of = multi_head(section(**keys), "self")
        attention_of.apply(initialise)
        with FlopCounterMode(display=False) as counter:
            attention_of.function(q, k, v, None, [])
        return counter.get_total_flops()

    assert work(128, neighbourhood=5) == 2 * work(64, neighbourhood=5)
    assert work(128) == 4 * work(64)
    assert work(128, attention="additive") == 4 * work(64, attention="additive")


def test_only_self_attention_is_restricted() -> None:
    assert isinstance(multi_head(section(neighbourhood=3), "self").function, RestrictedAttention)
    assert multi_head(section(neighbourhood=3), "cross").function is fused_attention
    assert multi_head(section(), "self").function is fused_attention


def made(**keys: Any) -> MultiHeadAttention:
    torch.manual_seed(1)
    found = multi_head(section(**keys), "self")
    found.apply(initialise)
    return found


def heads_by_hand(x: Array, maps: list[tuple[Array, Array]], out: tuple[Array, Array]) -> Array:
    """Two heads of width 4 over x (positions, 8), with W^Q, W^K, W^V and W^O."""
    q, k, v = (x @ weight.T + bias for weight, bias in maps)
    parts = [softmax(q[:, s] @ k[:, s].T / math.sqrt(4)) @ v[:, s] for s in (slice(0, 4), slice(4, 8))]
    return np.concatenate(parts, axis=1) @ out[0].T + out[1]


@pytest.mark.parametrize(("projections", "matrices"), [("separate", 4), ("query-key", 3), ("shared", 2), ("none", 1)])
def test_projections_are_shared_or_left_out(projections: str, matrices: int) -> None:
    heads = made(projections=projections)
    assert sum(p.numel() for p in heads.parameters()) == matrices * (8 * 8 + 8)
    x = torch.randn(1, 5, 8)

    def of(linear: Any) -> tuple[Array, Array]:
        if isinstance(linear, torch.nn.Identity):
            return np.eye(8), np.zeros(8)
        weight, bias = numpy(linear.weight, linear.bias)
        return weight, bias

    names = {"query-key": "qqv", "shared": "qqq"}.get(projections, "qkv")
    maps = [of(getattr(heads, f"w_{name}")) for name in names]
    expected = heads_by_hand(numpy(x)[0][0], maps, of(heads.w_o))
    assert_close(heads(x, x, None)[0], expected)


@pytest.mark.parametrize("norm", ["post", "pre", "none"])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("feed_forward", ["position-wise", "none"])
def test_a_layer_has_the_sums_norms_and_networks_that_its_keys_name(
    norm: str, residual: bool, feed_forward: str
) -> None:
    torch.manual_seed(1)
    layer = EncoderLayer(section(norm=norm, residual=residual, feed_forward=feed_forward)).eval()
    layer.apply(initialise)
    x = torch.randn(1, 5, 8)

    def normed(x: Array) -> Array:
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)  # type: ignore[no-any-return]

    def sublayer(x: Array, function: Any) -> Array:
        y = function(normed(x) if norm == "pre" else x)
        y = x + y if residual else y
        return normed(y) if norm == "post" else y  # type: ignore[no-any-return]

    def attend(x: Array) -> Array:
        single = torch.from_numpy(x).float()[None]
        return numpy(layer.self_attention(single, single, None))[0][0]

    def feed(x: Array) -> Array:
        w1, b1, w2, b2 = numpy(*layer.feed_forward.parameters())
        return np.maximum(0, x @ w1.T + b1) @ w2.T + b2  # type: ignore[no-any-return]

    expected = sublayer(numpy(x)[0][0], attend)
    if feed_forward != "none":
        expected = sublayer(expected, feed)
    assert_close(layer(x, None)[0], expected)


def embedded(**keys: Any) -> tuple[Tensor, Array, Any]:
    """Three tokens as layers read them, their embeddings, and the module of positions."""
    torch.manual_seed(1)
    config = section(**keys)
    table, places = torch.nn.Embedding(12, 8), positions(config)
    for module in (table, places):
        module.apply(initialise)
    tokens = torch.tensor([[2, 5, 2]])
    return embed(config, table, places, tokens, 4, 0.0)[0], numpy(table(tokens))[0][0], places


def test_embeddings_are_scaled_unless_told_otherwise() -> None:
    (waves,) = numpy(sinusoids(7, 8))
    found, words, _ = embedded()
    assert_close(found, words * math.sqrt(8) + waves[4:])
    found, words, _ = embedded(scale_embeddings=False)
    assert_close(found, words + waves[4:])


def test_without_positions_embeddings_stay_as_they_are() -> None:
    found, words, places = embedded(positions="none")
    assert_close(found, words * math.sqrt(8))
    assert isinstance(places, NoPositions)
    assert not places(0, 3).any()


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_concatenated_positions_are_projected_to_the_width_of_the_model(kind: str) -> None:
    found, words, places = embedded(positions=kind, join_positions="concatenate")
    weight, bias, encodings = numpy(places.projection.weight, places.projection.bias, places.positions(4, 3))
    assert_close(found, np.concatenate([words * math.sqrt(8), encodings], axis=1) @ weight.T + bias)
    assert_close(places(4, 3), encodings @ weight[:, 8:].T)


def test_without_positions_the_order_of_the_words_is_lost(make: Maker) -> None:
    mask = torch.ones(1, 4, dtype=torch.bool)
    one, other = torch.tensor([[2, 3, 4, 5]]), torch.tensor([[4, 2, 5, 3]])
    target = torch.tensor([[11, 6, 7]])
    blind, sighted = make(positions="none").eval(), make().eval()
    torch.testing.assert_close(blind(one, mask, target), blind(other, mask, target))
    assert (sighted(one, mask, target) - sighted(other, mask, target)).abs().max() > 1e-2
    assert blind.position_table(5) is None


def test_an_unmasked_decoder_sees_later_tokens_but_no_padding(make: Maker) -> None:
    model = make(causal=False).eval()
    source, mask = torch.tensor([[2, 3]]), torch.ones(1, 2, dtype=torch.bool)
    before = model(source, mask, torch.tensor([[11, 5, 6]]))
    assert (model(source, mask, torch.tensor([[11, 5, 7]]))[:, 0] - before[:, 0]).abs().max() > 1e-3
    padded = model(source, mask, torch.tensor([[11, 5, 6, 11, 11]]))
    torch.testing.assert_close(padded[:, :3], before)


def test_outputs_of_every_layer_can_be_had(make: Maker, batch: Batch) -> None:
    model = make().eval()
    found = model.outputs(*batch)
    assert (len(found.encoder), len(found.decoder)) == (1 + 2, 1 + 3)
    x = model._embed(model.source_embedding, model.source_positions, batch[0], 0)
    for kept, layer in zip(found.encoder, [None, *model.encoder], strict=True):
        x = x if layer is None else layer(x, batch[1][:, None, None, :])
        torch.testing.assert_close(kept, x)
    torch.testing.assert_close(found.encoder[-1], model.encode(*batch[:2])[0])
    torch.testing.assert_close(found.decoder[-1], model.features(model.encode(*batch[:2]), batch[2]))
    assert not any(layer._forward_hooks or layer._forward_pre_hooks for layer in [*model.encoder, *model.decoder])


@pytest.mark.parametrize("keys", [{"positions": "learned"}, {"positions": "none"}])
def test_an_odd_width_is_allowed_where_there_are_no_sinusoids(keys: dict[str, str]) -> None:
    config = section(d_model=3, heads=1, encoder_layers=1, decoder_layers=1, **keys)
    assert not config.problems()
    model = Transformer(config, 12)
    assert model(torch.tensor([[2, 3]]), torch.ones(1, 2, dtype=torch.bool), torch.tensor([[11]])).shape == (1, 1, 11)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"d_model": 3, "heads": 1}, "sines and cosines need an even number"),
        ({"neighbourhood": 4}, "neighbourhood is 4; around a position it is an odd number"),
        ({"projections": "shared", "d_k": 3}, "must be equal"),
        ({"projections": "none", "d_k": 3}, "leave d_k and d_v out"),
        ({"positions": "none", "join_positions": "concatenate"}, "nothing to concatenate"),
    ],
)
def test_what_cannot_be_combined_is_refused(keys: dict[str, object], told: str) -> None:
    with pytest.raises(RecipeError) as refused:
        Recipe.from_values({"model": {"d_model": 8, "heads": 2, **keys}}, "a test")
    assert told in str(refused.value.printable())


def test_restricted_attention_is_the_fourth_row_of_table_1() -> None:
    facts = section(neighbourhood=5, encoder_layers=3).facts(20)
    assert (facts.kind.complexity, facts.kind.sequential, facts.kind.path) == ("r·n·d", "1", "n/r")
    assert (facts.kind.operations(20, 8, 5), facts.kind.longest(20, 5), facts.sees) == (800, 4, 13)
