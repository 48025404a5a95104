"""The first updates of real trainings, worked out again by hand from what they leave on disk.

With a learning rate of almost nothing the weights stay what they were, so that the checkpoint after an update holds the
very model whose loss and gradient the log and Adam's moments tell of.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

import tongsa
from tongsa.demo import grammar
from tongsa.models import build
from tongsa.models.contracts import Seq2Seq
from tongsa.models.weights import load_weights
from tongsa.runs.directory import Run as RunDirectory
from tongsa.runs.log import read_log
from tongsa.text.subwords import END, Subwords
from tongsa.training.checkpoint import latest

SETTINGS = {
    "training.precision": "float32",
    "subwords.size": "600",
    "subwords.sampling": "0.0",
    "model.encoder_layers": "1",
    "model.decoder_layers": "1",
    "model.d_model": "16",
    "model.d_ff": "16",
    "model.heads": "2",
    "model.dropout": "0.0",
    "training.updates": "1",
    "training.batch_tokens": "100000",
    "training.chunk_tokens": "200",
    "training.processes": "1",
    "training.warmup": "1",
    "training.peak": "1e-12",
    "training.schedule": "constant",
    "training.validation_pairs": "2",
    "decoding.beam": "1",
    "decoding.max_extra": "0",
}
"""One update on all pairs, in several chunks, without anything random."""

SMOOTHING, BETA_1, BETA_2 = 0.3, 0.8, 0.95

Pairs = list[tuple[str, str]]


class Run(NamedTuple):
    out: Path
    pairs: Pairs

    def updates(self) -> list[dict[str, Any]]:
        return [event for event in read_log(self.out / "log.jsonl") if event["event"] == "update"]

    def moments(self) -> dict[str, Tensor]:
        checkpoint = latest(self.out / "checkpoints")
        assert checkpoint
        return checkpoint.moments()

    def model(self) -> Seq2Seq:
        checkpoint = latest(self.out / "checkpoints")
        assert checkpoint
        model = build(RunDirectory(self.out).read_card().recipe.model, len(Subwords.load(self.out).source), None)
        load_weights(model, checkpoint.weights())
        return model.eval()


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Run]:
    """Train on these pairs, all of them."""

    def train(name: str, pairs: Pairs, init: Path | None = None, seed: int = 1, **changes: object) -> Run:
        corpus = tmp_path / f"{name}.tsv"
        corpus.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
        kept = {key: value for key, value in SETTINGS.items() if not (init and key.startswith(("model", "subwords")))}
        settings = {**kept, **{key.replace("__", "."): str(value) for key, value in changes.items()}}
        out = tmp_path / name
        tongsa.train(
            corpus,
            valid=corpus,
            source="ko",
            target="en",
            out=out,
            settings=settings,
            recipe="auto" if init else "tiny",
            init=init,
            seed=seed,
            threads=1,
            device="cpu",
        )
        return Run(out, pairs)

    return train


@pytest.fixture
def pairs() -> Pairs:
    return list(grammar.write_pairs(60, seed=1))


class Expected(NamedTuple):
    """Of a model and all pairs, per target token."""

    loss: float
    log_loss: float
    spread: float
    gradient: Tensor
    tokens: int


def by_hand(run: Run) -> Expected:
    """Sentence by sentence: (1 - eps) * -log p(label) + eps * mean over the vocabulary of -log p."""
    model, subwords = run.model(), Subwords.load(run.out)
    log_losses, spreads = [], []
    for read, written in run.pairs:
        source = torch.tensor([[*subwords.source.encode(read), END]])
        ids = subwords.target.encode(written)
        logits = model(source, torch.ones_like(source, dtype=torch.bool), torch.tensor([[subwords.target.pad, *ids]]))
        log_p = torch.log_softmax(logits[0].double(), dim=-1)
        log_losses.append(-log_p[torch.arange(len(ids) + 1), torch.tensor([*ids, END])])
        spreads.append(-log_p.mean(dim=-1))
    log_loss, spread = torch.cat(log_losses), torch.cat(spreads)
    loss = (1 - SMOOTHING) * log_loss.mean() + SMOOTHING * spread.mean()
    loss.backward()
    gradient = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    return Expected(loss.item(), log_loss.mean().item(), spread.mean().item(), gradient, len(log_loss))


def test_loss_and_gradient_are_means_over_tokens_with_smoothed_labels(run: Callable[..., Run], pairs: Pairs) -> None:
    done = run("one", pairs, training__label_smoothing=SMOOTHING, training__beta1=BETA_1, training__beta2=BETA_2)
    expected = by_hand(done)
    (update,) = done.updates()
    assert update["tokens"] == update["target_tokens"] == expected.tokens
    assert update["log_loss"] == pytest.approx(expected.log_loss, rel=1e-5)
    assert update["loss"] == pytest.approx(expected.loss, rel=1e-5)
    assert abs(expected.spread - expected.log_loss) > 0.01, "or smoothing would not show"
    assert update["gradient_norm"] == pytest.approx(float(expected.gradient.norm()), rel=1e-4)
    moments = done.moments()
    torch.testing.assert_close(moments["exp_avg"] / (1 - BETA_1), expected.gradient, atol=1e-6, rtol=1e-3)
    torch.testing.assert_close(moments["exp_avg_sq"] / (1 - BETA_2), expected.gradient**2, atol=1e-6, rtol=1e-2)


def test_the_loss_of_a_validation_is_the_mean_over_its_tokens_without_dropout_and_smoothing(
    run: Callable[..., Run], pairs: Pairs
) -> None:
    done = run("one", pairs, model__dropout=0.5, training__label_smoothing=SMOOTHING, training__validation_pairs=60)
    (validation,) = (event for event in read_log(done.out / "log.jsonl") if event["event"] == "validation")
    assert validation["log_loss"] == pytest.approx(by_hand(done).log_loss, rel=1e-5)


def test_what_adam_is_given_is_clipped_and_the_norm_that_is_told_is_not(run: Callable[..., Run], pairs: Pairs) -> None:
    free, clipped = run("free", pairs), run("clipped", pairs, training__clip=0.01)
    norm = free.updates()[0]["gradient_norm"]
    assert clipped.updates()[0]["gradient_norm"] == norm > 0.02
    torch.testing.assert_close(clipped.moments()["exp_avg"], free.moments()["exp_avg"] * 0.01 / norm)


@pytest.mark.parametrize("random", ["model__dropout", "subwords__sampling"])
def test_every_chunk_of_every_update_has_random_numbers_of_its_own(
    run: Callable[..., Run], pairs: Pairs, random: str
) -> None:
    """All pairs are one pair, and the weights stay: only random numbers make one loss differ from another."""
    begin = run("begin", pairs).out
    same = 24 * [pairs[0]]
    chunk = 6 * (len(Subwords.load(begin).target.encode(pairs[0][1])) + 1)

    def losses(name: str, chunks: int, seed: int = 1) -> list[float]:
        sizes = {"training__chunk_tokens": chunk, "training__batch_tokens": chunks * chunk, "training__updates": 4}
        done = run(name, same, **sizes, **{random: 0.3}, init=begin, seed=seed)
        return [update["loss"] for update in done.updates()]

    singly, again, seeded, doubly = losses("a", 1), losses("b", 1), losses("c", 1, seed=2), losses("d", 2)
    assert singly == again
    assert len(set(singly + seeded)) == 8, "each update, and each seed, draws its own"
    assert abs(doubly[0] - singly[0]) > 1e-3, "the second chunk does not repeat the first"
