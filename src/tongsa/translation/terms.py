"""Place the terms of a glossary in translations, where the model has written words of its own.

    translation ─ a term is missing ─▶ aligned words ─▶ candidates ─ scored by the model ─▶ the best one

The words that are aligned to the source term are replaced by the term, or stay beside it if they then translate
something else; the rest of the sentence, and its confidence, stay the model's own. If no word is clearly aligned to it,
the model has probably left it out: then the term is also inserted between words, and the model writes on after it. The
model's score and the alignment of the new sentence decide between candidates, and between the forms of the term; those
that lose a term, a number or a placeholder are left out. Terms are placed one after the other, those of all sentences
in the same batches. A term that no candidate holds is noted, and the translation stays as it was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from tongsa.decoding.search import Hypothesis, Search, length_limit, length_penalty
from tongsa.engines.base import Engine
from tongsa.text.lines import nfc, tidy
from tongsa.text.particles import fitted, is_hangul, without_particles
from tongsa.text.placeholders import find as find_placeholders
from tongsa.text.subwords import Subwords
from tongsa.translation.aligned_text import FOR, LONG, AlignedText, token_places
from tongsa.translation.alignment import Span
from tongsa.translation.evidence import Evidence, Question, evidence
from tongsa.translation.forms import SeenForms
from tongsa.translation.glossary import Term, is_word, missing, missing_note, with_capital
from tongsa.translation.sentences import Sentence, Translation

PROMISING = 5
"""Replacements whose alignment is looked at."""
CONTINUED = 2
"""Beginnings of a sentence, up to the term, that the model writes on from if no word is aligned to the source term."""
FORM = 1.0
"""Log-probability by which a form that was seen in the training text must be better than those of the glossary."""
COVERED, OTHERS, ATTENDS, EVIDENCE, NEXT = 0.2, 3.0, 2.0, 1.0, 1.0
"""What is worth how much log-probability: a source token besides the term that something is aligned to; no further word
that is aligned to the source term; the term itself being aligned to it; the evidence of the replaced word; a word next
to an inserted term that is aligned to a word next to the source term."""
LOWEST = -8.0
"""Lower bound of the log-probability of a term: how a model spells a word that it does not know tells nothing."""
STRONGEST = 2.0
"""Upper bound of the evidence that counts."""

_WORDS = re.compile(r"\w+")
_NUMBERS = re.compile(r"\d+")


class Model(Protocol):
    """The part of a translator that places terms."""

    engine: Engine
    subwords: Subwords

    @property
    def forms(self) -> SeenForms: ...

    def detailed(
        self, text: str, source: list[int], ids: list[int], hypothesis: Hypothesis, notes: tuple[str, ...]
    ) -> Translation: ...


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A translation, and the terms that it must hold."""

    sentence: Sentence
    terms: Sequence[Term]
    """Places of the terms in the tidy text of the sentence."""
    translation: Translation
    abandoned: frozenset[Term] = frozenset()

    @property
    def text(self) -> str:
        return nfc(self.translation.text)

    @property
    def source(self) -> str:
        return tidy(self.sentence.text)

    def next_term(self) -> Term | None:
        """Return the first missing term that was not tried in vain."""
        return next((term for term in missing(self.terms, self.text) if term not in self.abandoned), None)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """The translation of a draft with one more term, at text[begin:end]."""

    draft: int
    """Index of the draft."""
    text: str
    ids: list[int]
    begin: int
    end: int
    clear: bool
    """Whether the term stands in place of words that are clearly aligned to the source term, or beside them."""
    inserted: bool = False
    """Whether the term replaces no word."""
    evidence: float = 0.0
    """That the replaced word, or the word beside an inserted term, translates the source term."""
    listed: bool = True
    """Whether the form of the term is one of the glossary."""
    log_probabilities: Sequence[float] = ()
    """Of the tokens and the end."""
    total: float = 0.0
    """Their sum, with the lower bound for the term."""
    alignment: tuple[int, ...] = ()
    covered: int = 0
    """Number of source tokens besides the term that something is aligned to."""
    others: float = 0.0
    """Number of words besides the term that are aligned to the source term; long ones count for more."""
    near: int = 0
    """Number of words next to the term that are aligned to words next to the source term, in the draft."""
    attends: bool = False
    """Whether the term is aligned to the source term."""

    def score(self, alpha: float) -> float:
        worth = COVERED * self.covered - OTHERS * self.others + ATTENDS * self.attends - FORM * (not self.listed)
        if self.inserted:
            worth += NEXT * self.near
        else:
            worth += EVIDENCE * max(-STRONGEST, min(STRONGEST, self.evidence))
        return (self.total + worth) / float(length_penalty(len(self.log_probabilities), alpha))

    def is_doubled(self) -> bool:
        """Return True if the words that the term stands beside still translate the source term."""
        if not (self.inserted and self.clear):
            return False
        return self.others >= LONG or (self.others > 0 and self.evidence > 0) or self.evidence >= FOR

    def is_complete(self, other: Candidate) -> bool:
        """Return True if it translates as much of the source as another candidate, and the term not twice."""
        return self.covered >= other.covered and self.others <= other.others and self.attends >= other.attends


