"""How well a translator uses given terms: how many are in the output, where, and what that does to the translation.

    python benchmarks/terms.py runs/en-de test.en test.de
    python benchmarks/terms.py runs/en-de test.en test.de --learn train.en train.de --sentences 1000

Each sentence gets a glossary of its own, drawn from its reference: pairs of words that are each other's best partner by
IBM model 1, learnt from the text itself or from `--learn`. If possible, one of them is a term that the model does not
write by itself, and one a term that it does. A term is at the right place if one of its tokens attends most to the
source term when the whole output is given to the model.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from tongsa.corpus.association import Association, learn
from tongsa.evaluation.metrics import text_metric
from tongsa.text.lines import read_lines, tidy
from tongsa.translation.aligned_text import AlignedText
from tongsa.translation.glossary import Glossary, Target, Term
from tongsa.translation.options import TranslateOptions
from tongsa.translation.particles import is_hangul, without_particles
from tongsa.translation.sentences import Translation
from tongsa.translation.translator import Translator

LETTERS = 4
"""Fewest letters of a term; two syllables in Korean."""
STRONG = 3.0
"""Least association, log(t(target | source) / p(target)), of the two words of a term."""

_WORDS = re.compile(r"[^\W\d_]+")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a translator directory")
    parser.add_argument("source", type=Path, help="sentences, one per line")
    parser.add_argument("reference", type=Path, help="their translations")
    parser.add_argument("--learn", type=Path, nargs=2, metavar="FILE", help="source and target to learn words from")
    parser.add_argument("--learn-lines", type=int, default=30_000)
    parser.add_argument("--sentences", type=int, default=1000)
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


def pairs_of(association: Association, source: str, reference: str) -> list[tuple[str, str]]:
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
    ]


def drawn(pairs: Sequence[tuple[str, str]], output: str) -> dict[str, str]:
    """One term that the output lacks and one that it has, or two of a kind."""
    lacking = [pair for pair in pairs if not Target.of(pair[1]).found(output)]
    having = [pair for pair in pairs if pair not in lacking]
    return dict([*lacking[:1], *having[:1], *lacking[1:2], *having[1:2]][:2])


@dataclass
class Count:
    terms: int = 0
    written: int = 0
    placed: int = 0

    def line(self, name: str) -> str:
        of = max(1, self.terms)
        return f"  {name:<34}{self.terms:>7,}{self.written / of:>10.1%}{self.placed / of:>15.1%}"


def count_terms(
    translator: Translator, sources: Sequence[str], outputs: Sequence[str], terms: Iterable[Sequence[Term]]
) -> Count:
    """Count the terms in the outputs, and those that attend to their source terms."""
    count = Count()
    encoded = translator.encode(sources)
    targets = translator.subwords.target.encode_many([tidy(text) for text in outputs], 1)
    search = replace(translator.search, beam=1, alignment=True)
    found = translator.engine.translate([each.ids for each in encoded], search, targets)
    for source, output, wanted, ids, (forced, *_) in zip(sources, outputs, terms, targets, found, strict=True):
        alignment = tuple((s, t) for t, s in enumerate(forced.alignment[: len(ids)]))
        translation = Translation(
            text=output,
            source_tokens=tuple(translator.subwords.source.pieces(translator.subwords.source.encode(tidy(source)))),
            tokens=tuple(translator.subwords.target.pieces(ids)),
            alignment=alignment,
        )
        aligned = AlignedText.of(tidy(source), output, translation)
        for term in wanted:
            spans = term.target.found(output)
            count.terms += 1
            count.written += bool(spans)
            count.placed += any(aligned.share(span, (term.start, term.end)) > 0 for span in spans)
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
    began = time.perf_counter()
    free = [each.text for each in translator.translate(sources)]
    seconds = time.perf_counter() - began
    glossaries = {
        tidy(source): Glossary(drawn(pairs_of(association, source, reference), output))
        for source, reference, output in zip(sources, references, free, strict=True)
    }
    own = OwnTerms(by_sentence=glossaries)
    began = time.perf_counter()
    translated = translator.translate(sources, TranslateOptions(glossary=own))
    seconds_with = time.perf_counter() - began
    given = [each.text for each in translated]
    terms = [own.find(tidy(source)) for source in sources]
    lacking = [
        [term for term in group if not term.target.found(output)] for group, output in zip(terms, free, strict=True)
    ]
    having = [[term for term in group if term not in less] for group, less in zip(terms, lacking, strict=True)]
    bleu, chrf = text_metric("bleu"), text_metric("chrf")
    print(f"{options.directory}: {len(sources):,} sentences, {sum(map(len, terms)):,} terms")
    print(f"  {'':<34}{'terms':>7}{'in output':>10}{'right place':>15}")
    for name, group in (("the model lacks", lacking), ("the model writes by itself", having), ("all", terms)):
        print(count_terms(translator, sources, free, group).line(f"without glossary, {name}"[:34]))
        print(count_terms(translator, sources, given, group).line("with glossary"))
    language = translator.card.target
    for name, outputs, took in (("without", free, seconds), ("with", given, seconds_with)):
        values = [metric.corpus(outputs, references, language=language).score for metric in (bleu, chrf)]
        print(f"  {name:<8} BLEU {values[0]:.2f}  chrF {values[1]:.2f}  {took:.1f} s")
    shown = [i for i, group in enumerate(lacking) if group][: options.show]
    for i in shown:
        forms = ", ".join(f"{sources[i][term.start : term.end]} -> {term.target.forms[0]}" for term in lacking[i])
        print(f"\n{sources[i]}\n  {forms}\n  - {free[i]}\n  + {given[i]}\n  = {references[i]}")


if __name__ == "__main__":
    main()
