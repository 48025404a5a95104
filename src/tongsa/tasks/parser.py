"""A trained parser: from the words of a sentence to its tree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from tongsa.base.devices import choose_device
from tongsa.base.errors import DirectoryError
from tongsa.config import Recipe
from tongsa.data.linearisations import LINEARISATIONS, Linearisation, takes_word
from tongsa.decoding import Search, Special, decode
from tongsa.decoding.legal_actions import LegalActions
from tongsa.decoding.search import length_limit
from tongsa.formats.trees import Tree
from tongsa.models.contracts import Seq2Seq
from tongsa.models.next_word import NextWordTransformer
from tongsa.models.weights import build_model, load_weights, read_weights
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.text.lines import tidy
from tongsa.text.penn import PennTokenizer
from tongsa.text.sentences import split
from tongsa.text.subwords import END, Subwords, Vocabulary

PARSING = "parsing"

ACTION_MARK = "▁"
"""SentencePiece writes it before each word, and so before each action."""
UNREADABLE = "?"
"""What the model reads for a word of which nothing is left when it is tidied."""


@dataclass(frozen=True)
class ParsedTree:
    """A tree, and how sure the parser is of it."""

    tree: Tree
    log_probability: float
    score: float


class Parser:
    """The model of a run directory, with its subwords, actions and tags."""

    def __init__(self, card: Card, subwords: Subwords, tags: Mapping[str, str], model: Seq2Seq) -> None:
        self.card, self.subwords, self.tags, self.model = card, subwords, tags, model.eval()
        self.linearisation = linearisation_of(card.recipe)
        self.actions = actions_of(subwords.target)
        self.device = next(model.parameters()).device

    @classmethod
    def load(cls, directory: str | Path, *, device: str = "auto") -> Parser:
        run = Run(Path(directory))
        card = run.read_card()
        if card.task != PARSING:
            raise DirectoryError(f"{directory} is not a parser: it was trained for {card.task}")
        subwords = run.read_subwords(card)
        weights = read_weights(run, card, lambda: build_parser_model(card.recipe, subwords))
        return cls.from_weights(card, subwords, run.read_tags(card), weights, device=device)

    @classmethod
    def from_weights(
        cls,
        card: Card,
        subwords: Subwords,
        tags: Mapping[str, str],
        weights: Mapping[str, Tensor],
        *,
        device: str = "auto",
    ) -> Parser:
        model = build_parser_model(card.recipe, subwords)
        load_weights(model, weights)
        return cls(card, subwords, tags, model.to(choose_device(device)))

    def search(self, beam: int | None = None) -> Search:
        """The search of the recipe, with another beam if one is given."""
        search = Search.of(self.card.recipe.decoding)
        return replace(search, beam=beam) if beam else search

    def parse(self, sentences: Sequence[Sequence[str]], search: Search | None = None) -> list[ParsedTree]:
        """Return the best tree over exactly the words of each sentence."""
        search = search or self.search()
        found: dict[int, ParsedTree] = {}
        sources = [self.subwords.source.encode(readable(words)) for words in sentences]
        for rows in _batches([len(source) for source in sources], self.card.recipe.decoding.batch_tokens):
            rows = [row for row in rows if sentences[row]]
            for row, parsed in zip(rows, self._parse(rows, sources, sentences, search), strict=True):
                found[row] = parsed
        nothing = ParsedTree(Tree("TOP"), 0.0, 0.0)
        return [found.get(row, nothing) for row in range(len(sentences))]

    def _parse(
        self, rows: Sequence[int], sources: Sequence[list[int]], sentences: Sequence[Sequence[str]], search: Search
    ) -> Iterator[ParsedTree]:
        if not rows:
            return
        longest = max(len(sources[row]) for row in rows) + 1
        pad = self.subwords.source.pad
        ids = [[*sources[row], END, *[pad] * (longest - len(sources[row]) - 1)] for row in rows]
        source = torch.tensor(ids, device=self.device)
        limits = [length_limit(len(sources[row]) + 1, search, self.model.max_length) for row in rows]
        words = [len(sentences[row]) for row in rows]
        special = Special(start=self.subwords.target.pad, end=END)
        legal = LegalActions(self.linearisation, self.actions, END, words, limits)
        for row, hypotheses in zip(
            rows, decode(self.model, source, source != pad, search, special, constraint=legal), strict=True
        ):
            best = hypotheses[0]
            tree = self.linearisation.tree([self.actions[id] for id in best.ids], self.leaves(sentences[row]))
            yield ParsedTree(tree, best.log_probability, best.score)

    @torch.no_grad()
    def attention(self, tree: Tree) -> list[list[float]]:
        """What each node of a tree attended to when it was begun or taken: its weights over the words.

        Nodes are in the order in which they begin in `tree.nodes()`; one that is not written, as the root mostly, has
        no weights. They are the mean over layers and heads of the decoder's attention to the source.
        """
        words = tree.words()
        ids = [*self.subwords.source.encode(readable(words)), END]
        source = torch.tensor([ids], device=self.device)
        steps = self.linearisation.steps(tree, tags=self.card.recipe.corpus.tags)
        written = [self.subwords.target.pad, *(self.actions.index(action) for action, _ in steps)]
        target = torch.tensor([written], device=self.device)
        seen = self.model.attend(source, torch.ones_like(source, dtype=torch.bool), target)
        weights = torch.stack([layer[0].mean(dim=0) for layer in seen.cross]).mean(dim=0)  # (steps, source)
        begins = [piece.startswith(ACTION_MARK) for piece in self.subwords.source.pieces(ids)]
        word = (torch.tensor(begins, device=self.device).cumsum(dim=0) - 1)[:-1]  # the end of the sentence is no word
        over_words = weights.new_zeros(len(weights), len(words)).index_add_(1, word, weights[:, :-1])
        first: dict[int, int] = {}
        for step, (_, node) in enumerate(steps):
            first.setdefault(id(node), step)
        return [
            over_words[first[id(node)]].tolist() if id(node) in first else []
            for node, begins_here in tree.nodes()
            if begins_here
        ]

    @cached_property
    def tokenizer(self) -> PennTokenizer:
        """Separates the words of ordinary text as the training trees do."""
        return PennTokenizer.of(self.tags)

    def separate(self, text: str) -> list[list[str]]:
        """Separate ordinary text into sentences, and these into words."""
        sentences = (self.tokenizer.words(sentence) for sentence in split(text, "en"))
        return [words for words in sentences if words]

    def leaves(self, words: Sequence[str]) -> list[Tree]:
        """Give each word its most frequent tag in the training trees: a parser of tags gives it another."""
        return [Tree(self.tags.get(word) or guessed_tag(word), (), word) for word in words]


def readable(words: Sequence[str]) -> str:
    """Return a sentence as the model reads it: tidied, with as many words as were given."""
    tidied = [tidy(word).replace(ACTION_MARK, "_").replace(" ", "") for word in words]
    return " ".join(word or UNREADABLE for word in tidied)


def guessed_tag(word: str) -> str:
    """A tag for a word that the training trees do not have."""
    if any(map(str.isdigit, word)):
        return "CD"
    return "NNP" if word[:1].isupper() else "NN"


def linearisation_of(recipe: Recipe) -> Linearisation:
    return LINEARISATIONS[recipe.corpus.linearisation]


def actions_of(vocabulary: Vocabulary) -> list[str]:
    """Return the action of each id that can be written."""
    return [piece.removeprefix(ACTION_MARK) for piece in vocabulary.all_pieces()[: vocabulary.pad]]


def build_parser_model(recipe: Recipe, subwords: Subwords) -> Seq2Seq:
    """Build a model with new weights, which knows what a word is."""
    model = build_model(recipe.model, subwords)
    if isinstance(model, NextWordTransformer):
        begins = [piece.startswith(ACTION_MARK) for piece in subwords.source.all_pieces()]
        takes = [takes_word(piece.removeprefix(ACTION_MARK)) for piece in subwords.target.all_pieces()]
        model.know_words(torch.tensor(begins), torch.tensor(takes))
    return model


def tags_as_json(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Write the most frequent tag of each word; of equally frequent ones the first in the alphabet."""
    best = {word: min(tags, key=lambda tag: (-tags[tag], tag)) for word, tags in sorted(counts.items())}
    return json.dumps(best, ensure_ascii=False, indent=0)


def _batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Group sentences of similar length, at most so many tokens with padding."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * (lengths[row] + 1) > tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