def place_terms(model: Model, drafts: Sequence[Draft], search: Search) -> list[Translation]:
    """Return the translations with their terms; those that already hold them stay as they are."""
    done = list(drafts)
    waiting = {index: term for index, draft in enumerate(done) if (term := draft.next_term())}
    while waiting:
        placing = _Placing(model, done, waiting, search)
        best = placing.best()
        for index, term in waiting.items():
            if index in best:
                done[index] = placing.placed(best[index])
            else:
                done[index] = replace(done[index], abandoned=done[index].abandoned | {term})
        waiting = {index: term for index in waiting if (term := done[index].next_term())}
    return [_noted(draft) for draft in done]


def _noted(draft: Draft) -> Translation:
    notes = [missing_note(draft.source, term) for term in missing(draft.terms, draft.text)]
    if not notes:
        return draft.translation
    return replace(draft.translation, notes=tuple(dict.fromkeys((*draft.translation.notes, *notes))))


class _Placing:
    """Places one term in each of several drafts."""

    def __init__(self, model: Model, drafts: Sequence[Draft], terms: dict[int, Term], search: Search) -> None:
        self.model = model
        self.vocabulary = model.subwords.target
        self.drafts = drafts
        self.terms = terms
        self.alpha = 0.0 if search.sampling else search.length_penalty
        self.search = replace(search, nbest=1, sampling=None, scores=True, alignment=True)

    def best(self) -> dict[int, Candidate]:
        """Return the best candidate of each draft that has one."""
        replaced = [each for index, found in self._evidence().items() for each in self._replacements(index, found)]
        groups: dict[int, list[Candidate]] = {}
        for each in sorted(self._scored(replaced), key=self._score, reverse=True):
            groups.setdefault(each.draft, []).append(each)
        promising = [one for group in groups.values() for one in _promising(group)]
        aligned = sorted(self._aligned(promising), key=self._score, reverse=True)
        best: dict[int, Candidate] = {}
        unclear: dict[int, list[Candidate]] = {}
        for each in aligned:
            if not each.is_doubled():
                best.setdefault(each.draft, each)
            if not each.clear:
                unclear.setdefault(each.draft, []).append(each)
        continued = self._aligned(self._scored(self._continuations([one for row in unclear.values() for one in row])))
        for each in continued:
            if each.is_complete(best[each.draft]) and self._score(each) > self._score(best[each.draft]):
                best[each.draft] = each
        return best | self._inflected(best)

    def _inflected(self, best: dict[int, Candidate]) -> dict[int, Candidate]:
        """Return the candidates that are better with a form of their term that was seen in the training text."""
        formed = []
        for index, one in best.items():
            target = self.terms[index].target
            for form in self.model.forms.of(target.forms[0]) if target.kind == "inflected" else ():
                written = with_capital(form) if one.text[one.begin].isupper() else form
                text = one.text[: one.begin] + written + one.text[one.end :]
                if new := self._candidate(index, text, (one.begin, one.begin + len(written)), clear=one.clear):
                    formed.append(replace(one, text=text, ids=new.ids, end=new.end, listed=False))
        better = {
            each.draft: each
            for each in sorted(self._scored(formed), key=self._score)
            if self._score(each) > self._score(best[each.draft])
        }
        return {each.draft: each for each in self._aligned(list(better.values()))}

    def _score(self, candidate: Candidate) -> float:
        return candidate.score(self.alpha)

    def placed(self, best: Candidate) -> Draft:
        """Return the draft with the term."""
        draft = self.drafts[best.draft]
        before = draft.translation
        total, score = before.log_probability, before.score
        if not best.clear:
            total = sum(self._chosen(best, best.log_probabilities))
            score = total / float(length_penalty(len(best.log_probabilities), self.alpha))
        hypothesis = Hypothesis(best.ids, total, score, alignment=best.alignment)
        translation = self.model.detailed(best.text, draft.sentence.ids, best.ids, hypothesis, before.notes)
        return replace(draft, translation=translation)

    def _chosen(self, candidate: Candidate, log_probabilities: Sequence[float]) -> list[float]:
        """Return the log-probabilities of the tokens that the model chose, not the glossary, and of the end."""
        places = token_places(candidate.text, self.vocabulary.pieces(candidate.ids))
        given = {at for at, (left, right) in enumerate(places) if left < candidate.end and right > candidate.begin}
        return [log for at, log in enumerate(log_probabilities) if at not in given]

    def _evidence(self) -> dict[int, Evidence]:
        """Return the words of each draft that the model writes for the source term alone."""
        questions = []
        for index, term in self.terms.items():
            draft = self.drafts[index]
            aligned, free = self._free(index)
            spans = aligned.aligned((term.start, term.end), free)
            words, named = ([draft.text[begin:end] for begin, end in row] for row in (free, spans))
            questions.append(Question(source=draft.source, start=term.start, end=term.end, words=words, named=named))
        return dict(zip(self.terms, evidence(self.model, questions), strict=True))

    def _free(self, index: int) -> tuple[AlignedText, list[Span]]:
        """Return the text of a draft, and its words that belong to no other term."""
        draft, term = self.drafts[index], self.terms[index]
        others = [span for each in draft.terms for span in each.target.found(draft.text) if each.target != term.target]
        aligned = AlignedText.of(draft.source, draft.text, draft.translation)
        return aligned, aligned.free(others)

    def _replacements(self, index: int, known: Evidence) -> Iterator[Candidate]:
        """Replace the aligned words by each form of the term."""
        draft, term = self.drafts[index], self.terms[index]
        text = draft.text
        aligned, free = self._free(index)
        several = len(_WORDS.findall(draft.source[term.start : term.end])) > 1
        places, clear = aligned.places((term.start, term.end), free, known, several=several)
        strengths = [known.get(text[begin:end], 0.0) for begin, end in places]
        if clear:
            beside = [at for at in dict.fromkeys(places[0]) if _WORDS.search(text[:at])]
            places, strengths = [*places, *((at, at) for at in beside)], [*strengths, *(strengths[0] for _ in beside)]
        for (first, last), strength in zip(places, strengths, strict=True):
            for form in term.target.forms:
                begin, end = aligned.with_parts((first, last), form)
                at_start = not _WORDS.search(text[:begin]) and text[begin : begin + 1].isupper()
                written = with_capital(form) if at_start and term.target.kind != "kept" else form
                for rest in _rests(text, begin, end):
                    left, right = _spaces(text[:begin], rest, inserted=begin == end)
                    place = begin + len(left), begin + len(left) + len(written)
                    new = fitted(text[:begin] + left + written + right + rest, place[1])
                    if candidate := self._candidate(index, new, place, clear=clear):
                        near = aligned.near((begin, end), (term.start, term.end))
                        yield replace(candidate, inserted=begin == end, evidence=strength, near=near)

    def _continuations(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Let the model write on after the term, from the best beginnings of each draft."""
        beginnings: dict[int, dict[str, Candidate]] = {}
        for one in candidates:
            beginnings.setdefault(one.draft, {}).setdefault(one.text[: one.end], one)
        replaced = [one for group in beginnings.values() for one in list(group.values())[:CONTINUED]]
        if not replaced:
            return []
        prefixes = [self.vocabulary.encode(tidy(one.text[: one.end])) for one in replaced]
        sources = [self.drafts[one.draft].sentence.ids for one in replaced]
        found = [group[0] for group in self.model.engine.translate(sources, self.search, prefixes)]
        texts = map(nfc, self.vocabulary.decode_many([one.ids for one in found]))
        continued = [
            self._continued(one, fitted(text, one.end))
            for one, hypothesis, text in zip(replaced, found, texts, strict=True)
            if hypothesis.ended and is_word(text, one.begin, one.end)
        ]
        return [candidate for candidate in continued if candidate]

    def _continued(self, one: Candidate, text: str) -> Candidate | None:
        candidate = self._candidate(one.draft, text, (one.begin, one.end), clear=False)
        return candidate and replace(candidate, inserted=one.inserted, near=one.near)

    def _candidate(self, index: int, text: str, place: Span, *, clear: bool) -> Candidate | None:
        """Return a candidate, or None if it lacks something that the draft has."""
        if not _keeps(self.drafts[index], self.terms[index], text):
            return None
        ids = self.vocabulary.encode(tidy(text))
        if len(ids) >= length_limit(len(self.drafts[index].sentence.ids) + 1, self.search, self.model.engine.longest):
            return None
        return Candidate(draft=index, text=text, ids=ids, begin=place[0], end=place[1], clear=clear)

    def _aligned(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Add the alignment of each candidate, and what it is worth."""
        sources = [self.drafts[each.draft].sentence.ids for each in candidates]
        forced = replace(self.search, beam=1, scores=False)
        found = self.model.engine.translate(sources, forced, [each.ids for each in candidates]) if candidates else []
        return [self._with_alignment(one, group[0]) for one, group in zip(candidates, found, strict=True)]

    def _with_alignment(self, one: Candidate, forced: Hypothesis) -> Candidate:
        draft, term = self.drafts[one.draft], self.terms[one.draft]
        place, span = (one.begin, one.end), (term.start, term.end)
        pieces = self.vocabulary.pieces(one.ids)
        alignment = forced.alignment[: len(one.ids)]
        described = replace(
            draft.translation, tokens=tuple(pieces), alignment=tuple((s, t) for t, s in enumerate(alignment))
        )
        aligned = AlignedText.of(draft.source, one.text, described)
        origins = aligned.tokens(span)
        if origins and alignment:  # the term belongs to the source term, whatever the model looked at
            inside = [left < one.end and right > one.begin for left, right in token_places(one.text, pieces)]
            known = [min(origins) if own else s for own, s in zip(inside, alignment, strict=False)]
            alignment = tuple(known) if len(known) == len(one.ids) else alignment
        return replace(
            one,
            alignment=alignment,
            covered=aligned.covered(span),
            others=aligned.others(place, span),
            attends=aligned.share(place, span) > 0,
        )

    def _scored(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        sources = [self.drafts[each.draft].sentence.ids for each in candidates]
        found = self.model.engine.score(sources, [each.ids for each in candidates]) if candidates else []
        return [self._with_scores(each, row) for each, row in zip(candidates, found, strict=True)]

    def _with_scores(self, one: Candidate, log_probabilities: Sequence[float]) -> Candidate:
        chosen = sum(self._chosen(one, log_probabilities))
        total = chosen + max(LOWEST, sum(log_probabilities) - chosen)
        return replace(one, log_probabilities=log_probabilities, total=total)


def _promising(scored: Sequence[Candidate]) -> list[Candidate]:
    """Return the best candidates, and the best one that replaces a word."""
    replacing = next((each for each in scored if not each.inserted), None)
    best = list(scored[:PROMISING])
    return best if replacing is None or replacing in best else [*best, replacing]


def _keeps(draft: Draft, term: Term, text: str) -> bool:
    """Return True if a text has the term, and all that the draft has besides it."""
    before = draft.text
    for target in {each.target for each in draft.terms}:
        wanted = sum(each.target == target for each in draft.terms)
        least = len(target.found(before)) + (target == term.target)
        if len(target.found(text)) < min(wanted, least):
            return False
    if Counter(_NUMBERS.findall(before)) - Counter(_NUMBERS.findall(text)):
        return False
    if _placeholders(before) - _placeholders(text):
        return False
    return _doubled(text) <= _doubled(before)


def _placeholders(text: str) -> Counter[str]:
    return Counter(each.text for each in find_placeholders(text))


def _doubled(text: str) -> int:
    """Count the words that are equal to the word before them."""
    words = _WORDS.findall(text.lower())
    return sum(one == other for one, other in pairwise(words))


def _rests(text: str, begin: int, end: int) -> list[str]:
    """Return what may follow a term in place of text[begin:end]: for Korean, also with the particles of the word."""
    rests = [text[end:]]
    if end > begin and is_hangul(text[end - 1]):
        stem = without_particles(text[begin:end])
        if stem < end - begin:
            rests.append(text[begin + stem :])
    return rests


def _spaces(before: str, after: str, *, inserted: bool) -> tuple[str, str]:
    """Return the spaces around a term that is put between two words."""
    if not inserted:
        return "", ""
    return " " if before[-1:].isalnum() else "", " " if after[:1].isalnum() else ""
