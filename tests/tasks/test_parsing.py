"""A parser is trained, resumed, loaded and used like every other model."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import tongsa
from tongsa.base.errors import DirectoryError, RecipeError, UsageError
from tongsa.cli.main import application
from tongsa.config import TransformerSection
from tongsa.config.presets import load_recipe
from tongsa.data.batches import assemble
from tongsa.data.prepare import Prepared
from tongsa.formats.trees import Tree, parse_brackets
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.parser import Parser, guessed_tag, readable
from tongsa.tasks.parsing import ParsingObjective

SETTINGS = {
    "model.d_model": "32",
    "model.d_ff": "64",
    "model.heads": "2",
    "model.encoder_layers": "1",
    "model.decoder_layers": "1",
    "model.dropout": "0",
    "subwords.size": "120",
    "training.processes": "1",
    "training.batch_tokens": "512",
    "training.updates": "150",
    "training.warmup": "10",
    "training.peak": "0.01",
    "training.validate_every": "150",
}


def sentences(count: int, seed: int) -> list[str]:
    """Trees of a small grammar: whether a phrase belongs to the verb or the noun shows in its preposition."""
    draw = random.Random(seed)

    def noun_phrase(deep: bool) -> str:
        noun = f"(NP (DT {draw.choice(['the', 'a'])}) (NN {draw.choice(['dog', 'cat', 'child', 'house'])}))"
        return f"(NP {noun} (PP (IN of) {noun_phrase(False)}))" if deep else noun

    trees = []
    for _ in range(count):
        verb = draw.choice(["sees", "likes", "finds"])
        inner = f"(VBZ {verb}) {noun_phrase(draw.random() < 0.3)}"
        if draw.random() < 0.5:
            inner += f" (PP (IN with) {noun_phrase(False)})"
        trees.append(f"(TOP (S {noun_phrase(draw.random() < 0.3)} (VP {inner}) (. .)))")
    return trees


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("treebank")
    for name, count, seed in (("train", 300, 1), ("valid", 20, 2)):
        (folder / f"{name}.trees").write_text("".join(f"{tree}\n" for tree in sentences(count, seed)))
    return folder


def train(treebank: Path, out: Path, **changes: str) -> Parser:
    parser = tongsa.train(
        treebank / "train.trees",
        valid=treebank / "valid.trees",
        task="parsing",
        out=out,
        settings={**SETTINGS, **{name.replace("__", "."): value for name, value in changes.items()}},
        threads=1,
        device="cpu",
    )
    assert isinstance(parser, Parser)
    return parser


@pytest.fixture(scope="module")
def trained(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("parser") / "run"
    train(treebank, out)
    return out


def test_it_learns_a_grammar_and_every_tree_is_over_the_words(trained: Path) -> None:
    card = Run(trained).read_card()
    assert card.task == "parsing"
    assert card.scores["f1"].score > 60
    parser = Parser.load(trained)
    odd = ["the", "▁", "\u200b", "한국어", "(", "cat"]
    for words in (["the", "dog", "sees", "a", "cat", "."], ["dog"], odd, []):
        (parsed,) = parser.parse([words])
        assert parsed.tree.words() == words
    tree = parser.parse([["the", "dog", "likes", "the", "house", "."]])[0].tree
    assert [leaf.label for leaf in tree.leaves()] == ["DT", "NN", "VBZ", "DT", "NN", "."]


@pytest.mark.parametrize(
    ("linearisation", "architecture", "tags"),
    [
        ("brackets", "transformer-next-word", "true"),
        ("brackets", "lstm-attention", "false"),
        ("in-order", "lstm-attention", "true"),
    ],
)
def test_other_linearisations_and_models_are_trained_alike(
    treebank: Path, tmp_path: Path, linearisation: str, architecture: str, tags: str
) -> None:
    """An architecture without keys of its own is chosen with one --set."""
    kept = ("model.d_model", "model.dropout")
    settings = {key: value for key, value in SETTINGS.items() if not key.startswith("model.") or key in kept}
    if architecture == "transformer-next-word":
        settings = SETTINGS
    parser = tongsa.train(
        treebank / "train.trees",
        valid=treebank / "valid.trees",
        task="parsing",
        out=tmp_path / "run",
        settings={
            **settings,
            "corpus.linearisation": linearisation,
            "corpus.tags": tags,
            "model.architecture": architecture,
            "training.updates": "2",
        },
        threads=1,
        device="cpu",
    )
    assert parser.card.recipe.model.architecture == architecture
    words = ["the", "cat", "finds", "a", "house", "."]
    tree = parser.parse([words])[0].tree
    assert tree.words() == words
    weights = parser.attention(tree)
    nodes = [node for node, begins in tree.nodes() if begins]
    assert len(weights) == len(nodes)
    assert {len(row) for row in weights[1:]} == {len(words)}  # the root may go without saying
    assert all(0 < sum(row) <= 1.001 for row in weights if row)


def test_silver_trees_are_mixed_with_gold_ones(treebank: Path, tmp_path: Path) -> None:
    silver = tmp_path / "silver.trees"
    silver.write_text("".join(f"{tree.replace('(NN dog)', '(NN wolf)')}\n" for tree in sentences(700, 3)))
    settings = {**SETTINGS, "training.updates": "2"}
    options: dict[str, Any] = {
        "valid": treebank / "valid.trees",
        "task": "parsing",
        "settings": settings,
        "threads": 1,
        "device": "cpu",
    }
    gold = treebank / "train.trees"
    parser = tongsa.train(gold, out=tmp_path / "run", silver=silver, silver_ratio=1.2, **options)
    assert len(Prepared.open(tmp_path / "run").train.source) == 2 * 300 + 700
    assert "wolf" not in parser.tags  # tags are those of gold trees
    assert "--silver-ratio 1.2" in (tmp_path / "run" / "report.html").read_text()
    tongsa.train(gold, out=tmp_path / "run", silver=silver, silver_ratio=1.2, resume=True, **options)
    with pytest.raises(UsageError, match="--silver-ratio"):
        tongsa.train(gold, out=tmp_path / "run", silver=silver, silver_ratio=2.0, resume=True, **options)
    with pytest.raises(UsageError, match="--silver needs --valid"):
        tongsa.train(gold, out=tmp_path / "other", silver=silver, task="parsing")
    with pytest.raises(UsageError, match="--silver is for parsers"):
        tongsa.train(gold, out=tmp_path / "other", silver=silver, source="en", target="de")


def test_a_resumed_training_has_the_same_weights(treebank: Path, tmp_path: Path) -> None:
    changes = {"training__schedule": "inverse-sqrt", "training__average": "1", "training__validate_every": "3"}
    train(treebank, tmp_path / "whole", training__updates="6", **changes)
    train(treebank, tmp_path / "resumed", training__updates="3", **changes)
    tongsa.resume(tmp_path / "resumed", settings={"training.updates": "6"})
    whole, resumed = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "resumed"))
    assert whole == resumed


def test_sentences_are_parsed_and_trees_scored_by_the_commands(trained: Path, treebank: Path, tmp_path: Path) -> None:
    run = CliRunner()
    parsed = run.invoke(application("parse"), ["parse", str(trained)], input="the dog sees a cat .\n\n")
    assert parsed.exit_code == 0, parsed.output
    first, second = parsed.stdout.split("\n")[:2]
    assert parse_brackets(first)[0].words() == ["the", "dog", "sees", "a", "cat", "."]
    assert second == "(TOP)"
    drawn = run.invoke(application("parse"), ["parse", str(trained), "--draw"], input="the dog sees a cat .\n")
    assert drawn.stdout.startswith("TOP\n")
    output = tmp_path / "found.trees"
    scored = run.invoke(
        application("parse"),
        ["parse", "evaluate", str(trained), str(treebank / "valid.trees"), "--output", str(output)],
    )
    assert "20 sentences" in scored.stdout
    assert "20 trees over their words" in scored.stdout
    assert "labelled F1" in scored.stdout
    assert len(output.read_text().splitlines()) == 20


def test_ordinary_text_is_separated_parsed_and_drawn(trained: Path, tmp_path: Path) -> None:
    svg, page = tmp_path / "trees.svg", tmp_path / "trees.html"
    run = CliRunner()
    options = ["--raw", "--svg", str(svg), "--page", str(page)]
    parsed = run.invoke(
        application("parse"), ["parse", str(trained), *options], input="The dog can't see. (A cat!)\n\n"
    )
    assert parsed.exit_code == 0, parsed.output
    found = [tree.words() for tree in parse_brackets(parsed.stdout)]
    assert found == [["The", "dog", "ca", "n't", "see", "."], ["-LRB-", "A", "cat", "!", "-RRB-"]]
    assert svg.read_text().startswith("<svg")
    assert svg.read_text().count(">cat<") == 1
    assert page.read_text().count("<figure") == 2
    assert "data-weights" in page.read_text()


def test_actions_are_not_segmented_at_random(trained: Path) -> None:
    """With subwords.sampling, words are; an action in pieces would be unknown."""
    data, rows = Prepared.open(trained), np.arange(20)
    recipe = Run(trained).read_card().recipe.with_settings({"subwords.sampling": "0.9"})
    objective = ParsingObjective(data, recipe, TrainOptions(corpora=("x",), task="parsing"), {})
    plain = assemble(data.train, rows, data.subwords, sampling=0.0, seed=1)
    assert torch.equal(objective.batch(rows, seed=1).labels, plain.labels)


def test_what_does_not_fit_is_refused(trained: Path, treebank: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="a parser is selected by"):
        train(treebank, tmp_path / "a", training__select="bleu")
    with pytest.raises(UsageError, match="cannot be trained with"):
        tongsa.train(treebank / "train.trees", task="parsing", out=tmp_path / "b", init=trained)
    with pytest.raises(UsageError, match="a service has one parser"):
        application("serve")(["serve", str(trained), str(trained)], standalone_mode=False)
    tags = trained / "tags.json"
    before = tags.read_bytes()
    try:
        tags.write_text('{"dog": "VB"}')
        with pytest.raises(DirectoryError, match="checksum"):
            Parser.load(trained)
    finally:
        tags.write_bytes(before)


def test_the_papers_parser_is_a_recipe() -> None:
    recipe = load_recipe("paper-parsing", {})
    model, decoding = recipe.model, recipe.decoding
    assert isinstance(model, TransformerSection)
    assert model.architecture == "transformer"
    assert (model.encoder_layers, model.decoder_layers, model.d_model) == (4, 4, 1024)
    assert (decoding.beam, decoding.length_penalty, decoding.max_extra, decoding.max_ratio) == (21, 0.3, 300, 1.0)
    assert (recipe.corpus.linearisation, recipe.corpus.tags, model.norm) == ("brackets", False, "post")


def test_unknown_words_get_a_likely_tag_and_stay_one_word() -> None:
    assert [guessed_tag(word) for word in ("1984", "Seoul", "blick")] == ["CD", "NNP", "NN"]
    assert readable(["a\u00a0b", "▁x", "\u200b"]).count(" ") == 2
    assert Tree("TOP").words() == []
