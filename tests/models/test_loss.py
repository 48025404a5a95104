"""Label-smoothed cross-entropy against torch's own, values and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from tongsa.models.loss import ROWS, Candidates, draw_candidates, linear_cross_entropy, smoothed_cross_entropy
from tongsa.models.products import PADDING

smoothings = pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])


def inputs(tokens: int = 30, vocabulary: int = 7) -> tuple[Tensor, Tensor, Tensor]:
    """Features, the table of the output with a row for `<pad>`, and labels."""
    torch.manual_seed(0)
    table = torch.randn(vocabulary + 1, 5, dtype=torch.float64)
    return torch.randn(tokens, 5, dtype=torch.float64), table, torch.randint(0, vocabulary, (tokens,))


@smoothings
def test_the_loss_and_its_gradient_equal_those_of_torch(smoothing: float) -> None:
    features, table, labels = inputs()
    logits = (features @ table[:-1].T).float().requires_grad_()
    ours = smoothed_cross_entropy(logits, labels, smoothing)
    (gradient,) = torch.autograd.grad(ours.total, logits)
    theirs = cross_entropy(logits, labels, label_smoothing=smoothing, reduction="sum")
    (expected,) = torch.autograd.grad(theirs, logits)
    torch.testing.assert_close(ours.total, theirs, rtol=1e-6, atol=1e-5)
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-6)


@smoothings
def test_log_loss_is_that_of_the_labels_whatever_the_smoothing(smoothing: float) -> None:
    features, table, labels = inputs()
    expected = cross_entropy(features @ table[:-1].T, labels, reduction="sum")
    assert float(smoothed_cross_entropy(features @ table[:-1].T, labels, smoothing).log_loss) == pytest.approx(
        float(expected), rel=1e-6
    )
    assert float(linear_cross_entropy(features, table, labels, smoothing).log_loss) == pytest.approx(float(expected))


@smoothings
@pytest.mark.parametrize("tokens", [1, 30, 2 * ROWS["cpu"] + 3])
def test_the_loss_without_logits_equals_the_plain_one(smoothing: float, tokens: int) -> None:
    """Also across the seams of the parts that it is computed in."""
    features, table, labels = inputs(tokens)
    results = []
    for fast in (True, False):
        h, w = features.clone().requires_grad_(), table.clone().requires_grad_()
        if fast:
            loss = linear_cross_entropy(h, w, labels, smoothing).total
        else:
            loss = cross_entropy(h @ w[:-1].T, labels, label_smoothing=smoothing, reduction="sum")
        (3 * loss).backward()  # a gradient of other than one has to be passed on too
        results.append((loss.detach(), h.grad, w.grad))
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", [30, 1000, 1e6])
def test_probabilities_too_small_for_a_float_have_their_logarithm_all_the_same(scale: float) -> None:
    features, table, labels = ((scale * each).float() if each.is_floating_point() else each for each in inputs())
    table /= scale
    loss = linear_cross_entropy(features, table, labels, 0.1)
    plain = smoothed_cross_entropy(features @ table[:-1].T, labels, 0.1)
    torch.testing.assert_close(loss.total, plain.total, rtol=1e-5, atol=0)
    torch.testing.assert_close(loss.log_loss, plain.log_loss, rtol=1e-5, atol=0)


def test_pad_has_no_share_in_the_loss() -> None:
    """Its row of the table changes nothing, and gets no gradient."""
    features, table, labels = inputs()
    before = linear_cross_entropy(features, table, labels, 0.1).total
    table[-1] = 100.0
    table.requires_grad_()
    after = linear_cross_entropy(features, table, labels, 0.1).total
    after.backward()
    assert float(after.detach()) == float(before)
    assert table.grad is not None
    assert not table.grad[-1].any()


VOCABULARY = 600


def drawn(seed: int) -> tuple[Tensor, Tensor, Tensor, Candidates]:
    """Inputs of a vocabulary that is larger than its candidates."""
    features, table, labels = inputs(tokens=2 * ROWS["cpu"] + 3, vocabulary=VOCABULARY)
    torch.manual_seed(seed)
    return features, table, labels[:9].repeat(100)[: len(labels)], draw_candidates(labels[:9], first_of(VOCABULARY))


def first_of(size: int) -> Tensor:
    """A mask of the pieces that are taken as frequent: the first eighth."""
    return torch.arange(size) < size // 8


def test_candidates_are_the_frequent_pieces_the_labels_and_others_each_once() -> None:
    _, _, labels, candidates = drawn(seed=0)
    pieces = candidates.pieces.tolist()
    assert len(set(pieces)) == len(pieces) < VOCABULARY
    assert len(pieces) % PADDING == 0
    assert set(pieces[: candidates.certain]) == set(range(VOCABULARY // 8)) | set(labels.tolist())
    others = len(pieces) - candidates.certain
    assert candidates.stands_for * others == pytest.approx(VOCABULARY - candidates.certain)
    assert drawn(seed=1)[3].pieces.tolist() != pieces


@smoothings
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_the_loss_of_candidates_equals_a_plain_softmax_over_them(smoothing: float, scale: float) -> None:
    """Logits of drawn pieces grow by the logarithm of what they stand for; the mean of all logits stays exact."""
    features, table, labels, candidates = drawn(seed=0)
    features *= scale
    place = {piece: number for number, piece in enumerate(candidates.pieces.tolist())}
    at = torch.tensor([place[label] for label in labels.tolist()])
    results = []
    for fast in (True, False):
        h, w = features.clone().requires_grad_(), table.clone().requires_grad_()
        if fast:
            total, log_loss, _ = vars(linear_cross_entropy(h, w, labels, smoothing, candidates=candidates)).values()
        else:
            z = h @ w[:-1].T
            log_loss = cross_entropy(candidates.weigh(z[:, candidates.pieces]), at, reduction="sum")
            total = log_loss + smoothing * (z.gather(1, labels[:, None])[:, 0] - z.mean(dim=1)).sum()
        total.backward()
        results.append((total.detach(), log_loss.detach(), h.grad, w.grad))
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


def test_the_partition_function_of_candidates_is_right_on_average() -> None:
    features, table, _, _ = drawn(seed=0)
    z = 0.5 * features[:20] @ table[:-1].T
    torch.manual_seed(0)
    estimates = []
    for _ in range(400):
        candidates = draw_candidates(torch.tensor([599]), first_of(VOCABULARY))
        estimates.append(candidates.weigh(z[:, candidates.pieces]).exp().sum(dim=1))
    ratio = torch.stack(estimates).mean(dim=0) / z.exp().sum(dim=1)
    torch.testing.assert_close(ratio, torch.ones_like(ratio), rtol=0, atol=0.05)


@smoothings
def test_a_small_vocabulary_has_the_whole_softmax(smoothing: float) -> None:
    features, table, labels = inputs(vocabulary=100)
    candidates = draw_candidates(labels, first_of(100))
    estimated = linear_cross_entropy(features, table, labels, smoothing, candidates=candidates).total
    torch.testing.assert_close(estimated, linear_cross_entropy(features, table, labels, smoothing).total)
