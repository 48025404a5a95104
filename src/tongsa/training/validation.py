"""Validation while training: the loss, and BLEU by real decoding, shared among the workers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from tongsa.data.batches import Plan, assemble
from tongsa.data.prepare import Prepared
from tongsa.decoding import Search
from tongsa.engines.native import NativeEngine
from tongsa.evaluation.metrics import text_metric
from tongsa.models.contracts import Seq2Seq
from tongsa.models.loss import smoothed_cross_entropy
from tongsa.text.subwords import END
from tongsa.training.distributed import Team

CHUNK_TOKENS = 4096


@dataclass(frozen=True, kw_only=True)
class Validation:
    log_loss: float
    """-log p of a token, on average: e to the power of it is the perplexity."""
    bleu: float
    hypotheses: list[str]


def validate(model: Seq2Seq, data: Prepared, team: Team, target_language: str) -> Validation:
    """Greedy decoding: cheap, and it ranks checkpoints as beam search would."""
    training = model.training
    model.eval()
    hypotheses = _translate(model, data, team)
    loss = _log_loss(model, data, team)
    model.train(training)
    references = [target for _, target in data.valid_text]
    bleu = text_metric("bleu").corpus(hypotheses, references, language=target_language)
    return Validation(log_loss=loss, bleu=bleu.score, hypotheses=hypotheses)


def _translate(model: Seq2Seq, data: Prepared, team: Team) -> list[str]:
    engine = NativeEngine(model, source_pad=data.subwords.source.pad, target_pad=data.subwords.target.pad, end=END)
    mine = range(team.rank, len(data.valid), team.size)
    found = engine.translate([data.valid.source[i].tolist() for i in mine], Search(beam=1, max_ratio=1.5, max_extra=10))
    rows = {i: hypotheses[0].ids for i, hypotheses in zip(mine, found, strict=True)}
    return [data.subwords.target.decode(ids) for ids in team.share_rows(rows, len(data.valid))]


@torch.no_grad()
def _log_loss(model: Seq2Seq, data: Prepared, team: Team) -> float:
    """Over the pairs that the model can read whole: learned positions have an end."""
    plan = Plan.of(data.valid, batch_tokens=CHUNK_TOKENS, chunk_tokens=CHUNK_TOKENS, seed=0)
    device = next(model.parameters()).device
    sums = torch.zeros(2, dtype=torch.float64)
    longest = np.maximum(plan.source_lengths, plan.target_lengths)
    for chunk in plan.chunks(np.random.default_rng(0))[team.rank :: team.size]:
        rows = chunk if model.max_length is None else chunk[longest[chunk] <= model.max_length]
        if not len(rows):
            continue
        batch = assemble(data.valid, rows, data.subwords, sampling=0.0, seed=0).to(device)
        logits = model(batch.source, batch.source_mask, batch.target)
        real = batch.labels != data.subwords.target.pad
        sums[0] += float(smoothed_cross_entropy(logits[real], batch.labels[real], 0.0).log_loss)
        sums[1] += int(real.sum())
    team.sum(sums)
    return float(sums[0] / sums[1].clamp(min=1))
