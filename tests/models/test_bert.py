"""BERT and ViT: the paper's encoder with another beginning and another end."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import gelu, layer_norm

from tongsa.base.errors import RecipeError
from tongsa.config import Recipe
from tongsa.models.bert import Bert, BertSection
from tongsa.models.classifier import EncoderWithHead
from tongsa.models.contracts import token_mask
from tongsa.models.vit import Vit, VitSection, patches, rollout

SMALL = {"d_model": 16, "d_ff": 24, "heads": 4, "dropout": 0.0, "layers": 2}
BERT = BertSection(**SMALL, max_positions=12)
VIT = VitSection(**SMALL, patch=2, height=4, width=6, channels=3)
IDS = torch.tensor([[9, 2, 3, 4], [9, 5, 10, 11]])
MASK = token_mask(torch.tensor([4, 3]), 4)


def bert(section: BertSection = BERT) -> Bert:
    torch.manual_seed(1)
    return Bert(section, 12).eval()


def vit(section: VitSection = VIT) -> Vit:
    torch.manual_seed(1)
    return Vit(section).eval()


def test_bert_is_the_papers_layers_over_normalised_embeddings() -> None:
    model = bert()
    x = model.embedding.weight[IDS] * 4 + model.positions.weight[:4]
    x = layer_norm(x, (16,))
    for layer in model.encoder:
        x = layer(x, MASK[:, None, None, :])
    torch.testing.assert_close(model.encode(IDS, MASK), x)
    expected = layer_norm(gelu(x @ model.transform.weight.T + model.transform.bias), (16,))
    torch.testing.assert_close(model.features(x), expected)


def test_what_stands_in_the_padding_changes_no_state_before_it() -> None:
    other = IDS.clone()
    other[1, 3] = 2
    torch.testing.assert_close(bert().encode(IDS, MASK)[1, :3], bert().encode(other, MASK)[1, :3])


def test_patches_are_cut_row_by_row_and_hold_all_pixels() -> None:
    pictures = torch.arange(2 * 3 * 4 * 6.0).view(2, 3, 4, 6)
    cut = patches(pictures, 2)
    assert cut.shape == (2, 6, 12)
    second = pictures[0, :, 0:2, 2:4]  # one to the right of the top left
    torch.testing.assert_close(cut[0, 1].view(2, 2, 3), second.permute(1, 2, 0))
    assert sorted(cut.flatten().tolist()) == pictures.flatten().tolist()


def test_vit_reads_the_class_token_first_and_knows_where_a_patch_is() -> None:
    model = vit()
    pictures = torch.randn(2, 3, 4, 6)
    states = model.encode(pictures, torch.ones(2, 7, dtype=torch.bool))
    assert states.shape == (2, 7, 16)
    swapped = torch.cat([pictures[..., 2:4], pictures[..., :2], pictures[..., 4:]], dim=-1)
    after = model.encode(swapped, torch.ones(2, 7, dtype=torch.bool))
    assert (after[:, 0] - states[:, 0]).abs().max() > 1e-4, "two patches have changed places"
    same = [layer.shape for layer in model.attend(pictures)]
    assert same == [(2, 4, 7, 7)] * 2


def test_the_rollout_follows_attention_through_the_layers() -> None:
    # The class token (0) looks at patch 1, which in the layer before had looked at patch 2.
    first = torch.eye(3)[[0, 2, 2]][None, None]
    second = torch.eye(3)[[1, 1, 2]][None, None]
    found = rollout([first, second])
    # 0 keeps half of itself; the half from patch 1 is half its own and half of patch 2.
    torch.testing.assert_close(found, torch.tensor([[0.5, 0.5]]))
    # Patch 1 keeps half of itself and has the other half from patch 2, which keeps all: 0.25 + 0.5 and 0.25 + 0.5 + 1.
    torch.testing.assert_close(rollout([first, second], "mean"), torch.tensor([[0.3, 0.7]]))
    shares = rollout(vit().attend(torch.randn(3, 3, 4, 6)))
    torch.testing.assert_close(shares.sum(dim=1), torch.ones(3))


@pytest.mark.parametrize("pooling", ["class", "mean"])
def test_a_classifier_reads_the_class_token_or_the_mean_without_padding(pooling: str) -> None:
    section = BertSection(**SMALL, max_positions=12, pooling=pooling)  # type: ignore[arg-type]
    model = EncoderWithHead(section, 3, 12).eval()
    torch.nn.init.normal_(model.head.weight)
    states = model.encoder.encode(IDS, MASK)
    summary = states[:, 0] if pooling == "class" else torch.stack([states[0].mean(0), states[1, :3].mean(0)])
    torch.testing.assert_close(model(IDS, MASK), model.head(summary))


def test_a_picture_that_patches_do_not_cover_is_refused_with_its_size() -> None:
    values = {"model": {"architecture": "vit", "patch": 3, "height": 9, "width": 10, "channels": 2}}
    with pytest.raises(RecipeError) as refused:
        Recipe.from_values(values, "a test")
    told = "\n".join(refused.value.explanation)
    assert "patch 3 does not divide pictures of 10 x 9 pixels" in told
    assert "channels is 2" in told
