"""Does PARSEVAL count as EVALB does? Every tree is compared with a perturbed copy of itself, by both.

    python benchmarks/parseval.py path/to/evalb path/to/COLLINS.prm trees/*.trees

EVALB is the C program of Sekine and Collins, run as a program of its own; its limits (200 words and brackets, lines of
5,000 characters) must be raised for long trees. Exits with 1 if a count of any sentence differs.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tongsa.evaluation.parseval import compare, read_parameters
from tongsa.formats.trees import Tree, plain_tree, read_trees

LABELS = ("NP", "VP", "PRT", "ADVP", "S", "NP-SBJ", "X=1", "TOP")
TAGS = ("NN", "JJ", ",", ".", "''", "``", ":", "RB", "POS", "-NONE-")
ROW = re.compile(r"\s*\d+\s+(\d+)\s+([012])\s+[\d.]+\s+[\d.]+\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s")
STATUS = {"valid": "0", "error": "1", "skipped": "2"}


def perturbed(tree: Tree, draw: random.Random, rate: float) -> Tree:
    """Leave out, add, rename and move brackets, change tags, and now and then a word."""
    built: list[list[Tree]] = [[]]
    for node, begins in tree.nodes():
        if begins:
            built.append([])
            continue
        children = built.pop()
        chance = draw.random() / rate
        if node.is_leaf:
            tag = draw.choice(TAGS) if chance < 0.05 else node.label
            built[-1].append(Tree(tag, (), node.word + "x" if chance < 0.001 else node.word))
        elif chance < 0.3 and built[1:]:
            built[-1] += children  # left out
        elif chance < 0.6:
            built[-1].append(Tree(draw.choice(LABELS), tuple(children)))
        elif chance < 0.8:
            built[-1].append(Tree(node.label, (Tree(draw.choice((node.label, *LABELS)), tuple(children)),)))
        elif chance < 0.9 and len(children) > 2 and len(children[0].children) > 1:
            first, second, *others = children  # the second takes the last child of the first: brackets cross
            moved = Tree(draw.choice(LABELS), (first.children[-1], second))
            built[-1].append(Tree(node.label, (Tree(first.label, first.children[:-1]), moved, *others)))
        elif chance < 1 and len(children) > 2:
            cut = draw.randrange(1, len(children) - 1)
            inner = Tree(draw.choice(LABELS), tuple(children[cut:]))
            built[-1].append(Tree(node.label, (*children[:cut], inner)))
        else:
            built[-1].append(Tree(node.label, tuple(children)))
    return built[0][0] if len(built[0]) == 1 else Tree("TOP", tuple(built[0]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evalb", type=Path, help="the program")
    parser.add_argument("parameters", type=Path, help="a parameter file, for both")
    parser.add_argument("trees", type=Path, nargs="+", help="files of trees")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw, parameters = random.Random(options.seed), read_parameters(options.parameters.read_text())
    gold = [tree for path in options.trees for tree in (plain_tree(each) for each, _ in read_trees(path)) if tree]
    test = [perturbed(tree, draw, draw.choice((0.02, 0.2, 0.6))) for tree in gold]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("gold", "test")]
        for path, trees in zip(files, (gold, test), strict=True):
            path.write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8")
        command = [str(options.evalb.resolve()), "-p", str(options.parameters), *map(str, files)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [match.groups() for line in printed.split("\n") if (match := ROW.match(f"{line} "))]
    counted, wrong = Counter[str](), 0
    for number, (a, b, row) in enumerate(zip(gold, test, rows, strict=True)):
        ours = compare([a], [b], parameters)
        counts = [ours.length, STATUS[ours.status]]
        if ours.status == "valid":
            counts += [ours.matched, ours.gold, ours.test, ours.crossing, ours.words, ours.right_tags]
            counted.update({"matched": ours.matched, "gold": ours.gold, "test": ours.test, "crossing": ours.crossing})
        counted[ours.status] += 1
        if list(map(str, counts)) != list(row[: len(counts)]):
            wrong += 1
            print(f"tree {number + 1}: EVALB {row}, PARSEVAL {counts}\n  {a}\n  {b}")
    print(f"{len(rows):,} sentences ({', '.join(f'{name} {count:,}' for name, count in counted.items())})")
    print(f"{wrong:,} sentences are counted otherwise than by EVALB")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
