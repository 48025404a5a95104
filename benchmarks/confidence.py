"""How well a translator knows how good its translations are.

    python benchmarks/confidence.py runs/en-de --in data/test.en data/test.de --out news.en europarl.en

in domain       area under the ROC curve for telling translations that are worse than the median chrF from the others
out of domain   area for telling text like the training text (--in) from other text (--out), by confidence alone
reliability     the mean confidence and the mean chrF of ten groups of translations, the least certain first
distinct        how many different values the confidences of all texts have

An area of 0.5 is chance, 1 is never wrong. Needs only the translator directory.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tongsa.evaluation.calibration import groups_by_confidence, median_split, roc_area, sentence_quality
from tongsa.translation.translator import Translator


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a translator directory")
    parser.add_argument("--in", dest="inside", type=Path, nargs=2, required=True, metavar=("SOURCE", "REFERENCE"))
    parser.add_argument("--out", type=Path, nargs="*", default=[], help="source text of other domains")
    parser.add_argument("--lines", type=int, default=1000, help="of each file")
    parser.add_argument("--threads", type=int, default=None)
    return parser.parse_args()


def read(path: Path, lines: int) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:lines]


def confidences(translator: Translator, texts: Sequence[str]) -> tuple[list[str], list[float]]:
    found = translator.translate(texts)
    return [each.text for each in found], [each.confidence or 0.0 for each in found]


def main() -> None:
    given = arguments()
    translator = Translator.load(given.directory, threads=given.threads)
    sources, references = (read(path, given.lines) for path in given.inside)
    pairs = [(a, b) for a, b in zip(sources, references, strict=True) if a.strip() and b.strip()]
    texts, inside = confidences(translator, [source for source, _ in pairs])
    quality = sentence_quality(texts, [reference for _, reference in pairs])
    print(f"in domain       {roc_area(*median_split(inside, quality)):.3f}  {given.inside[0]} ({len(pairs):,} lines)")
    values = list(inside)
    for path in given.out:
        _, outside = confidences(translator, [line for line in read(path, given.lines) if line.strip()])
        values += outside
        mean = sum(outside) / len(outside)
        print(f"out of domain   {roc_area(inside, outside):.3f}  {path} ({len(outside):,} lines, mean {mean:.3f})")
    print(f"distinct        {len(set(values)):,} of {len(values):,}; with five decimals {_rounded(values):,}")
    print("reliability     confidence  chrF / 100")
    for confidence, found in groups_by_confidence(inside, quality):
        print(f"                {confidence:10.3f}  {found:10.3f}")


def _rounded(values: Sequence[float]) -> int:
    return len({round(value, 5) for value in values})


if __name__ == "__main__":
    main()
