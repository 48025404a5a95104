"""Where each hop looks, for some questions: the paper's Figure 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tongsa.lab.babi.encoding import encode
from tongsa.lab.babi.saving import Trained
from tongsa.lab.babi.stories import Question


@dataclass(frozen=True)
class Look:
    """A question, its answer, and the weight of every sentence at every hop."""

    question: Question
    answer: str
    """The network's."""
    probability: float
    """That the network gives its answer."""
    first: int
    """Sentences of the story before this one did not fit into the memory."""
    weights: list[list[float]]
    """By hop, then by sentence from `first` on: p of Eq. 1."""
    nothing: list[float]
    """By hop: the weight of all empty places of the memory together."""

    @property
    def right(self) -> bool:
        return self.answer == self.question.answer


@torch.no_grad()
def look(trained: Trained, questions: Sequence[Question]) -> list[Look]:
    memories = trained.network.shape.memories
    encoded = encode(questions, trained.lexicon, memories, trained.encoding)
    batch = encoded.batch(torch.arange(len(encoded)))
    seen: list[torch.Tensor] = []
    logits = trained.network(batch.sentences, batch.story, batch.times, batch.question, seen=seen)
    best = torch.softmax(logits, dim=-1).max(dim=-1)
    found = []
    for row, question in enumerate(questions):
        held = int(encoded.length[row])
        # The memory holds the most recent sentence first; a story is read the other way round.
        weights = [p[row, :held].flip(0).tolist() for p in seen]
        nothing = [float(p[row, held:].sum()) for p in seen]
        answer = trained.lexicon.words[int(best.indices[row])]
        found.append(Look(question, answer, float(best.values[row]), len(question.story) - held, weights, nothing))
    return found


def as_text(view: Look) -> str:
    """The story with a column a hop; a star at the sentences that hold the answer."""
    question = view.question
    told = question.story[view.first :]
    width = max([len(sentence) for sentence in told] + [len("(empty memories)")])
    hops = "".join(f"  hop {hop}" for hop in range(1, len(view.weights) + 1))
    lines = [f"  {'':{width}}  {hops}"]
    if view.first:
        lines.append(f"  ({view.first} earlier sentences do not fit into the memory)")
    for place, sentence in enumerate(told):
        star = "*" if place + view.first in question.supports else " "
        lines.append(f"{star} {sentence:{width}}  {_weights([hop[place] for hop in view.weights])}")
    if max(view.nothing) >= 0.005:
        lines.append(f"  {'(empty memories)':{width}}  {_weights(view.nothing)}")
    verdict = "right" if view.right else f"wrong: {question.answer}"
    return "\n".join([*lines, f"  {question.text}  {view.answer} ({view.probability:.2f}, {verdict})"]) + "\n"


def _weights(values: Sequence[float]) -> str:
    return "".join(f"  {value:5.2f}" if value >= 0.005 else "      ." for value in values)
