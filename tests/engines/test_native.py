"""The native engine: any order of sources in, the same order out."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tongsa.base.errors import UsageError
from tongsa.config import TransformerSection
from tongsa.decoding import Search
from tongsa.decoding.search import aligning_layer
from tongsa.engines.base import scored_at_once, similar_lengths
from tongsa.engines.native import NativeEngine
from tongsa.models import build
from tongsa.models.recurrent import RecurrentSection
from tongsa.models.transformer import Transformer

PAD = 11


def engine(batch_tokens: int = 4096, **changes: object) -> NativeEngine:
    torch.manual_seed(2)
    small = {"encoder_layers": 1, "decoder_layers": 2, "d_model": 16, "d_ff": 16, "heads": 2, "dropout": 0.1}
    model = Transformer(TransformerSection(**{**small, **changes}), PAD + 1)  # type: ignore[arg-type]
    with torch.no_grad():
        model.source_embedding.weight *= 3
    return NativeEngine(model, source_pad=PAD, target_pad=PAD, end=0, batch_tokens=batch_tokens)


sources = st.lists(st.lists(st.integers(2, 10), max_size=7), max_size=9)


@settings(deadline=None, max_examples=20)
@given(sources=sources, budget=st.integers(1, 60))
def test_small_batches_equal_large_ones_in_input_order(sources: list[list[int]], budget: int) -> None:
    search = Search(beam=3, nbest=2, max_extra=4)
    large, small = (engine(tokens).translate(sources, search) for tokens in (10_000, budget))
    assert len(large) == len(sources)
    for left, right in zip(large, small, strict=True):
        assert [h.ids for h in left] == [h.ids for h in right]
        assert [h.score for h in left] == pytest.approx([h.score for h in right], abs=1e-5)


def test_the_model_is_in_evaluation_mode() -> None:
    found = engine().translate([[2, 3, 4]] * 2, Search())
    assert found[0] == found[1]


@settings(deadline=None)
@given(lengths=st.lists(st.integers(1, 30), max_size=20), budget=st.integers(1, 100))
def test_batches_hold_every_place_once_and_stay_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(similar_lengths(lengths, budget))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget


def test_scores_are_the_log_probabilities_that_search_found() -> None:
    native = engine()
    given = [[2, 3, 4], [5], [6, 7]]
    found = native.translate(given, Search(beam=2, max_extra=30))
    scores = native.score(given, [h[0].ids for h in found])
    for hypotheses, log_p in zip(found, scores, strict=True):
        assert len(log_p) == len(hypotheses[0].ids) + 1
        assert sum(log_p) == pytest.approx(hypotheses[0].log_probability, abs=1e-4)


def test_many_sentences_are_scored_a_few_at_a_time_and_each_as_if_it_were_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Probabilities of the whole vocabulary for every token of a corpus would fill the memory."""
    native = engine()
    at_once: list[int] = []
    forward = native.model.forward

    def counted(source: Tensor, mask: Tensor, target: Tensor) -> Tensor:
        at_once.append(target.numel())
        return forward(source, mask, target)

    monkeypatch.setattr(native.model, "forward", counted)
    generator = torch.Generator().manual_seed(3)
    given = [torch.randint(2, 11, (1 + i % 17,), generator=generator).tolist() for i in range(150)]
    together = native.score(given, given[::-1])
    assert len(at_once) > 1
    assert max(at_once) <= scored_at_once("cpu") < sum(at_once)
    for i in (0, 16, 80, 149):
        assert together[i] == pytest.approx(native.score([given[i]], [given[::-1][i]])[0], abs=1e-5)


def test_nothing_in_gives_nothing_out() -> None:
    assert engine().translate([], Search()) == []
    assert engine().score([], []) == []


def test_attention_is_that_of_one_pair() -> None:
    seen = engine().attention([2, 3, 4], [5, 6])
    assert [tuple(w.shape) for w in seen.cross] == 2 * [(1, 2, 3, 4)]
    assert [tuple(w.shape) for w in seen.encoder] == [(1, 2, 4, 4)]


def test_alignment_follows_the_attention_and_passes_over_the_end() -> None:
    native = engine(decoder_layers=3)
    given = [[2, 3, 4], [5], [6, 7, 8, 9, 10], []]
    found = native.translate(given, Search(beam=2, nbest=2, max_extra=6, alignment=True))
    for source, hypotheses in zip(given, found, strict=True):
        for one in hypotheses:
            weights = native.attention(source, one.ids).cross[-1][0].mean(dim=0)  # (target + 1, source + 1)
            expected = weights[:-1, :-1].argmax(dim=-1).tolist() if source else []
            assert list(one.alignment) == expected
    assert len({place for hypotheses in found for one in hypotheses for place in one.alignment}) > 1


def test_shallow_decoders_align_in_the_last_layer_and_deep_ones_in_the_one_before() -> None:
    assert [aligning_layer(layers) for layers in (1, 2, 4, 6, 12)] == [0, 1, 3, 4, 10]


def test_a_model_without_attention_has_no_alignment() -> None:
    torch.manual_seed(0)
    model = build(RecurrentSection(d_model=8, layers=1), PAD + 1, None)
    plain = NativeEngine(model, source_pad=PAD, target_pad=PAD, end=0)
    (found,) = plain.translate([[2, 3]], Search(max_extra=3, alignment=True))[0]
    assert found.alignment == ()


def test_learned_positions_bound_what_is_read_and_written() -> None:
    """Longer sources are cut; whatever the model would go on to write, it stops in time."""
    native = engine(positions="learned", max_positions=6)
    long = [2, 3, 4, 5, 6, 7, 8, 9]
    (cut,), (same,) = native.translate([long, long[:5]], Search(max_extra=50))
    assert cut.ids == same.ids
    assert len(cut.ids) <= 5
    assert [len(log_p) for log_p in native.score([long], [long[:5]])] == [6]


def test_a_target_beyond_the_learned_positions_is_refused() -> None:
    native = engine(positions="learned", max_positions=6)
    for ask in (lambda: native.score([[2]], [[3] * 6]), lambda: native.attention([2], [3] * 6)):
        with pytest.raises(UsageError, match="6 subwords; this model was trained with 6 positions"):
            ask()
