"""The convolutional systems must learn: to copy and to reverse sequences that they have not seen."""

from __future__ import annotations

import pytest

from lessons import TASKS, Lesson, rightness
from tongsa.models.bytenet import ByteNetSection
from tongsa.models.convs2s import ConvS2SSection
from tongsa.models.neural_gpu import NeuralGPUSection

LESSONS = {
    "convs2s": Lesson(ConvS2SSection(encoder_layers=1, decoder_layers=1, d_model=48, dropout=0.0, max_positions=12), 6),
    "bytenet": Lesson(ByteNetSection(d_model=64, sets=1, max_dilation=4, dropout=0.0), 6, peak=0.005),
    # Its steps are one after the other, so it is slow: shorter sequences.
    "extended-neural-gpu": Lesson(
        NeuralGPUSection(d_model=32, rows=1, layers=1, unfold_b=1, dropout=0.0), 4, peak=0.015
    ),
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", LESSONS)
def test_a_small_one_learns_to(name: str, task: str) -> None:
    right, long = rightness(LESSONS[name], TASKS[task])
    assert right > 0.95
    assert long > 0.95
