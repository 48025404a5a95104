"""The reference engine: PyTorch, every architecture, attention weights."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import torch
from torch import Tensor

from tongsa.base.errors import UsageError
from tongsa.decoding.recording import BeamTree, record_beam
from tongsa.decoding.search import Hypothesis, Search, Special, aligning_layer, most_attended
from tongsa.decoding.searching import decode
from tongsa.engines.base import cut_note, scored_at_once, similar_lengths
from tongsa.engines.forks import after_fork
from tongsa.models.contracts import Attention, Seq2Seq, token_mask
from tongsa.models.weights import load_model
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.text.subwords import END, Subwords


def _one_thread() -> None:
    """The threads that PyTorch shares work with do not exist in a forked process, which would wait for them."""
    torch.set_num_threads(1)


after_fork(_one_thread)


class NativeEngine:
    name = "native"

    def __init__(
        self,
        model: Seq2Seq,
        *,
        source_pad: int,
        target_pad: int,
        end: int,
        unwritable: Collection[int] = (),
        batch_tokens: int = 4096,
    ) -> None:
        """`unwritable` are the pieces that no search may write: see `tongsa.text.subwords`."""
        self.model = model.eval()
        self.source_pad = source_pad
        self.special = Special(start=target_pad, end=end, unwritable=unwritable)
        self.batch_tokens = batch_tokens
        self.device = next(model.parameters()).device
        self.longest = model.max_length

    @classmethod
    def load(cls, directory: Path, card: Card, subwords: Subwords, device: torch.device) -> NativeEngine:
        """Open the engine of a translator directory."""
        return cls(
            load_model(Run(directory), card, subwords, device),
            source_pad=subwords.source.pad,
            target_pad=subwords.target.pad,
            end=END,
            unwritable=subwords.target.unwritable,
            batch_tokens=card.recipe.decoding.batch_tokens,
        )

    def with_model(self, model: Seq2Seq) -> NativeEngine:
        """An engine with another model of the same vocabulary."""
        return NativeEngine(
            model,
            source_pad=self.source_pad,
            target_pad=self.special.start,
            end=self.special.end,
            unwritable=self.special.unwritable,
            batch_tokens=self.batch_tokens,
        )

    def translate(
        self, sources: Sequence[Sequence[int]], search: Search, prefixes: Sequence[Sequence[int]] = ()
    ) -> list[list[Hypothesis]]:
        width = search.nbest if search.sampling else max(search.beam, search.nbest)
        found: list[list[Hypothesis]] = [[] for _ in sources]
        for places in similar_lengths([len(ids) + 1 for ids in sources], max(1, self.batch_tokens // width)):
            source, mask = self._source([sources[i] for i in places])
            given = [prefixes[i] for i in places] if prefixes else ()
            decoded = decode(self.model, source, mask, search, self.special, prefixes=given)
            for i, hypotheses in zip(places, decoded, strict=True):
                found[i] = self._noted(hypotheses, sources[i])
            if search.alignment:
                self._align([(i, j) for i in places for j in range(len(found[i]))], sources, found)
        return found

    @torch.inference_mode()
    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        found: list[list[float]] = [[] for _ in sources]
        lengths = [max(len(source), len(target)) + 1 for source, target in zip(sources, targets, strict=True)]
        for places in similar_lengths(lengths, scored_at_once(self.device.type)):
            source, mask = self._source([sources[i] for i in places])
            written = [[*self._within_reach(targets[i]), self.special.end] for i in places]
            read = _padded([[self.special.start, *ids[:-1]] for ids in written], self.special.start, self.device)
            log_p = torch.log_softmax(self.model(source, mask, read).float(), dim=-1)
            for row, (i, ids) in enumerate(zip(places, written, strict=True)):
                found[i] = log_p[row, torch.arange(len(ids)), torch.tensor(ids)].tolist()
        return found

    @torch.inference_mode()
    def attention(self, source: Sequence[int], target: Sequence[int]) -> Attention:
        """Return the weights of every layer and head for this source and target (including its end)."""
        tokens, mask = self._source([source])
        read = [[self.special.start, *self._within_reach(target)]]
        return self.model.attend(tokens, mask, torch.tensor(read, device=self.device))

    def beam_tree(self, source: Sequence[int], search: Search) -> BeamTree:
        """Search for the translation of a source, and return every candidate on the way."""
        return record_beam(self.model, *self._source([source]), search, self.special)

    @torch.inference_mode()
    def _align(
        self, places: list[tuple[int, int]], sources: Sequence[Sequence[int]], found: list[list[Hypothesis]]
    ) -> None:
        """Add alignments in a second pass over all hypotheses at once."""
        source, mask = self._source([sources[i] for i, _ in places])
        written = [found[i][j].ids for i, j in places]
        read = _padded([[self.special.start, *ids] for ids in written], self.special.start, self.device)
        cross = self.model.attend(source, mask, read).cross
        if not cross:
            return
        weights = cross[aligning_layer(len(cross))].mean(dim=1)
        lengths = (mask.sum(dim=1) - 1).tolist()  # without the end
        for row, (i, j) in enumerate(places):
            seen = weights[row, : len(written[row]), : lengths[row]].tolist()
            found[i][j] = found[i][j]._replace(alignment=most_attended(seen))

    def _noted(self, hypotheses: list[Hypothesis], source: Sequence[int]) -> list[Hypothesis]:
        """Add a note if the model saw only the beginning of the source."""
        longest = self.model.max_length
        if longest is None or len(source) < longest:
            return hypotheses
        return [one._replace(note=cut_note(longest)) for one in hypotheses]

    def _within_reach(self, target: Sequence[int]) -> Sequence[int]:
        """Refuse a target that is too long; cutting it would change its probability."""
        longest = self.model.max_length
        if longest is not None and len(target) >= longest:
            raise UsageError(
                f"a target has {len(target):,} subwords; this model was trained with {longest:,} positions",
                "Leave it out, or cut it into sentences.",
            )
        return target

    def _source(self, sources: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        longest = self.model.max_length
        rows = [[*(ids if longest is None else ids[: longest - 1]), self.special.end] for ids in sources]
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        return _padded(rows, self.source_pad, self.device), token_mask(lengths, max(map(len, rows)))


def _padded(rows: list[list[int]], pad: int, device: torch.device) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows], device=device)
