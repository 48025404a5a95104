"""Operations that are counted are those that a pencil finds."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from tongsa.config import ModelSection, TransformerSection
from tongsa.data.prepare import Prepared
from tongsa.lab.compare.comparison import Comparison
from tongsa.lab.compare.operations import flops_per_token
from tongsa.models import build
from tongsa.models.recurrent import RecurrentSection
from tongsa.runs.directory import Run


@pytest.mark.parametrize(
    ("section", "matrices"),
    [
        # an LSTM has four gates that read x and h, in encoder and decoder
        (RecurrentSection(architecture="lstm", d_model=32), (8 * 32 * 32, 8 * 32 * 32)),
        (RecurrentSection(architecture="gru", d_model=32), (6 * 32 * 32, 6 * 32 * 32)),
        (
            TransformerSection(d_model=32, d_ff=64, heads=2, encoder_layers=1, decoder_layers=1),
            (4 * 32 * 32 + 2 * 32 * 64 + 2 * 32 * 32, 6 * 32 * 32 + 2 * 32 * 64),
        ),
    ],
)
def test_six_operations_for_each_weight_and_token(
    finished: tuple[Path, Comparison], section: ModelSection, matrices: tuple[int, int]
) -> None:
    directory = finished[0] / "models" / "gru"
    data = Prepared.open(directory)
    recipe, _ = Run(directory).read_job()
    torch.manual_seed(0)
    model = build(section, len(data.subwords.source), None)
    found = flops_per_token(model, dataclasses.replace(recipe, model=section), data)
    ratio = (data.train.source.lengths + 1).sum() / (data.train.target.lengths + 1).sum()
    known = 6 * (ratio * matrices[0] + matrices[1] + 32 * len(data.subwords.target))
    # padding is computed too, and attention's scores grow with the length; the embeddings' own inputs need no gradient
    assert known * 0.9 < found < known * 1.3
    assert all(parameter.grad is None for parameter in model.parameters())
