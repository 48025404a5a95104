"""How well a translator uses given terms: how many are in the output, where, and what that does to the translation.

    python benchmarks/terms.py runs/en-de test.en test.de
    python benchmarks/terms.py runs/en-de test.en test.de --learn train.en train.de --sentences 1000

Each sentence gets a glossary of its own, drawn from its reference: pairs of words that are each other's best partner by
IBM model 1, learnt from the text itself or from `--learn`; with `--nouns` only nouns, of which glossaries consist. If
possible, one of them is a term that the model does not write by itself, and one a term that it does. Three judges say
whether a term is at the right place:

    attends   one of its tokens attends most to the source term when the whole output is given to the model
    replaces  by IBM model 1, no other word of the output translates the source term, and every other source word that
              was translated without the glossary still is: the term took the place of its own translation
    order     of the words that output and reference share, the nearest on each side of the term in the reference stand
              on the same side of it in the output

The first is what the model itself looks at, which is not always what it translates. The others know nothing of the
model: `right place` means both of them. The terms that the model writes by itself show how far each judge can be
trusted: they stand where a fluent translation has them.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from tongsa.corpus.association import CEILING, Association, learn
from tongsa.evaluation.metrics import text_metric
from tongsa.text.lines import read_lines, tidy
from tongsa.text.particles import is_hangul, without_particles
from tongsa.translation.aligned_text import AlignedText
from tongsa.translation.alignment import Span
from tongsa.translation.glossary import Glossary, Target, Term
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Translation
from tongsa.translation.translator import Translator

LETTERS = 4
"""Fewest letters of a term; two syllables in Korean."""
STRONG = 3.0
"""Least association, log(t(target | source) / p(target)), of the two words of a term."""

CASES = re.compile(r"(?:을|를|이|가|은|는|의|에|에서|으로|로|와|과)(?![\uac00-\ud7a3])")
"""Korean particles that follow nouns."""
VERBS = ("하", "되", "니다", "있", "없", "수")
"""Ends of Korean stems that are not nouns of their own."""

_WORDS = re.compile(r"[^\W\d_]+")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a translator directory")
    parser.add_argument("source", type=Path, help="sentences, one per line")
    parser.add_argument("reference", type=Path, help="their translations")
    parser.add_argument("--learn", type=Path, nargs=2, metavar="FILE", help="source and target to learn words from")
    parser.add_argument("--learn-lines", type=int, default=30_000)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--nouns", action="store_true", help="draw only nouns, as glossaries mostly have them")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--show", type=int, default=0, help="print so many examples")
    return parser.parse_args()


@dataclass(frozen=True)
class OwnTerms(Glossary):
    """A glossary for each sentence."""

    by_sentence: dict[str, Glossary] = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return True

    def find(self, text: str) -> list[Term]:
        return self.by_sentence[text].find(text) if text in self.by_sentence else []


def words(text: str) -> list[str]:
    """The words of a text; Korean ones without their particles."""
    found = _WORDS.findall(text)
    return [word[: without_particles(word)] if is_hangul(word[-1]) else word for word in found]


def lower(text: str) -> list[str]:
    return [word.lower() for word in words(text)]


def long_enough(word: str) -> bool:
    return len(word) >= (2 if is_hangul(word[-1]) else LETTERS)


def pairs_of(association: Association, source: str, reference: str, *, nouns: bool) -> list[tuple[str, str]]:
    """The pairs of words of a sentence that are each other's best partners; both occur once."""
    left, right = words(source), words(reference)
    weights = {
        (a, b): association.weights.get(a.lower(), {}).get(b.lower(), 0.0)
        for a in left
        for b in right
        if a.lower() != b.lower() and long_enough(a) and long_enough(b)
    }
    best_left = {a: max((b for x, b in weights if x == a), key=lambda b: weights[a, b]) for a, _ in weights}
    best_right = {b: max((a for a, x in weights if x == b), key=lambda a: weights[a, b]) for _, b in weights}
    return [
        (a, b)
        for a, b in best_left.items()
        if best_right[b] == a
        and weights[a, b] >= STRONG
        and source.lower().count(a.lower()) == 1
        and reference.lower().count(b.lower()) == 1
        and (is_noun(b, reference) or not nouns)
    ]


