"""Stories as tensors: every distinct sentence once, as weighted bags of words; questions as rows of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tongsa.data.stories import Question, words
from tongsa.models.memory_network import NOTHING, MemoryNetworkSection, Sentences, word_weights

UNKNOWN = -1
"""An answer that no training question has: the model cannot give it, so it always counts as wrong."""


class Lexicon:
    """The words of the training questions, including the answers."""

    def __init__(self, known: Sequence[str]) -> None:
        self.words = list(known)
        self.places = {word: place for place, word in enumerate(self.words)}

    @classmethod
    def of(cls, questions: Sequence[Question]) -> Lexicon:
        texts = {text for question in questions for text in (*question.story, question.text)}
        spoken = {word for text in texts for word in words(text)}
        return cls(sorted(spoken | {question.answer for question in questions}))

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class StoryBatch:
    """A batch of questions for the network, with only the sentences that occur in the batch."""

    sentences: Sentences
    story: Tensor
    """(batch, memories)"""
    times: Tensor
    """(batch, memories)"""
    question: Tensor
    """(batch)"""
    answer: Tensor
    """(batch)"""

    def to(self, device: torch.device) -> StoryBatch:
        return StoryBatch(
            sentences=Sentences(self.sentences.alpha.to(device), self.sentences.beta.to(device)),
            story=self.story.to(device),
            times=self.times.to(device),
            question=self.question.to(device),
            answer=self.answer.to(device),
        )


@dataclass(frozen=True)
class Encoded:
    """Questions as rows of the distinct sentences; the most recent sentence of a story comes first (§4.1)."""

    sentences: Sentences
    story: Tensor
    """(questions, memories)"""
    length: Tensor
    """(questions): sentences of the story that fit into the memory"""
    question: Tensor
    answer: Tensor
    task: Tensor
    unknown_words: int
    """Number of distinct words in the questions and stories that are not in the lexicon, and are ignored."""

    def __len__(self) -> int:
        return len(self.answer)

    def batch(self, rows: Tensor, noise: float = 0.0, generator: torch.Generator | None = None) -> StoryBatch:
        """A batch of the questions; with the noise of §4.1, up to that share of empty memories is added to a story."""
        story, question = self.story[rows], self.question[rows]
        used = torch.cat([torch.tensor([NOTHING]), story.flatten(), question])
        distinct, places = torch.unique(used, return_inverse=True)  # sorted: NOTHING stays row 0
        return StoryBatch(
            sentences=Sentences(self.sentences.alpha[distinct], self.sentences.beta[distinct]),
            story=places[1 : 1 + story.numel()].view_as(story),
            times=times(self.length[rows], story.shape[1], noise, generator),
            question=places[1 + story.numel() :],
            answer=self.answer[rows],
        )

    def batches(
        self, rows: Tensor, size: int, noise: float = 0.0, generator: torch.Generator | None = None
    ) -> Iterator[StoryBatch]:
        for part in rows.split(size):
            yield self.batch(part, noise, generator)


def times(length: Tensor, memories: int, noise: float, generator: torch.Generator | None) -> Tensor:
    """(batch, memories): 1, 2, ... for the sentences of a story, 0 for places without one.

    An empty memory holds nothing, so its only effect is to move the sentences after it further into the past: the times
    of a story with `b` empty memories are a draw of `length` out of 1 ... length + b. None goes beyond `memories`.
    """
    places = torch.arange(memories)
    mask = places < length[:, None]
    if not noise:
        return (places + 1) * mask
    most = torch.ceil(length * noise)
    empty = (torch.rand(len(length), generator=generator) * (most + 1)).long()
    wide = memories + int(most.max())
    keys = torch.rand(len(length), wide, generator=generator)
    keys[torch.arange(wide) >= (length + empty)[:, None]] = 2.0
    drawn = keys.argsort(dim=1)[:, :memories] + 1  # only the first `length` count
    drawn[~mask] = wide + 1
    return drawn.sort(dim=1).values.clamp(max=memories) * mask


def encode(questions: Sequence[Question], lexicon: Lexicon, section: MemoryNetworkSection) -> Encoded:
    texts = dict.fromkeys(text for question in questions for text in (*question.story, question.text))
    rows = {text: row for row, text in enumerate(texts, NOTHING + 1)}
    sentences, unknown = _bags(list(texts), lexicon, section)
    memories = section.memories
    story = torch.full((len(questions), memories), NOTHING)
    length = torch.zeros(len(questions), dtype=torch.long)
    for number, question in enumerate(questions):
        recent = [rows[text] for text in reversed(question.story[-memories:])]
        story[number, : len(recent)] = torch.tensor(recent, dtype=torch.long)
        length[number] = len(recent)
    return Encoded(
        sentences=sentences,
        story=story,
        length=length,
        question=torch.tensor([rows[question.text] for question in questions]),
        answer=torch.tensor([lexicon.places.get(question.answer, UNKNOWN) for question in questions]),
        task=torch.tensor([question.task for question in questions]),
        unknown_words=unknown,
    )


def longest_sentence(questions: Sequence[Question]) -> int:
    """Number of words of the longest sentence or question."""
    return max(len(words(text)) for question in questions for text in (*question.story, question.text))


def _bags(texts: Sequence[str], lexicon: Lexicon, section: MemoryNetworkSection) -> tuple[Sentences, int]:
    alpha = torch.zeros(len(texts) + 1, len(lexicon))
    beta = torch.zeros_like(alpha)
    unknown: set[str] = set()
    for row, text in enumerate(texts, NOTHING + 1):
        found = words(text)
        for j, word in enumerate(found, 1):
            place = lexicon.places.get(word)
            if place is None:
                unknown.add(word)
                continue
            to_alpha, to_beta = word_weights(j, len(found), section)
            alpha[row, place] += to_alpha
            beta[row, place] += to_beta
    return Sentences(alpha, beta), len(unknown)
