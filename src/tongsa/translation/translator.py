"""The Translator: loads a translator directory and translates texts."""

from __future__ import annotations

import math
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from tongsa.base.errors import DirectoryError, UsageError
from tongsa.decoding.search import Hypothesis, Search
from tongsa.engines import Engine
from tongsa.engines.inspection import Inspection, inspect_pair
from tongsa.engines.loading import EngineSettings, Member, load_engine, load_ensemble
from tongsa.runs.card import TRANSLATION, Card
from tongsa.runs.directory import Run
from tongsa.runs.names import ensemble_members
from tongsa.text.frequencies import PieceFrequencies
from tongsa.text.lines import tidy
from tongsa.text.subwords import Subwords
from tongsa.translation.confidence import Calibration
from tongsa.translation.fallback import without_broken
from tongsa.translation.forms import SeenForms
from tongsa.translation.glossary import Glossary, Term
from tongsa.translation.options import TranslateOptions
from tongsa.translation.readable import readable
from tongsa.translation.repetition import LENGTH_LIMIT, REPETITION_CUT, cut_repetition
from tongsa.translation.sentences import SPLIT_NOTE, Sentence, TextPlan, Translation, cut, has_letters, with_words
from tongsa.translation.terms import Draft, place_terms

if TYPE_CHECKING:
    from torch import Tensor

    from tongsa.engines.native import NativeEngine

__all__ = ["TranslateOptions", "Translation", "Translator"]