def is_noun(word: str, reference: str) -> bool:
    """Return True for a Korean word with a case particle, or a word with a capital that does not begin the sentence."""
    at = reference.find(word)
    if is_hangul(word[-1]):
        return not word.endswith(VERBS) and CASES.match(reference, at + len(word)) is not None
    return word[0].isupper() and any(c.isalnum() for c in reference[:at]) and reference[:at].rstrip()[-1] not in ".!?:"


def drawn(pairs: Sequence[tuple[str, str]], output: str) -> dict[str, str]:
    """One term that the output lacks and one that it has, or two of a kind."""
    lacking = [pair for pair in pairs if not Target.of(pair[1]).found(output)]
    having = [pair for pair in pairs if pair not in lacking]
    return dict([*lacking[:1], *having[:1], *lacking[1:2], *having[1:2]][:2])


def links(association: Association, source: Sequence[str], target: Sequence[str]) -> dict[int, tuple[int, float]]:
    """Link the words of two texts, the strongest pair first, each word once: source word -> target word, weight."""
    edges = [
        (CEILING if a == b else association.weights.get(a, {}).get(b, 0.0), -i, -j)
        for i, a in enumerate(source)
        for j, b in enumerate(target)
    ]
    found: dict[int, tuple[int, float]] = {}
    taken: set[int] = set()
    for weight, i, j in sorted((edge for edge in edges if edge[0] > 0), reverse=True):
        if -i not in found and -j not in taken:
            found[-i] = -j, weight
            taken.add(-j)
    return found


@dataclass(frozen=True)
class Judge:
    """Says whether terms are at the right place, from words alone."""

    association: Association

    def replaces(self, source: str, free: str, given: str, term: Term, span: Span) -> bool:
        """Return True if the term at given[span] took the place of its own translation, and of nothing else."""
        words_of_term = sorted(set(lower(source[term.start : term.end])))
        left = [word for word in lower(source) if word not in words_of_term]
        rest = lower(given[: span[0]] + " " + given[span[1] :])
        before = links(self.association, [*left, *words_of_term], lower(free))
        after = links(self.association, left, rest)
        lost = any(place not in after for place in before if place < len(left))
        return not lost and not any(self._translates(words_of_term, word, left) for word in rest)

    def _translates(self, words_of_term: Sequence[str], word: str, others: Sequence[str]) -> bool:
        """Return True if a word of the output translates the source term rather than any other word of the source."""
        own, other = (
            max((self.association.weights.get(each, {}).get(word, 0.0) for each in row), default=0.0)
            for row in (words_of_term, others)
        )
        return own >= STRONG and own > other and word not in others

    @staticmethod
    def order(given: str, reference: str, term: Term, span: Span) -> bool:
        """Return True if the nearest words that both texts share stand on the same sides of the term in both."""
        (there,) = term.target.found(reference)[:1] or [(0, 0)]
        sides = [[lower(text[:begin]), lower(text[end:])] for text, (begin, end) in ((given, span), (reference, there))]
        counts = [Counter(left + right) for left, right in sides]
        shared = {word for word in counts[0] if counts[0][word] == counts[1][word] == 1}
        before = next((word for word in reversed(sides[1][0]) if word in shared), None)
        after = next((word for word in sides[1][1] if word in shared), None)
        return (before is None or before in sides[0][0]) and (after is None or after in sides[0][1])


@dataclass
class Count:
    terms: int = 0
    written: int = 0
    attending: int = 0
    replacing: int = 0
    ordered: int = 0
    placed: int = 0

    def line(self, name: str) -> str:
        counts = (self.written, self.attending, self.replacing, self.ordered, self.placed)
        return f"  {name:<34}{self.terms:>7,}" + "".join(f"{count / max(1, self.terms):>12.1%}" for count in counts)


@dataclass(frozen=True)
class Texts:
    """Sentences, what is written for them, and what the judges compare that with."""

    sources: Sequence[str]
    references: Sequence[str]
    free: Sequence[str]
    """Translations without the glossary."""
    outputs: Sequence[str]


def aligned_texts(translator: Translator, sources: Sequence[str], outputs: Sequence[str]) -> list[AlignedText]:
    """Give each output to the model, and return what it attends to."""
    encoded = translator.encode(sources)
    targets = translator.subwords.target.encode_many([tidy(text) for text in outputs], 1)
    search = replace(translator.search, beam=1, alignment=True)
    found = translator.engine.translate([each.ids for each in encoded], search, targets)
    rows = zip(encoded, outputs, targets, found, strict=True)
    return [
        AlignedText.of(
            tidy(sentence.text),
            output,
            Translation(
                text=output,
                source_tokens=tuple(translator.subwords.source.pieces(sentence.ids)),
                tokens=tuple(translator.subwords.target.pieces(ids)),
                alignment=tuple((s, t) for t, s in enumerate(forced.alignment[: len(ids)])),
            ),
        )
        for sentence, output, ids, (forced, *_) in rows
    ]


