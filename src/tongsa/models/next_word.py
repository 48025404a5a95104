"""The Transformer whose decoder is shown the next word of the source, for parsing.

A parser takes the words of a sentence one after the other. The paper's decoder (§6.3) has to find out by attention
which word comes next; here the encoder's states of that word and of the last one taken are added to the decoder's
input. This is not the paper's: it is a hard attention to the front of the buffer, as in Liu and Zhang 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn

from tongsa.config import TransformerSection
from tongsa.models.attention import KeysValues
from tongsa.models.contracts import Attention, State, Tree
from tongsa.models.layers import initialise
from tongsa.models.transformer import Transformer

Memory = tuple[Tensor, Tensor, Tensor]
"""The encoder's output, the source mask, and what is shown for each word (batch, words + 1, d_model)."""


@dataclass(frozen=True, kw_only=True)
class NextWordSection(TransformerSection):
    """The Transformer, with the next word shown to the decoder."""

    architecture: Literal["transformer-next-word"] = "transformer-next-word"
    """Name of the architecture."""


class NextWordTransformer(Transformer):
    """A Transformer that counts the words it has taken."""

    section = NextWordSection  # type: ignore[assignment]

    begins_word: Tensor
    takes_word: Tensor

    def __init__(self, config: NextWordSection, source_size: int, target_size: int | None = None) -> None:
        super().__init__(config, source_size, target_size)
        self.next_word = nn.Linear(config.d_model, config.d_model)
        self.last_word = nn.Linear(config.d_model, config.d_model)
        self.next_word.apply(initialise)
        self.last_word.apply(initialise)
        rows = source_size if target_size is None else target_size
        self.register_buffer("begins_word", torch.zeros(source_size, dtype=torch.bool), persistent=False)
        self.register_buffer("takes_word", torch.zeros(rows, dtype=torch.bool), persistent=False)

    def know_words(self, begins_word: Tensor, takes_word: Tensor) -> None:
        """Tell which source pieces begin a word, and which target tokens take one."""
        self.begins_word.copy_(begins_word)
        self.takes_word.copy_(takes_word)

    def encode(self, source: Tensor, source_mask: Tensor) -> Tree:
        encoded = self._encode(source, source_mask)
        return encoded, source_mask, self._words(encoded, source, source_mask)

    def _word_positions(self, source: Tensor, source_mask: Tensor) -> Tensor:
        """(batch, words + 1): the position of each word's first piece; the last one is the end of the sentence."""
        begins = self.begins_word[source] & source_mask
        word = begins.cumsum(dim=1)
        positions = torch.arange(source.shape[1], device=source.device).expand_as(source)
        last = source_mask.sum(dim=1, keepdim=True) - 1
        found = last.repeat(1, int(word.max()) + 2)
        # Pieces inside a word go to a last column of no use.
        found.scatter_(1, torch.where(begins, word - 1, found.shape[1] - 1), positions)
        return found[:, :-1]

    def _words(self, encoded: Tensor, source: Tensor, source_mask: Tensor) -> Tensor:
        """(batch, words + 1, d_model): what the decoder is shown when so many words have been taken."""
        positions = self._word_positions(source, source_mask)
        states = encoded.gather(1, positions[..., None].expand(-1, -1, encoded.shape[2]))
        last = nn.functional.pad(self.last_word(states[:, :-1]), (0, 0, 1, 0))  # before the first word there is none
        return self.next_word(states) + last  # type: ignore[no-any-return]

    def _shown(self, words: Tensor, taken: Tensor) -> Tensor:
        """(batch, steps, d_model): what is shown where so many words have been taken."""
        index = taken.clamp(max=words.shape[1] - 1)
        return words.gather(1, index[..., None].expand(-1, -1, words.shape[2]))

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        encoded, source_mask, words = cast(Memory, memory)
        shown = self._shown(words, self.takes_word[target].cumsum(dim=1))
        return self._with_one(self._decode(encoded, source_mask, target, (None, None), shown))

    def attend(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Attention:
        seen = Attention(encoder=[], decoder=[], cross=[])
        memory = self._encode(source, source_mask, seen.encoder)
        shown = self._shown(self._words(memory, source, source_mask), self.takes_word[target].cumsum(dim=1))
        self._decode(memory, source_mask, target, (seen.decoder, seen.cross), shown)
        return seen

    def start(self, memory: Tree) -> State:
        encoded, source_mask, words = cast(Memory, memory)
        inner = super().start((encoded, source_mask))
        taken = torch.zeros(len(encoded), dtype=torch.long, device=encoded.device)
        return State(memory=(inner.memory, words), cache=(inner.cache, taken))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        memory, words = cast(tuple[Tree, Tensor], state.memory)
        cache, taken = cast(tuple[tuple[KeysValues, ...], Tensor], state.cache)
        taken = taken + self.takes_word[tokens]
        logits, after = self._step(tokens, State(memory, cache), self._shown(words, taken[:, None]))
        return logits, State(state.memory, (after.cache, taken))
