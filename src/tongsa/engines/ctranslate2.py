"""The fast engine: CTranslate2, with the same results as the native one.

Its beam search takes the same steps as ours (2 x beam candidates, those that end among the first `beam` are set aside,
done when `beam` have ended), but ranks by n^alpha. So we request the whole beam with plain probabilities, and rank it
here with the paper's formula. We also handle what its searches lack: a length limit per sentence, the probability of
the end when the limit cuts a hypothesis off, and sentences longer than its table of positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ctranslate2

from tongsa.base.devices import usable_cores
from tongsa.decoding.search import Hypothesis, Sampling, Search, length_limit, length_penalty, most_attended
from tongsa.engines.base import cut_note, scored_at_once, similar_lengths
from tongsa.engines.compiled import CompiledEngines, max_positions
from tongsa.engines.forks import PerProcess
from tongsa.runs.card import Card
from tongsa.text.subwords import END, Subwords

if TYPE_CHECKING:
    from tongsa.engines.native import NativeEngine

NO_PENALTY = 1e-9
"""A tiny penalty that changes no score: with exactly 0, CTranslate2 stops before `beam` hypotheses have ended."""


ENDING = "</s>"
"""The piece of the id END."""

ROWS = 64
"""Most hypotheses in a batch on a CPU: their scores for the whole vocabulary should fit into the cache."""


class Input(NamedTuple):
    """A sentence to search for."""

    source: Sequence[int]
    limit: int
    """Maximum length of the output, with the end."""
    prefix: Sequence[int] = ()
    """Tokens that all hypotheses begin with."""
    prefix_score: float = 0.0
    """Log-probability of the prefix, which CTranslate2 leaves out."""


class Result(NamedTuple):
    """CTranslate2's result for a sentence, copied out of its own object once."""

    hypotheses: list[list[str]]
    """Pieces, including the end if it was reached."""
    scores: list[float]
    alignments: list[tuple[int, ...]]
    """The alignment of each hypothesis, including the end; empty if not requested."""


class Threads(NamedTuple):
    """Number of parallel batches, and cores for each."""

    batches: int
    cores: int

    @classmethod
    def of(cls, cores: int | None) -> Threads:
        """One core per batch: small matrices gain nothing from several cores."""
        return cls(cores or usable_cores(), 1)