def count_terms(
    judge: Judge, texts: Texts, alignments: Sequence[AlignedText], terms: Iterable[Sequence[Term]]
) -> Count:
    """Count the terms in the outputs, and those at the right place."""
    count = Count()
    compared = zip(texts.sources, texts.references, texts.free, strict=True)
    for (source, reference, free), output, aligned, wanted in zip(
        compared, texts.outputs, alignments, terms, strict=True
    ):
        for term in wanted:
            spans = term.target.found(output)
            count.terms += 1
            count.written += bool(spans)
            count.attending += any(aligned.share(span, (term.start, term.end)) > 0 for span in spans)
            replacing = [judge.replaces(tidy(source), free, output, term, span) for span in spans]
            ordered = [judge.order(output, reference, term, span) for span in spans]
            count.replacing += any(replacing)
            count.ordered += any(ordered)
            count.placed += any(map(all, zip(replacing, ordered, strict=True)))
    return count


def main() -> None:
    options = arguments()
    sources = list(islice(read_lines(options.source), options.sentences))
    references = list(islice(read_lines(options.reference), options.sentences))
    texts = options.learn or (options.source, options.reference)
    both = zip(*(islice(read_lines(path), options.learn_lines) for path in texts), strict=True)
    association = learn([(lower(source), lower(target)) for source, target in both])
    translator = Translator.load(options.directory, engine=options.engine, threads=1)
    translator.translate(sources[:8])  # loads the engine
    began = time.process_time()
    free = [each.text for each in translator.translate(sources)]
    seconds = time.process_time() - began
    glossaries = {
        tidy(source): Glossary(drawn(pairs_of(association, source, reference, nouns=options.nouns), output))
        for source, reference, output in zip(sources, references, free, strict=True)
    }
    own = OwnTerms(by_sentence=glossaries)
    began = time.process_time()
    translated = translator.translate(sources, TranslateOptions(glossary=own))
    seconds_with = time.process_time() - began
    given = [each.text for each in translated]
    terms = [own.find(tidy(source)) for source in sources]
    lacking = [
        [term for term in group if not term.target.found(output)] for group, output in zip(terms, free, strict=True)
    ]
    having = [[term for term in group if term not in less] for group, less in zip(terms, lacking, strict=True)]
    bleu, chrf = text_metric("bleu"), text_metric("chrf")
    print(f"{options.directory}: {len(sources):,} sentences, {sum(map(len, terms)):,} terms")
    columns = ("in output", "attends", "replaces", "order", "right place")
    print(f"  {'':<34}{'terms':>7}" + "".join(f"{name:>12}" for name in columns))
    judge = Judge(association)
    written = {"without": free, "with": given}
    alignments = {how: aligned_texts(translator, sources, outputs) for how, outputs in written.items()}
    for name, group in (("lacking", lacking), ("own", having), ("all", terms)):
        for how, outputs in written.items():
            texts = Texts(sources, references, free, outputs)
            print(count_terms(judge, texts, alignments[how], group).line(f"{name} terms, {how} glossary"))
    language = translator.card.target
    for how, took in (("without", seconds), ("with", seconds_with)):
        values = [metric.corpus(written[how], references, language=language).score for metric in (bleu, chrf)]
        print(f"  {how:<8} BLEU {values[0]:.2f}  chrF {values[1]:.2f}  {took:.1f} s of one core")
    shown = [i for i, group in enumerate(lacking) if group][: options.show]
    for i in shown:
        forms = ", ".join(f"{sources[i][term.start : term.end]} -> {term.target.forms[0]}" for term in lacking[i])
        spans = [(term, span) for term in lacking[i] for span in term.target.found(given[i])[:1]]
        kept = all(judge.replaces(tidy(sources[i]), free[i], given[i], *each) for each in spans)
        ordered = all(judge.order(given[i], references[i], *each) for each in spans)
        verdict = f"{'' if kept else ' not its own place'}{'' if ordered else ' other order'}"
        print(f"\n{sources[i]}\n  {forms} {verdict}\n  - {free[i]}\n  + {given[i]}\n  = {references[i]}")


if __name__ == "__main__":
    main()
