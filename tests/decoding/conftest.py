"""A model whose probabilities stand in a table, for search to be checked against by hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tongsa.models.contracts import Seq2Seq, State, Tree


class TableModel(Seq2Seq):
    """The logits after a prefix are a pure function of source, prefix and `seed`: anyone can look them up.

    Tokens are 0 (the end) to vocabulary - 1; `<pad>` is `vocabulary`. The state holds the source and the tokens so far,
    so a search that mixes up rows reads the wrong table.
    """

    def __init__(self, vocabulary: int, seed: int = 0, sharpness: float = 2.0) -> None:
        super().__init__()
        self.vocabulary, self.seed, self.sharpness = vocabulary, seed, sharpness
        self.largest_batch: list[int] = []
        self.anchor = torch.nn.Parameter(torch.zeros(1))  # an engine asks a model for its device

    def logits(self, source: tuple[int, ...], prefix: tuple[int, ...]) -> Tensor:
        number = hash((self.seed, source, prefix)) % (1 << 31)  # tuples of ints hash alike in every process
        return self.sharpness * torch.randn(self.vocabulary, generator=torch.Generator().manual_seed(number))

    def encode(self, source: Tensor, source_mask: Tensor) -> Tree:
        return (source.masked_fill(~source_mask, -1),)

    def start(self, memory: Tree) -> State:
        assert isinstance(memory, tuple)
        assert isinstance(memory[0], Tensor)
        return State(memory, (torch.empty(len(memory[0]), 0, dtype=torch.long),))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        (source,), (written,) = state
        assert isinstance(source, Tensor)
        assert isinstance(written, Tensor)
        written = torch.cat([written, tokens[:, None]], dim=1)
        self.largest_batch.append(len(tokens))
        rows = zip(source.tolist(), written.tolist(), strict=True)
        logits = [self.logits(tuple(t for t in s if t >= 0), tuple(w[1:])) for s, w in rows]
        return torch.stack(logits), State(state.memory, (written,))

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        state = self.start(memory)
        steps = []
        for tokens in target.T:
            logits, state = self.step(tokens, state)
            steps.append(logits)
        return torch.stack(steps, dim=1)

    def projection(self) -> Tensor:
        return torch.eye(self.vocabulary + 1, self.vocabulary)


@pytest.fixture
def table_model() -> type[TableModel]:
    return TableModel