class Translator:
    """A trained translator. `Translator.load(directory).translate([...])`"""

    def __init__(
        self,
        card: Card,
        subwords: Subwords,
        engine: Engine,
        native: Callable[[], NativeEngine] | None = None,
        frequencies: PieceFrequencies | None = None,
    ) -> None:
        """`native` creates the reference engine when first needed; None if `engine` is the reference engine."""
        self.card = card
        self.subwords = subwords
        self.engine = engine
        self._make_native = native
        self.calibration = Calibration.of(card, frequencies)
        self.search = Search.of(card.recipe.decoding)
        self.made_with = engine.name
        """Name of the engine, and those of its settings that can change a translation."""

    @classmethod
    def load(
        cls,
        directory: str | Path,
        *,
        engine: str = "auto",
        precision: str = "auto",
        threads: int | None = None,
        device: str = "auto",
        shortlist: bool = False,
    ) -> Translator:
        """Open a translator: a directory, or the name of one that is shipped (en-de) or was fetched (`tongsa get`).

        Several with commas between them (`a,b,c`) are an ensemble, whose probabilities are averaged at each step. Their
        vocabularies must be the same. Search options and calibration are those of the first.

        engine     ctranslate2, native, or auto: CTranslate2 for the Transformer on a CPU, native for all else
        precision  int8, float32, or auto: with CTranslate2 on a CPU, int8 if measured to be close to float32
        threads    cores to use; for PyTorch this is `torch.set_num_threads`, which affects the whole process
        device     cpu, cuda, or auto: a GPU if there is one
        shortlist  with CTranslate2: score only likely translations of each piece, learnt from the training text

        CTranslate2 needs no torch, except to inspect attention and for sentences beyond the compiled positions.
        """
        settings = EngineSettings(
            engine=engine, precision=precision, threads=threads, device=device, shortlist=shortlist
        )
        members = [_member(path) for path in ensemble_members(directory)]
        path, card, subwords = members[0]
        loaded = load_engine(members[0], settings) if len(members) == 1 else load_ensemble(members, settings)
        card = card if len(members) == 1 else _shortest(card, members)
        translator = cls(card, subwords, loaded.engine, loaded.native, Run(path).read_frequencies(card, subwords))
        translator.made_with = loaded.made_with
        return translator

    @classmethod
    def from_weights(
        cls,
        card: Card,
        subwords: Subwords,
        weights: Mapping[str, Tensor],
        *,
        device: str = "auto",
        threads: int | None = None,
    ) -> Translator:
        """Create a translator from weights in memory, with the engine that `load` would choose.

        Engines are compiled from files, so this creates a temporary directory, which is deleted with the translator.
        """
        folder = Path(tempfile.mkdtemp(prefix="tongsa-"))
        try:
            subwords.save(folder)
            Run(folder).write_translator(card, weights)
            translator = cls.load(folder, device=device, threads=threads)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(translator, shutil.rmtree, folder, ignore_errors=True)
        return translator

    @cached_property
    def native(self) -> NativeEngine:
        """The reference engine, which provides attention weights."""
        if self._make_native is not None:
            return self._make_native()
        from tongsa.engines.native import NativeEngine

        assert isinstance(self.engine, NativeEngine), "a translator has a native engine, or knows how to make one"
        return self.engine

    @cached_property
    def forms(self) -> SeenForms:
        """Inflected forms of words of the target language."""
        return SeenForms(self.subwords.target.all_pieces())

    def translate(self, texts: Iterable[str], options: TranslateOptions | Search | None = None) -> list[Translation]:
        """Translate each text, in order; a blank text has a blank translation.

        A text that is longer than any the model was trained on is translated sentence by sentence; and so is a text of
        several sentences, if it was trained on single ones.
        """
        if isinstance(texts, str):
            raise UsageError("translate takes a list of texts, not one text", 'For one:  translate(["..."])[0]')
        texts = list(texts)
        options = TranslateOptions.of(options)
        if options.split != "always":
            sentences = self.encode(texts)
            if options.split == "long" or not self.card.one_sentence:
                return self.translate_sentences(sentences, options)
            return self._in_parts(sentences, self.translate_sentences, options)
        plans = [TextPlan(cut(text, self.card.source), self.card.source, self.card.target) for text in texts]
        groups = [plan.sentences for plan in plans]
        found = iter(self.translate_sentences(self.encode([text for group in groups for text in group]), options))
        return [plan.join([next(found) for _ in group]) for plan, group in zip(plans, groups, strict=True)]

    def encode(self, texts: Iterable[str]) -> list[Sentence]:
        """Encode each text, to be translated as one sentence."""
        texts = list(texts)
        ids = self.subwords.source.encode_many([tidy(text) for text in texts], threads=1)
        return list(map(Sentence, texts, ids))

    def translate_sentences(self, sentences: Sequence[Sentence], options: TranslateOptions) -> list[Translation]:
        """Translate each sentence, in order; a sentence that is too long for the model is cut if possible."""
        return self._in_parts(sentences, self._translate, options, above=self.card.recipe.corpus.max_tokens)

    def _in_parts(
        self,
        sentences: Sequence[Sentence],
        translate: Callable[[Sequence[Sentence], TranslateOptions], list[Translation]],
        options: TranslateOptions,
        above: int = 0,
    ) -> list[Translation]:
        """Cut what has more tokens than `above` into sentences, if it holds several; translate all, and join them."""
        plans: dict[int, TextPlan] = {}
        for place, sentence in enumerate(sentences):
            if len(sentence.ids) > above:
                parts = cut(tidy(sentence.text), self.card.source)
                if len(parts) > 1:
                    plans[place] = TextPlan(parts, self.card.source, self.card.target, note=SPLIT_NOTE)
        if not plans:
            return translate(sentences, options)
        groups = [
            self.encode(plans[place].sentences) if place in plans else [sentence]
            for place, sentence in enumerate(sentences)
        ]
        found = iter(translate([sentence for group in groups for sentence in group], options))
        return [
            plans[place].join([next(found) for _ in group]) if place in plans else next(found)
            for place, group in enumerate(groups)
        ]

    def _translate(self, sentences: Sequence[Sentence], options: TranslateOptions) -> list[Translation]:
        """Translate each sentence, and score its words if they are asked for."""
        made = self._translate_readable(sentences, options)
        if not options.words:
            return made
        places = [place for place, each in enumerate(made) if each.ids]
        scores = self.score_ids([made[place].source_ids for place in places], [made[place].ids for place in places])
        for place, log_probabilities in zip(places, scores, strict=True):
            made[place] = with_words(made[place], log_probabilities)
        return made

    def _translate_readable(self, sentences: Sequence[Sentence], options: TranslateOptions) -> list[Translation]:
        """Translate each sentence as the model can read it, unless something refers to its very tokens."""
        if options.glossary or options.search_settings(self.search).alignment:
            return self._translate_as_they_are(sentences, options)
        found: dict[int, Translation] = {}
        parts = readable(sentences, self.card.source, self.subwords.source, self.encode)
        for aligned in (False, True):
            chosen = {place: part for place, part in enumerate(parts) if bool(part.carried) == aligned}
            if chosen:
                asked = replace(options, alignment=aligned)
                made = self._translate_as_they_are([part.sentence for part in chosen.values()], asked)
                found |= {place: chosen[place].restored(each) for place, each in zip(chosen, made, strict=True)}
        return [found[place] for place in range(len(parts))]

    def _translate_as_they_are(self, sentences: Sequence[Sentence], options: TranslateOptions) -> list[Translation]:
        is_foreign = self.subwords.source.is_foreign
        known = [place for place, (_, ids) in enumerate(sentences) if ids and not is_foreign(ids)]
        terms = self._terms(sentences, known, options.glossary)
        search = options.search_settings(self.search)
        full = options.tokens or options.words or search.alignment
        plain = [place for place in known if place not in terms]
        sources = [sentences[place].ids for place in plain]
        made = dict(zip(plain, self._searched(sources, search, full=full), strict=True))
        if search.nbest == 1 and not search.sampling:
            languages, again = (self.card.source, self.card.target), partial(self._searched, full=full)
            made = without_broken(sentences, made, languages, search, again, only_empty=not options.fallback)
        if terms:
            placed = self._with_terms([sentences[place] for place in terms], list(terms.values()), search)
            made |= zip(terms, placed, strict=True)
        return [made[i] if i in made else self._as_it_is(text) for i, (text, _) in enumerate(sentences)]

    def _searched(self, sources: list[list[int]], search: Search, *, full: bool) -> Iterator[Translation]:
        found = self.engine.translate(sources, search)
        if not all(found):
            raise DirectoryError("the model gives no translation", "Its weights may be damaged:  tongsa doctor DIR")
        return self._made(sources, found, full=full)

    @staticmethod
    def _terms(
        sentences: Sequence[Sentence], known: Sequence[int], glossary: Glossary | None
    ) -> dict[int, Sequence[Term]]:
        """Return the terms of the glossary in each sentence that has any, by its index."""
        if not glossary:
            return {}
        return {place: found for place in known if (found := glossary.find(tidy(sentences[place].text)))}

    def _with_terms(
        self, sentences: Sequence[Sentence], terms: Sequence[Sequence[Term]], search: Search
    ) -> list[Translation]:
        """Translate sentences, and place their terms in the translations and in the alternatives."""
        aligned = replace(search, alignment=True, scores=True)
        found = list(self._searched([sentence.ids for sentence in sentences], aligned, full=True))
        drafts = [
            Draft(sentence=sentence, terms=wanted, translation=each)
            for sentence, wanted, best in zip(sentences, terms, found, strict=True)
            for each in (replace(best, alternatives=()), *best.alternatives)
        ]
        placed = iter(place_terms(self, drafts, search))
        groups = [[next(placed) for _ in range(1 + len(best.alternatives))] for best in found]
        return [replace(best, alternatives=tuple(others)) if others else best for best, *others in groups]

    def score(self, sources: Iterable[str], targets: Iterable[str]) -> list[list[float]]:
        """Return the log-probabilities of each target's tokens and end, given its source."""
        return self.score_ids(
            [ids for _, ids in self.encode(sources)],
            self.subwords.target.encode_many([tidy(text) for text in targets], threads=1),
        )

    def score_ids(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probabilities of encoded targets, given their encoded sources."""
        return self.engine.score(sources, targets)

    def confidence(self, source: Sequence[int], log_probability: float, tokens: int) -> float:
        """Return the confidence in a translation of so many tokens, and the end, with this log-probability in all."""
        return self.calibration(log_probability / (tokens + 1), source)

    def inspect(self, source: str, target: str | None = None) -> Inspection:
        """Return the attention weights for a pair; without a target, for the model's translation."""
        ((_, source_ids),) = self.encode([source])
        if not source_ids:
            raise UsageError("there is no text to inspect")
        if target is None:
            target_ids = self.engine.translate([source_ids], self.search)[0][0].ids
        else:
            target_ids = self.subwords.target.encode(tidy(target))
        return self._inspection(source_ids, target_ids)

    def _inspection(self, source: Sequence[int], target: Sequence[int]) -> Inspection:
        return inspect_pair(self.native, self.card, self.subwords, source, target)

    def _made(
        self, sources: Sequence[list[int]], found: Sequence[list[Hypothesis]], *, full: bool
    ) -> Iterator[Translation]:
        """Build translations from hypotheses. All texts are decoded in one call, which is several times as fast."""
        pairs = [(source, one) for source, group in zip(sources, found, strict=True) for one in group]
        written = [cut_repetition(one.ids, source) for source, one in pairs]
        texts = self.subwords.target.decode_many([ids for ids, _ in written])
        made = iter(
            [
                self.detailed(text, source, ids, one, _notes(repeated, one))
                if full
                else Translation(
                    text=text, score=one.score, log_probability=one.log_probability, notes=_notes(repeated, one)
                )
                for text, (source, one), (ids, repeated) in zip(texts, pairs, written, strict=True)
            ]
        )
        for group in found:
            best, *others = [next(made) for _ in group]
            yield replace(best, alternatives=tuple(others)) if others else best

    def detailed(
        self, text: str, source: list[int], ids: list[int], hypothesis: Hypothesis, notes: tuple[str, ...]
    ) -> Translation:
        """Return a translation of a source with all its details."""
        scored = not math.isnan(hypothesis.log_probability)  # a search may skip the scores
        return Translation(
            text=text,
            score=hypothesis.score,
            log_probability=hypothesis.log_probability,
            source_tokens=tuple(self.subwords.source.pieces(source)),
            tokens=tuple(self.subwords.target.pieces(ids)),
            source_ids=tuple(source),
            ids=tuple(ids),
            alignment=tuple((s, t) for t, s in enumerate(hypothesis.alignment[: len(ids)])),
            confidence=self.confidence(source, hypothesis.log_probability, len(ids)) if scored else None,
            notes=notes,
            _inspect=lambda: self._inspection(source, ids),
        )

    def _as_it_is(self, text: str) -> Translation:
        """Return a result without the model: blank text stays blank, unreadable text is copied."""
        if not text.strip():
            return Translation(text="", confidence=1.0, notes=("blank",))
        return Translation(text=text, confidence=0.0 if has_letters(text) else 1.0, notes=("copied",))


def _member(path: Path) -> Member:
    run = Run(path)
    card = run.read_card()
    if card.task != TRANSLATION:
        raise DirectoryError(f"{path} is not a translator: its model was trained for the task {card.task}")
    return Member(path, card, run.read_subwords(card))


def _shortest(card: Card, members: Sequence[Member]) -> Card:
    """Return the card with the shortest of the members' longest sentences: none gets one longer than it has seen."""
    longest = min(member.card.recipe.corpus.max_tokens for member in members)
    corpus = replace(card.recipe.corpus, max_tokens=longest)
    return replace(card, recipe=replace(card.recipe, corpus=corpus))


def _notes(repeated: bool, hypothesis: Hypothesis) -> tuple[str, ...]:
    if hypothesis.ended and not repeated and not hypothesis.note:
        return ()
    notes = (REPETITION_CUT if repeated else "", "" if hypothesis.ended else LENGTH_LIMIT, hypothesis.note)
    return tuple(note for note in notes if note)
