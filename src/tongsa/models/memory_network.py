"""The memory network that answers questions: "End-To-End Memory Networks" (Sukhbaatar et al. 2015, arXiv 1503.08895).

A story of sentences x_1 ... x_n, a question q, an answer a. Each of K hops attends to all sentences of the story and
adds what it found to what it asks next:

    u^1 = B q                                      the question
    p_i = softmax(u^T m_i),   m_i = A x_i          where it attends        Eq. 1
    o   = sum_i p_i c_i,      c_i = C x_i          what it finds there     Eq. 2
    u^(k+1) = u^k + o^k                            what it asks next       Eq. 4
    a   = softmax(W (o^K + u^K))                   the answer              Eq. 3

It is no `Seq2Seq`: it writes one word. The language model of §5 is in memory_language_model.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from tongsa.config.architectures import MAX_LAYERS, MAX_POSITIONS, ModelSection
from tongsa.config.complexity import MEMORY_HOP, Facts
from tongsa.config.sections import bounds

Tying = Literal["adjacent", "layerwise"]
Encoding = Literal["position", "released", "bag"]

MAX_EPOCHS = 1_000_000
NOTHING = 0
"""The row of `Sentences` that holds no sentence, and the time of a memory that is not there."""


@dataclass(frozen=True, kw_only=True)
class MemoryNetworkSection(ModelSection):
    """The memory network of §2 to §4; the defaults are the paper's for all tasks together."""

    architecture: Literal["memory-network"] = "memory-network"
    """Name of the architecture; d_model is d."""
    d_model: int = 50
    """d, the width of the embeddings: 50 for all tasks together, 20 for one alone (§4.2)."""
    dropout: float = 0.0
    """The paper has none."""
    hops: int = 3
    """K, how many times the network attends to the story."""
    memories: int = 50
    """Sentences that fit into the memory: the most recent ones of a story (§4.2)."""
    tying: Tying = "adjacent"
    """Which matrices of the hops are the same (§2.2)."""
    encoding: Encoding = "position"
    """Sentences as weighted bags that keep the order of words (§4.1: position; released: the weights of the authors'
    program), or as plain bags of words."""
    max_words: int = 0
    """J of the encoding "released", the same for all sentences (0: one more than the longest training sentence has)."""
    linear_epochs: int = 0
    """Epochs of the linear start, if the schedule has one (0: until the validation loss stops falling)."""
    noise: float = 0.1
    """Largest share of empty memories that training adds to a story (§4.1, random noise)."""

    def facts(self, n: float) -> Facts:
        layers = f"{self.hops} hops"
        return Facts(kind=MEMORY_HOP, layers=layers, d=self.d_model, decoder_path="–", sees=self.memories)

    def problems(self) -> list[str]:
        return super().problems() + bounds(
            self,
            hops=(1, MAX_LAYERS),
            memories=(1, MAX_POSITIONS),
            noise=(0, 1),
            dropout=(0, 0),
            max_words=(0, MAX_POSITIONS),
            linear_epochs=(0, MAX_EPOCHS),
        )


@dataclass(frozen=True)
class Sentences:
    """The distinct sentences of a batch as weighted bags of words; row 0 holds no sentence at all.

    The position encoding (§4.1) weighs word j of J in dimension k of d by

        l_kj = (1 - j/J) - (k/d)(1 - 2j/J),

    which is linear in k. So sum_j l_j · A x_j = (alpha A) - (k/d) · (beta A), where a row of alpha holds 1 - j/J, and
    one of beta 1 - 2j/J, at the places of the words: two products of matrices instead of a look-up for every word.
    The weights of the authors' program are linear in k too (`released_encoding`).
    """

    alpha: Tensor
    """(sentences, words)"""
    beta: Tensor
    """(sentences, words): all zero for plain bags of words."""


