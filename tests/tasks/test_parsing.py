"""A parser is trained, resumed, loaded and used like every other model."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tongsa
from tongsa.base.errors import DirectoryError, RecipeError, UsageError
from tongsa.cli.main import application
from tongsa.formats.trees import Tree, parse_brackets
from tongsa.runs.directory import Run
from tongsa.tasks.parser import Parser, guessed_tag, readable

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
    ("linearisation", "architecture"), [("brackets", "transformer-next-word"), ("in-order", "lstm-attention")]
)
def test_other_linearisations_and_models_are_trained_alike(
    treebank: Path, tmp_path: Path, linearisation: str, architecture: str
) -> None:
    changes = {"corpus__linearisation": linearisation, "training__updates": "2"}
    if architecture == "lstm-attention":
        recipe = tmp_path / "lstm.toml"
        recipe.write_text(
            '[corpus]\nmax_ratio = 0\n[model]\narchitecture = "lstm-attention"\nd_model = 16\n'
            '[subwords]\nsize = 120\n[training]\nschedule = "cosine"\n'
        )
        settings = {name: value for name, value in SETTINGS.items() if not name.startswith(("model.", "subwords."))}
        parser = tongsa.train(
            treebank / "train.trees",
            task="parsing",
            recipe=str(recipe),
            out=tmp_path / "run",
            settings={**settings, "training.updates": "2"},
            threads=1,
            device="cpu",
        )
    else:
        parser = train(treebank, tmp_path / "run", **changes)
    words = ["the", "cat", "finds", "a", "house", "."]
    assert parser.parse([words])[0].tree.words() == words


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


def test_what_does_not_fit_is_refused(trained: Path, treebank: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="a parser is selected by"):
        train(treebank, tmp_path / "a", training__select="bleu")
    with pytest.raises(UsageError, match="cannot be trained with"):
        tongsa.train(treebank / "train.trees", task="parsing", out=tmp_path / "b", init=trained)
    tags = trained / "tags.json"
    before = tags.read_bytes()
    try:
        tags.write_text('{"dog": "VB"}')
        with pytest.raises(DirectoryError, match="checksum"):
            Parser.load(trained)
    finally:
        tags.write_bytes(before)


def test_unknown_words_get_a_likely_tag_and_stay_one_word() -> None:
    assert [guessed_tag(word) for word in ("1984", "Seoul", "blick")] == ["CD", "NNP", "NN"]
    assert readable(["a\u00a0b", "▁x", "\u200b"]).count(" ") == 2
    assert Tree("TOP").words() == []
