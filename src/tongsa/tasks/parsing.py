"""Parsing: from constituency trees to a Parser (§6.3 of the paper).

A tree is a target sequence (data/linearisations.py), so the model, its loss and its training are those of translation.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from tongsa.base.devices import usable_cores
from tongsa.base.errors import CorpusError, RecipeError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config import Recipe, SubwordsSection
from tongsa.config.presets import load_recipe
from tongsa.data.linearisations import CLOSE
from tongsa.data.prepare import Prepared, PrepareSettings, prepare_pairs
from tongsa.data.silver import SilverMix
from tongsa.data.spill import Pairs, spilled
from tongsa.decoding import Search
from tongsa.evaluation.metrics import mean_metric
from tongsa.evaluation.parseval import ParsevalScore, SentenceCounts, add_up, compare
from tongsa.formats.pairs import Pair, Place, Tally
from tongsa.formats.trees import Tree, plain_tree, read_trees, with_leaves
from tongsa.models.contracts import Seq2Seq
from tongsa.pages.frame import Section
from tongsa.pages.markup import escape, table
from tongsa.pages.record import TrainingRecord
from tongsa.pages.report import Subject, write_report
from tongsa.runs.card import Card, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.contract import Evaluation, Task, Workers, refuse_what_translation_alone_has
from tongsa.tasks.parser import PARSING, Parser, build_parser_model, linearisation_of, readable, tags_as_json
from tongsa.tasks.translation import TranslationObjective
from tongsa.tasks.translation_recipe import LOSSES
from tongsa.text.subwords import Subwords, VocabularySizeError, learn

DEFAULT_RECIPE = "parsing"
SELECTS = "f1"
EXAMPLES_SHOWN = 6
MOST_LABELS = 4_000


@dataclass(frozen=True)
class TreePairs:
    """Trees of files as pairs of a sentence and its actions."""

    files: tuple[Path, ...]
    recipe: Recipe
    left_out: Tally

    @property
    def name(self) -> str:
        return ", ".join(map(str, self.files))

    def trees(self) -> Iterator[tuple[Tree, Place]]:
        for file in self.files:
            for read, line in read_trees(file):
                tree, where = plain_tree(read), Place(file, line)
                if tree:
                    yield tree, where
                else:
                    self.left_out.drop("without words", where)

    def __iter__(self) -> Iterator[Pair]:
        for tree, where in self.trees():
            actions = linearisation_of(self.recipe).actions(tree, tags=self.recipe.corpus.tags)
            yield Pair(readable(tree.words()), " ".join(actions), where)


class Parsing(Task[Parser]):
    """Trees in, a parser out."""

    name = PARSING

    def prepare(self, run: Run, options: TrainOptions, show: Show) -> Recipe:
        refuse_what_translation_alone_has(options, "a parser")
        recipe = load_recipe(DEFAULT_RECIPE if options.recipe == "auto" else options.recipe, options.settings)
        _selecting_metric(recipe)
        training = TreePairs(tuple(map(Path, options.corpora)), recipe, Tally())
        validation = TreePairs(tuple(map(Path, options.valid)), recipe, Tally()) if options.valid else None
        threads = options.threads or usable_cores()
        silver = TreePairs(tuple(map(Path, options.silver)), recipe, Tally())
        pairs = SilverMix.of(training, silver, options.silver_ratio) if options.silver else training
        if isinstance(pairs, SilverMix):
            show.say(f"an epoch has each gold tree {pairs.repeats:,} times and each silver tree once")
        with spilled(pairs, recipe.corpus, seed=options.seed, folder=run.data, show=show) as text:
            for line in (*training.left_out.lines(), *silver.left_out.lines()):
                show.say(line)
            subwords, recipe = _learn(pairs, recipe, threads, show)
            settings = PrepareSettings(directory=run.path, recipe=recipe, threads=threads, given=subwords, show=show)
            prepare_pairs(text, validation, settings)
        write_atomically(run.tags_file, tags_as_json(_tags(training)))
        return recipe

    def open(self, run: Run, recipe: Recipe, options: TrainOptions) -> ParsingObjective:
        return ParsingObjective(Prepared.open(run.path), recipe, options, run.read_tags())

    def evaluate(self, run: Run, card: Card, weights: Mapping[str, Tensor], device: str) -> Evaluation:
        """Parse the validation set as the published parser would."""
        data = Prepared.open(run.path)
        parser = Parser.from_weights(card, data.subwords, run.read_tags(), weights, device=device)
        gold = _gold(parser, data)
        found = [parsed.tree for parsed in parser.parse([tree.words() for tree in gold])]
        counts = [_compared(a, b) for a, b in zip(gold, found, strict=True)]
        examples = [
            {"sentence": " ".join(a.words()), "tree": str(b), "reference": str(a), "f1": add_up([count]).f1}
            for a, b, count in zip(gold, found, counts, strict=True)
        ]
        return Evaluation(scores=parsing_scores(add_up(counts)), examples=examples)

    def publish(self, run: Run, card: Card, evaluation: Evaluation, device: str, show: Show) -> Parser:
        parser = Parser.load(run.path, device=device)
        for example in evaluation.examples[:EXAMPLES_SHOWN]:
            show.say(f"  {example['tree']}")
        shown = ", ".join(f"{name} {score.score:.2f}" for name, score in card.scores.items())
        show.say(f"scores on the validation set: {shown}")
        show.say(f"report: {_write_report(run, parser, evaluation)}")
        show.say(f"\nthe parser is {run.path}. Next:")
        show.say(f'  echo "The dog barks ." | tongsa parse {run.path}')
        show.say(f"  tongsa parse evaluate {run.path} TREES")
        return parser


class ParsingObjective(TranslationObjective):
    """The loss of translation; validated by parsing."""

    def __init__(self, data: Prepared, recipe: Recipe, options: TrainOptions, tags: Mapping[str, str]) -> None:
        super().__init__(data, recipe, options)
        self.selects = _selecting_metric(recipe)
        self.tags = tags
        if self.noise:
            raise RecipeError("training.noise is for translation: a parser needs the words as they are")

    def build(self) -> Seq2Seq:
        return build_parser_model(self.recipe, self.data.subwords)

    def slow_scores(self, model: Seq2Seq, workers: Workers) -> dict[str, Score]:
        """Greedy parsing: cheaper than a beam, and it ranks checkpoints as beam search would."""
        parser = Parser(Card(recipe=self.recipe, task=PARSING), self.data.subwords, self.tags, model)
        gold = _gold(parser, self.data)
        mine = range(workers.rank, len(gold), workers.size)
        decoding = self.recipe.decoding
        search = Search(beam=1, max_extra=decoding.max_extra, max_ratio=decoding.max_ratio)
        found = parser.parse([gold[i].words() for i in mine], search)
        counts = {i: _as_row(_compared(gold[i], parsed.tree)) for i, parsed in zip(mine, found, strict=True)}
        rows = workers.gather_rows(counts, len(gold))
        return parsing_scores(add_up(map(_from_row, rows)))


def parsing_scores(total: ParsevalScore) -> dict[str, Score]:
    """Labelled F1 and the share of whole trees that are right, in percent."""
    return {
        "f1": mean_metric("f1").corpus(2 * total.matched, total.gold + total.test),
        "complete_match": mean_metric("complete_match").corpus(total.complete, total.valid),
    }


def _as_row(counts: SentenceCounts) -> list[int]:
    return [counts.matched, counts.gold, counts.test]


def _from_row(row: Sequence[int]) -> SentenceCounts:
    matched, gold, test = row
    return SentenceCounts(matched=matched, gold=gold, test=test)


def _compared(gold: Tree, found: Tree) -> SentenceCounts:
    """Tags on both sides are those of the right tree, so punctuation is left out of both."""
    return compare([gold], [with_leaves(found, gold.leaves())])


def _gold(parser: Parser, data: Prepared) -> list[Tree]:
    """The trees of the validation set; if the actions have no tags, with those that the parser gives to words."""
    return [
        parser.linearisation.tree(actions.split(), parser.leaves(sentence.split()))
        for sentence, actions in data.valid_text
    ]


def _learn(pairs: Pairs, recipe: Recipe, threads: int, show: Show) -> tuple[Subwords, Recipe]:
    """Learn subwords of the words, and take all actions as they are."""
    labels = {action for pair in pairs for action in pair.target.split()}
    if len(labels) > MOST_LABELS:
        raise CorpusError(f"{pairs.name} has {len(labels):,} labels", f"A parser has at most {MOST_LABELS:,}.")
    every = " ".join(sorted({CLOSE, *labels}))
    section = SubwordsSection(kind="word", size=len(labels) + 10, byte_fallback=False, character_coverage=1.0)
    actions = learn([every], section, threads)
    show.say(f"{len(labels):,} actions; learning {recipe.subwords.size:,} subwords of the words")
    while True:
        try:
            return Subwords(learn((pair.source for pair in pairs), recipe.subwords, threads), actions), recipe
        except VocabularySizeError as error:
            show.say(f"vocabulary {error.bearable:,} instead: {error.what}")
            recipe = recipe.with_settings({"subwords.size": str(error.bearable)})


def _tags(pairs: TreePairs) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for tree, _ in pairs.trees():
        for leaf in tree.leaves():
            counts[leaf.word][leaf.label] += 1
    return counts


def _selecting_metric(recipe: Recipe) -> str:
    name = recipe.training.select or SELECTS
    known = (SELECTS, "complete_match", *LOSSES)
    if name not in known:
        raise RecipeError(f"training.select is {name!r}; a parser is selected by {', '.join(known)}")
    return name


def _write_report(run: Run, parser: Parser, evaluation: Evaluation) -> Path:
    rows = [
        [escape(each["sentence"]), escape(each["tree"]), f"{each['f1']:.1f}"]
        for each in evaluation.examples[:: max(1, len(evaluation.examples) // 20)][:20]
    ]
    section = parser.card.recipe.model
    subject = Subject(
        kind="parser",
        title="Parser",
        description=f"{section.architecture} of width {section.d_model:,}, {parser.linearisation.name} actions",
        parameters=sum(parameter.numel() for parameter in parser.model.parameters()),
        examples="trees",
        scored="by PARSEVAL on the validation trees",
        command=("--task", PARSING),
        sections=[Section(key="examples", title="Examples", note="", content=table(["sentence", "tree", "F1"], rows))],
    )
    return write_report(run, TrainingRecord.read(run), subject)
