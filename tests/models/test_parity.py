"""Our Transformer against torch.nn.Transformer with the same weights."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from tongsa.models.attention import MultiHeadAttention
from tongsa.models.layers import FeedForward
from tongsa.models.transformer import Transformer

Batch = tuple[Tensor, Tensor, Tensor]


@torch.no_grad()
def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.copy_(torch.cat([ours.w_q.weight, ours.w_k.weight, ours.w_v.weight]))
    theirs.in_proj_bias.copy_(torch.cat([ours.w_q.bias, ours.w_k.bias, ours.w_v.bias]))
    theirs.out_proj.load_state_dict(ours.w_o.state_dict())


def copy_feed_forward(ours: FeedForward, theirs: nn.Module) -> None:
    theirs.linear1.load_state_dict(ours.linear_1.state_dict())  # type: ignore[union-attr, operator]
    theirs.linear2.load_state_dict(ours.linear_2.state_dict())  # type: ignore[union-attr, operator]


def torch_twin(model: Transformer) -> nn.Transformer:
    """torch's own, with the weights of ours; its final norms are there only where ours are."""
    config = model.config
    pre = config.norm == "pre"
    options = {"dropout": 0.0, "activation": config.activation, "batch_first": True, "norm_first": pre}
    width = (config.d_model, config.heads, config.d_ff)
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(*width, **options),  # type: ignore[arg-type]
        config.encoder_layers,
        nn.LayerNorm(config.d_model) if pre else None,
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(*width, **options),  # type: ignore[arg-type]
        config.decoder_layers,
        nn.LayerNorm(config.d_model) if pre else None,
    )
    # Built before the weights are copied: it draws new ones for whatever it is given.
    twin = nn.Transformer(*width[:2], custom_encoder=encoder, custom_decoder=decoder, batch_first=True)
    for ours, theirs in zip(model.encoder, encoder.layers, strict=True):
        copy_attention(ours.self_attention, theirs.self_attn)  # type: ignore[arg-type]
        copy_feed_forward(ours.feed_forward, theirs)  # type: ignore[arg-type]
        for i, residual in enumerate(ours.residuals, 1):  # type: ignore[arg-type]
            getattr(theirs, f"norm{i}").load_state_dict(residual.norm.state_dict())
    for ours, theirs in zip(model.decoder, decoder.layers, strict=True):
        copy_attention(ours.self_attention, theirs.self_attn)  # type: ignore[arg-type]
        copy_attention(ours.cross_attention, theirs.multihead_attn)  # type: ignore[arg-type]
        copy_feed_forward(ours.feed_forward, theirs)  # type: ignore[arg-type]
        for i, residual in enumerate(ours.residuals, 1):  # type: ignore[arg-type]
            getattr(theirs, f"norm{i}").load_state_dict(residual.norm.state_dict())
    if pre:
        encoder.norm.load_state_dict(model.encoder_norm.state_dict())  # type: ignore[union-attr]
        decoder.norm.load_state_dict(model.decoder_norm.state_dict())  # type: ignore[union-attr]
    return twin


def torch_logits(model: Transformer, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
    root = math.sqrt(model.config.d_model)
    read = model.source_embedding(source) * root + model.source_positions(0, source.shape[1])
    written = model.target_embedding(target) * root + model.target_positions(0, target.shape[1])
    features = torch_twin(model)(
        read,
        written,
        tgt_mask=torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1),
        src_key_padding_mask=~source_mask,
        memory_key_padding_mask=~source_mask,
        tgt_is_causal=True,
    )
    return features @ model.output.weight[:-1].T  # type: ignore[no-any-return]


def shake(model: Transformer) -> None:
    """Biases and norms begin as zeros and ones, which would hide an exchange of two of them."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter += 0.3 * torch.randn_like(parameter)
            elif "embedding" not in name:
                parameter += 0.05 * torch.randn_like(parameter)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_logits_equal_those_of_torch_nn_transformer(
    make: Callable[..., Transformer], batch: Batch, norm: str, activation: str
) -> None:
    model = make(norm=norm, activation=activation)
    shake(model)
    torch.testing.assert_close(model(*batch), torch_logits(model, *batch), atol=1e-5, rtol=0)


def test_logits_equal_at_the_width_of_the_base_model(make: Callable[..., Transformer], batch: Batch) -> None:
    model = make(encoder_layers=2, decoder_layers=2, d_model=512, d_ff=2048, heads=8)
    shake(model)
    torch.testing.assert_close(model(*batch), torch_logits(model, *batch), atol=1e-5, rtol=1e-5)


def test_gradients_equal_those_of_torch_nn_transformer(make: Callable[..., Transformer], batch: Batch) -> None:
    """The embedding table sees every path through the model."""
    model = make()
    shake(model)
    gradients = []
    for logits in (model(*batch), torch_logits(model, *batch)):
        model.zero_grad()
        logits.logsumexp(dim=-1).sum().backward()
        assert model.source_embedding.weight.grad is not None
        gradients.append(model.source_embedding.weight.grad.clone())
    torch.testing.assert_close(*gradients, atol=1e-4, rtol=1e-4)