class MemoryNetwork(nn.Module):
    """Hops over the sentences of a story."""

    section = MemoryNetworkSection

    def __init__(self, config: MemoryNetworkSection, words: int) -> None:
        """`words` is V, the size of the vocabulary; answers are words of it."""
        super().__init__()
        self.config = config
        adjacent = config.tying == "adjacent"
        # Adjacent (§2.2): A^1 = B, then A^(k+1) = C^k, and W^T = C^K. Layer-wise: A, C, B and W^T, each for all hops.
        tables = config.hops + 1 if adjacent else 4
        self.embeddings = nn.Parameter(torch.empty(words, tables, config.d_model))
        # T_A and T_C (§4.1) are tied as A and C are; time 0 is that of no memory, and stays zero.
        self.times = nn.Parameter(torch.empty(config.memories, config.hops + 1 if adjacent else 2, config.d_model))
        self.h = None if adjacent else nn.Linear(config.d_model, config.d_model, bias=False)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.1)  # §4.2

    def forward(
        self,
        sentences: Sentences,
        story: Tensor,
        times: Tensor,
        question: Tensor,
        linear: bool = False,
        seen: list[Tensor] | None = None,
    ) -> Tensor:
        """Logits (batch, words) of the answer.

        story (batch, memories) and question (batch) are rows of `sentences`; times (batch, memories) are distances from
        the question, 1 for the sentence just before it. `linear` leaves the softmax of the hops out: the linear start
        (§4.1). `seen` collects p (batch, memories), one tensor a hop.
        """
        embedded = self.embed(sentences)  # (sentences, tables, d)
        time = torch.cat([torch.zeros_like(self.times[:1]), self.times])
        adjacent = self.config.tying == "adjacent"
        u = embedded[question, 0 if adjacent else 2]
        for hop in range(self.config.hops):
            a, c = (hop, hop + 1) if adjacent else (0, 1)
            p = attend(u, embedded[:, a], time[:, a], story, times, linear)
            o = read(p, embedded[:, c], time[:, c], story, times)
            u = (u if self.h is None else self.h(u)) + o
            if seen is not None:
                seen.append(p.detach())
        return u @ self.embeddings[:, -1].T

    def embed(self, sentences: Sentences) -> Tensor:
        """Every sentence through every matrix at once: (sentences, tables, d)."""
        flat = self.embeddings.flatten(1)  # (words, tables * d)
        alpha, beta = (bags @ flat for bags in (sentences.alpha, sentences.beta))
        shape, d = (-1, *self.embeddings.shape[1:]), self.config.d_model
        return alpha.view(shape) - beta.view(shape) * (torch.arange(1, d + 1, device=flat.device) / d)


def attend(u: Tensor, m: Tensor, time: Tensor, story: Tensor, times: Tensor, linear: bool) -> Tensor:
    """p_i = softmax(u^T (m_i + T_A(i))): (batch, memories)                                         Eq. 1, §4.1

    Empty places of the memory have m_i = 0 and take part, as in the paper: a hop can attend there to find nothing.
    A sentence that several stories share meets each u once, in a product of matrices, and is picked from there.
    """
    scores = (u @ m.T).gather(1, story) + (u @ time.T).gather(1, times)
    return scores if linear else torch.softmax(scores, dim=-1)


def read(p: Tensor, c: Tensor, time: Tensor, story: Tensor, times: Tensor) -> Tensor:
    """o = sum_i p_i (c_i + T_C(i)): (batch, d)                                                     Eq. 2, §4.1"""
    over_sentences = p.new_zeros(len(p), len(c)).scatter_add(1, story, p)
    over_times = p.new_zeros(len(p), len(time)).scatter_add(1, times, p)
    return over_sentences @ c + over_times @ time


def position_encoding(words: int, d: int) -> Tensor:
    """l_kj = (1 - j/J) - (k/d)(1 - 2j/J), both counted from 1: (words, d)                                   §4.1"""
    j = torch.arange(1, words + 1)[:, None] / words
    k = torch.arange(1, d + 1) / d
    return (1 - j) - k * (1 - 2 * j)


def released_encoding(words: int, d: int, longest: int) -> Tensor:
    """1 + 4 (k - (d+1)/2)(j - (J+1)/2) / (dJ), with one J for all sentences: (words, d)

    Not the formula that §4.1 prints, but the one of the program that its authors released (facebook/MemNN). Up to half
    a step in k and j it is twice the printed weight, and a word at one place has the same weights in every sentence.
    """
    j = torch.arange(1, words + 1)[:, None]
    k = torch.arange(1, d + 1)
    return 1 + 4 * (k - (d + 1) / 2) * (j - (longest + 1) / 2) / (d * longest)


def word_weights(j: int, words: int, section: MemoryNetworkSection) -> tuple[float, float]:
    """What word j of a sentence adds to alpha and beta of `Sentences`; its weight is alpha - (k/d) beta."""
    if section.encoding == "position":
        return 1 - j / words, 1 - 2 * j / words
    if section.encoding == "released":
        off_centre = (j - (section.max_words + 1) / 2) / section.max_words
        return 1 - 2 * off_centre * (section.d_model + 1) / section.d_model, -4 * off_centre
    return 1.0, 0.0