class CTranslate2Engine:
    name = "ctranslate2"

    def __init__(
        self,
        engines: CompiledEngines,
        *,
        precision: str,
        threads: Threads,
        device: str,
        native: Callable[[], NativeEngine],
        shortlist: bool = False,
    ) -> None:
        config, subwords = engines.config, engines.subwords
        self.precision = precision
        self.shortlist = shortlist
        self.batch_tokens = engines.card.recipe.decoding.batch_tokens
        self.threads = threads
        self.longest = max_positions(config)
        self.endless = config.positions == "sinusoidal"
        self._native = native
        self._device = device
        self._source = subwords.source.all_pieces()
        self._target = subwords.target.all_pieces()
        self._ids = {piece: id for id, piece in enumerate(self._target)}
        self._unwritable = subwords.target.unwritable
        self._engines = engines
        self._loaded = PerProcess(self._load(threads))

    @property
    def _translator(self) -> Any:
        return self._loaded.get(lambda: self._load(self.threads))

    @classmethod
    def load(
        cls,
        directory: Path,
        card: Card,
        subwords: Subwords,
        *,
        precision: str,
        threads: int | None,
        device: str,
        native: Callable[[], NativeEngine],
        shortlist: bool = False,
    ) -> CTranslate2Engine:
        """Open the engine of a translator directory; compile it if necessary.

        With a shortlist, only likely translations of the source's pieces are scored: faster, and nearly the same.
        """
        engines = CompiledEngines(directory, card, subwords)
        if precision == "auto":
            precision = engines.right_precision() if device == "cpu" else "float32"
        return cls(
            engines,
            precision=precision,
            threads=Threads.of(threads),
            device=device,
            native=native,
            shortlist=shortlist,
        )

    def translate(
        self, sources: Sequence[Sequence[int]], search: Search, prefixes: Sequence[Sequence[int]] = ()
    ) -> list[list[Hypothesis]]:
        limits = self._limits(sources, search, prefixes)
        within = [i for i, ids in enumerate(sources) if not self._too_long(len(ids), limits[i])]
        inputs = [Input(self._cut(sources[i]), limits[i], prefixes[i] if prefixes else ()) for i in within]
        if prefixes and _needs_scores(search):
            inputs = self._with_prefix_scores(inputs)
        here = self._translate(inputs, search)
        found = dict(zip(within, here, strict=True))
        beyond = [i for i in range(len(sources)) if i not in found]
        if beyond:
            given = [prefixes[i] for i in beyond] if prefixes else ()
            slow = self._native().translate([sources[i] for i in beyond], search, given)
            note = f"by the native engine: CTranslate2 has {self.longest:,} positions"
            found |= zip(beyond, ([one._replace(note=note) for one in group] for group in slow), strict=True)
        for i in within:
            if len(sources[i]) >= self.longest:
                found[i] = [one._replace(note=cut_note(self.longest)) for one in found[i]]
        return [found[i] for i in range(len(sources))]

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        pairs = list(zip(sources, targets, strict=True))
        within = [i for i, (source, target) in enumerate(pairs) if max(len(source), len(target)) < self.longest]
        scored = self._translator.score_batch(
            [[self._source[id] for id in sources[i]] for i in within],
            [[self._target[id] for id in targets[i]] for i in within],
            max_batch_size=scored_at_once(self._device),
            batch_type="tokens",
            max_input_length=0,
        )
        found = {i: list(result.log_probs) for i, result in zip(within, scored, strict=True)}
        beyond = [i for i in range(len(pairs)) if i not in found]
        if beyond:
            rest = self._native().score([sources[i] for i in beyond], [targets[i] for i in beyond])
            found |= zip(beyond, rest, strict=True)
        return [found[i] for i in range(len(pairs))]

    def _load(self, threads: Threads) -> Any:
        return ctranslate2.Translator(
            str(self._engines.folder(self.precision, shortlist=self.shortlist)),
            device=self._device,
            compute_type=self.precision,
            inter_threads=threads.batches,
            intra_threads=threads.cores,
            max_queued_batches=-1,
        )

    def _limits(self, sources: Sequence[Sequence[int]], search: Search, prefixes: Sequence[Sequence[int]]) -> list[int]:
        longest = None if self.endless else self.longest
        limits = [length_limit(len(ids) + 1, search, longest) for ids in sources]
        return [max(limit, len(ids) + 2) for limit, ids in zip(limits, prefixes, strict=True)] if prefixes else limits

    def _with_prefix_scores(self, inputs: list[Input]) -> list[Input]:
        scored = self.score([each.source for each in inputs], [each.prefix for each in inputs])
        return [
            each._replace(prefix_score=sum(tokens[:-1]))  # without the end
            for each, tokens in zip(inputs, scored, strict=True)
        ]

    def _too_long(self, length: int, limit: int) -> bool:
        """Return True for a source beyond the table of positions; the native engine's sinusoids have no limit."""
        return self.endless and max(length + 1, limit) > self.longest

    def _cut(self, ids: Sequence[int]) -> Sequence[int]:
        """Cut a source at the last learned position, as the native engine does."""
        return ids if len(ids) < self.longest else ids[: self.longest - 1]

    def _translate(self, inputs: list[Input], search: Search) -> list[list[Hypothesis]]:
        found = self._search(inputs, search)
        never = self._unwritable
        again = [i for i, group in enumerate(found) if not all(never.isdisjoint(one.ids) for one in group)]
        if again:
            # Only now: to forbid pieces in CTranslate2 changes the probabilities of all others.
            those = [inputs[i] for i in again]
            allowed = self._search(those, search, forbid=True)
            every = [(i, j) for i, group in enumerate(allowed) for j in range(len(group))]
            self._add_scores(every, allowed, those, search)
            for i, group in zip(again, allowed, strict=True):
                found[i] = _best(group, search.nbest)
        return found

    def _search(self, inputs: list[Input], search: Search, *, forbid: bool = False) -> list[list[Hypothesis]]:
        """Search for each source; `forbid` excludes the pieces that may not be written."""
        batches = self._batches([len(each.source) + 1 for each in inputs], search)
        found: list[list[Hypothesis]] = [[] for _ in inputs]
        cut: dict[int, Result] = {}
        for i, result in self._run(inputs, batches, search, forbid=forbid):
            limit = inputs[i].limit
            if all(len(pieces) < limit and pieces[-1:] == [ENDING] for pieces in result.hypotheses):
                found[i] = self._ranked(result, search)
            else:
                cut[i] = result
        if cut:
            self._finish(cut, inputs, found, search, forbid=forbid)
        return found

    def _finish(
        self,
        cut: dict[int, Result],
        inputs: list[Input],
        found: list[list[Hypothesis]],
        search: Search,
        *,
        forbid: bool,
    ) -> None:
        """Complete the results that the length limit cut off, or should have.

        A batch is searched up to the limit of its longest sentence; sentences that exceed their own are searched again.
        """
        beyond = [i for i, result in cut.items() if max(map(len, result.hypotheses)) >= inputs[i].limit]
        limits = sorted({inputs[i].limit for i in beyond})
        alike = [[i for i in beyond if inputs[i].limit == limit] for limit in limits]
        cut |= self._run(inputs, alike, search, forbid=forbid)
        for i, result in cut.items():
            found[i] = self._hypotheses(result, inputs[i].limit, search)
        unscored = [(i, j) for i in cut for j, one in enumerate(found[i]) if not one.ended]
        self._add_scores(unscored, found, inputs, search)
        for i in cut:
            found[i] = _best(found[i], search.nbest)

    def _run(
        self, inputs: list[Input], batches: Iterable[list[int]], search: Search, *, forbid: bool
    ) -> Iterator[tuple[int, Result]]:
        """Yield the index of each source with CTranslate2's result; all cores work on the batches."""
        translator, options = self._searching(search)
        if forbid:
            options["suppress_sequences"] = [[self._target[id]] for id in self._unwritable]
        prefixed = any(each.prefix for each in inputs)
        options["use_vmap"] = self.shortlist and not prefixed  # a shortlist may lack pieces of a prefix
        waiting: dict[int, Any] = {}
        for places in batches:
            # The limit counts the end; CTranslate2 may spend its last step on any other token.
            steps = max(1, max(inputs[i].limit for i in places) - 1)
            batch = [[self._source[id] for id in inputs[i].source] for i in places]
            if prefixed:
                options["target_prefix"] = [[self._target[id] for id in inputs[i].prefix] for i in places]
            results = translator.translate_batch(batch, max_decoding_length=steps, **options)
            first = self._first_steps(batch) if search.alignment else [None] * len(batch)
            waiting.update(zip(places, zip(results, first, strict=True), strict=True))
        for i, (result, first_step) in waiting.items():
            ready = _result(result.result(), first_step and first_step.result())
            given = inputs[i].prefix_score
            yield i, ready._replace(scores=[given + score for score in ready.scores]) if given else ready

    def _first_steps(self, batch: list[list[str]]) -> list[Any]:
        """Compute the attention of the first step, which is the same for all hypotheses of a sentence.

        For this step, CTranslate2's beam search returns the attention of the first sentence for the whole batch.
        """
        options = {"asynchronous": True, "return_attention": True, "max_input_length": 0}
        return list(self._translator.translate_batch(batch, beam_size=1, max_decoding_length=1, **options))

    def _batches(self, lengths: list[int], search: Search) -> Iterator[list[int]]:
        """Yield batches, longest first; few sentences are also distributed, so that no core stays idle."""
        width = search.nbest if search.sampling else max(search.beam, search.nbest)
        share = -(-sum(lengths) // self.threads.batches)
        most = max(1, ROWS // width) if self._device == "cpu" else None
        return similar_lengths(lengths, max(1, min(self.batch_tokens // width, share)), most)

    def _searching(self, search: Search) -> tuple[Any, dict[str, Any]]:
        """Return the CTranslate2 translator to use, and its options for this search."""
        options: dict[str, Any] = {
            "asynchronous": True,
            "return_scores": _needs_scores(search),
            "return_end_token": True,
            "return_attention": search.alignment,
            "min_decoding_length": 0,
            "length_penalty": NO_PENALTY,
            "max_input_length": 0,
        }
        if search.sampling:
            options |= _sampling(search.sampling, search.nbest)
            return self._seeded(search.sampling.seed), options
        beam = max(search.beam, search.nbest)
        return self._translator, options | {"beam_size": beam, "num_hypotheses": beam}

    def _seeded(self, seed: int) -> Any:
        """Return a translator with one new thread: threads seed their generators once, so repeated draws need it."""
        ctranslate2.set_random_seed(seed)
        return self._load(Threads(1, self.threads.batches * self.threads.cores))

    def _ranked(self, result: Result, search: Search) -> list[Hypothesis]:
        """Return the best hypotheses, all of which have ended; ids are looked up only for these."""
        alpha, ids = _alpha(search), self._ids
        rated = [
            (total / float(length_penalty(len(pieces), alpha)), -place)
            for place, (pieces, total) in enumerate(zip(result.hypotheses, result.scores, strict=True))
        ]
        best = [max(rated)] if search.nbest == 1 else sorted(rated, reverse=True)
        found = [
            Hypothesis(
                [ids[piece] for piece in result.hypotheses[-place][:-1]],
                result.scores[-place],
                score,
                alignment=result.alignments[-place][:-1],
            )
            for score, place in best[: search.nbest]
        ]
        return found if len(found) == search.nbest else _best(found, search.nbest)

    def _hypotheses(self, result: Result, limit: int, search: Search) -> list[Hypothesis]:
        """Build hypotheses with our scores; those that the limit cut off have none yet."""
        alpha = _alpha(search)
        found = []
        for pieces, total, aligned in zip(*result, strict=True):
            ids = [self._ids[piece] for piece in pieces]
            if ids and ids[-1] == END and len(ids) < limit:
                one = Hypothesis(ids[:-1], total, total / float(length_penalty(len(ids), alpha)))
            else:
                one = Hypothesis(ids[: limit - 1], math.nan, math.nan, ended=False)
            found.append(one._replace(alignment=aligned[: len(one.ids)]))
        return found

    def _add_scores(
        self,
        places: list[tuple[int, int]],
        found: list[list[Hypothesis]],
        inputs: Sequence[Input],
        search: Search,
    ) -> None:
        """Score hypotheses whose own score is not the native engine's: it lacks the end, or pieces were forbidden."""
        if not places:
            return
        alpha = _alpha(search)
        scored = self.score([inputs[i].source for i, _ in places], [found[i][j].ids for i, j in places])
        for (i, j), tokens in zip(places, scored, strict=True):
            penalty = float(length_penalty(len(tokens), alpha))
            found[i][j] = found[i][j]._replace(log_probability=sum(tokens), score=sum(tokens) / penalty)


def _result(ready: Any, first_step: Any) -> Result:
    scores = ready.scores or [math.nan] * len(ready.hypotheses)
    if first_step is None:
        return Result(ready.hypotheses, scores, [()] * len(scores))
    first = first_step.attention[0][:1]  # empty if there is no source
    return Result(ready.hypotheses, scores, [most_attended([*first, *rest[1:]]) for rest in ready.attention])


def _needs_scores(search: Search) -> bool:
    """Return True if scores are requested, or needed to rank several hypotheses."""
    return search.scores or search.sampling is not None or max(search.beam, search.nbest) > 1


def _alpha(search: Search) -> float:
    """Return the exponent of the length penalty; samples are ranked without one."""
    return 0.0 if search.sampling else search.length_penalty


def _best(group: list[Hypothesis], nbest: int) -> list[Hypothesis]:
    ranked = sorted(group, key=lambda hypothesis: -hypothesis.score)
    # With top-k 1 all draws are equal, so only one was made.
    return (ranked if len(ranked) >= nbest else ranked * nbest)[:nbest]


def _sampling(sampling: Sampling, draws: int) -> dict[str, Any]:
    return {
        "beam_size": 1,
        "num_hypotheses": 1 if sampling.top_k == 1 else draws,
        "sampling_topk": sampling.top_k,
        "sampling_topp": sampling.top_p,
        "sampling_temperature": sampling.temperature,
    }
