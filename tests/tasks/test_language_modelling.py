"""Plain text to a language model, by the one trainer."""

from __future__ import annotations

import gzip
import json
import math
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import forked
import tongsa
from tongsa import LanguageModel
from tongsa.base.errors import CorpusError, DirectoryError, RecipeError, UsageError
from tongsa.base.progress import Silent
from tongsa.data.batches import Position
from tongsa.data.streams import PieceOrder, PreparedText, cut
from tongsa.decoding.search import Sampling
from tongsa.models.contracts import NO_MEMORY
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.runs.log import read_log
from tongsa.tasks.language_model import log_loss
from tongsa.tasks.language_modelling import LanguageModelling
from tongsa.text.subwords import END, VocabularySizeError
from tongsa.training.checkpoint import latest

NAMES = ["ara", "bom", "cha", "dal", "eun", "gil", "hae", "iru"]


def sentences(count: int, seed: int) -> str:
    """The last word of a sentence is its first once more: four words back, beyond what a trigram sees."""
    draw = random.Random(seed)
    middle = ["goes", "runs"], ["far", "near"], ["says", "thinks"]
    lines = []
    for _ in range(count):
        name = draw.choice(NAMES)
        lines.append(" ".join([name, *(draw.choice(words) for words in middle), name]))
    return "\n".join(lines) + "\n"


SMALL = {
    "corpus.max_tokens": "16",
    "subwords.kind": "word",
    "subwords.size": "40",
    "subwords.byte_fallback": "false",
    "model.d_model": "32",
    "model.d_ff": "64",
    "model.heads": "2",
    "model.layers": "2",
    "model.dropout": "0",
    "training.batch_tokens": "256",
    "training.chunk_tokens": "128",
    "training.warmup": "20",
    "training.peak": "0.004",
    "training.validate_every": "20",
    "training.updates": "20",
    "training.processes": "1",
}
NOT_OF_MEMORY = ("model.d_ff", "model.heads", "model.layers")
MEMORY = {
    **{key: value for key, value in SMALL.items() if key not in NOT_OF_MEMORY},
    "model.architecture": "memory-language-model",
    "model.hops": "3",
    "model.memories": "10",
    "training.peak": "0.02",
}
LSTM = {
    **{key: value for key, value in SMALL.items() if key not in NOT_OF_MEMORY},
    "model.architecture": "recurrent-language-model",
    "model.layers": "1",
    "model.hidden": "48",
    "training.peak": "0.02",
}
RECIPES = {"memory-language-model": "memory-language-model", "recurrent-language-model": "lstm-language-model"}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_text(sentences(300, 1), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[LanguageModel, Run]:
    """A model of such a text, and its directory; neither is to be changed."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "train.txt").write_text(sentences(300, 1), encoding="utf-8")
    return train(folder / "train.txt", folder / "lm"), Run(folder / "lm")


def train(text: Path, out: Path, settings: dict[str, str] | None = None, **options: Any) -> LanguageModel:
    chosen = settings or SMALL
    recipe = RECIPES.get(chosen.get("model.architecture", ""), "auto")
    model = tongsa.train(text, task="lm", out=out, recipe=recipe, settings=chosen, threads=1, device="cpu", **options)
    assert isinstance(model, LanguageModel)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("settings", [SMALL, MEMORY, LSTM], ids=["decoder-only", "memory-language-model", "lstm"])
def test_it_learns_what_lies_further_back_than_a_trigram_sees(
    text: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    text.write_text(sentences(700, 1), encoding="utf-8")
    (tmp_path / "valid.txt").write_text(sentences(100, 2), encoding="utf-8")
    model = train(text, tmp_path / "lm", {**settings, "training.updates": "400"}, valid=tmp_path / "valid.txt")
    # A name and three choices of two in six words: nothing can be below (8 * 2 * 2 * 2)^(1/6) = 2.0,
    # and who does not know the name again at the end is not below (8 * 2 * 2 * 2 * 8)^(1/6) = 2.83.
    scores = model.card.scores
    assert 1.95 < scores["perplexity"].score < 2.3
    assert scores["perplexity"].score == pytest.approx(scores["word_perplexity"].score), "words are tokens here"
    assert model.generate("gil runs far says")[0].text == "gil"
    drawn = model.generate("gil", samples=20, sampling=Sampling(seed=1))
    ends = [f"gil {written.text}".split()[-1] for written in drawn]
    assert ends.count("gil") >= 8, "a name is drawn again at the end"
    assert len({written.text for written in drawn}) > 3


def test_a_training_leaves_scores_a_log_and_a_report(trained: tuple[LanguageModel, Run]) -> None:
    _, run = trained
    card = run.read_card()
    assert (card.task, card.source, card.target, card.training.examples) == ("lm", "", "", 294)
    assert {"log_loss", "perplexity", "word_perplexity"} == set(card.scores)
    assert card.scores["perplexity"].score == pytest.approx(math.exp(card.scores["log_loss"].score))
    assert [event["update"] for event in run.events("validation")] == [20]
    page = run.report_file.read_text(encoding="utf-8")
    assert "Language model" in page
    assert "continued in the text" in page
    assert {"prompt", "continuation", "text"} == set(json.loads(run.examples_file.read_text().splitlines()[0]))


def test_compressed_text_in_several_files_is_one_text(
    trained: tuple[LanguageModel, Run], text: Path, tmp_path: Path
) -> None:
    lines = text.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "a.txt").write_text("".join(lines[:100]) + "\n  \n", encoding="utf-8")
    with gzip.open(tmp_path / "b.txt.gz", "wt", encoding="utf-8") as file:
        file.write("".join(lines[100:]))
    whole, _ = trained
    options = {"task": "lm", "settings": SMALL, "threads": 1, "device": "cpu"}
    parts = tongsa.train([tmp_path / "a.txt", tmp_path / "b.txt.gz"], out=tmp_path / "parts", **options)  # type: ignore[arg-type]
    assert all(map(torch.equal, whole.decoder.parameters(), parts.decoder.parameters()))


def test_the_last_lines_are_held_out_where_no_validation_text_is_given(text: Path, tmp_path: Path) -> None:
    model = train(text, tmp_path / "lm", {**SMALL, "corpus.held_out": "7", "training.updates": "1"})
    data = PreparedText.open(tmp_path / "lm")
    assert (data.train.counts.lines, data.valid.counts.lines, data.valid.counts.words) == (293, 7, 42)
    last = text.read_text(encoding="utf-8").splitlines()[-7:]
    assert data.valid.ids.tolist() == [id for line in last for id in (*model.vocabulary.encode(line), END)]
    assert not list((tmp_path / "lm" / "data").glob("*.tmp"))


def test_validations_take_little_of_a_budget_in_minutes(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tongsa.training.loop.SHARE", 0.0)
    settings = {**SMALL, "training.updates": "4", "training.validate_every": "0"}
    model = train(text, tmp_path / "lm", settings, minutes=60)
    events = [event["event"] for event in read_log(Run(tmp_path / "lm").log_file)]
    assert events.count("validation") <= 1, "only the end is validated, where that takes less than a second"
    assert events.count("checkpoint") == 4, "checkpoints do not wait for validations"
    assert model.card.scores["perplexity"].score > 1


def test_two_workers_train_the_same_model_as_one(text: Path, tmp_path: Path) -> None:
    one = train(text, tmp_path / "one", {**SMALL, "training.updates": "4"})
    two = train(text, tmp_path / "two", {**SMALL, "training.updates": "4", "training.processes": "2"})
    for mine, theirs in zip(one.decoder.parameters(), two.decoder.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-4)
    assert one.card.scores["perplexity"].score == pytest.approx(two.card.scores["perplexity"].score, rel=1e-4)


@pytest.mark.slow
def test_a_training_that_is_killed_resumes_to_identical_weights(text: Path, tmp_path: Path) -> None:
    settings = {**SMALL, "model.dropout": "0.1", "training.checkpoint_every": "1", "training.validate_every": "10"}
    whole, killed = Run(tmp_path / "whole"), Run(tmp_path / "killed")
    train(text, whole.path, settings)
    command = ["train", str(text), "--task=lm", f"--out={killed.path}", "--threads=1", "--device=cpu"]
    given = [f"--set={key}={value}" for key, value in settings.items()]
    process = forked.start(*command, *given, stderr=tmp_path / "said")
    while not any(event["update"] >= 6 for event in (killed.events("update") if killed.log_file.is_file() else [])):
        assert process.exitcode is None, "it has ended too early"
        time.sleep(0.01)
    process.kill()
    process.join()
    stopped = latest(killed.checkpoints)
    assert stopped is not None
    assert 5 <= stopped.update < 20
    tongsa.resume(killed.path)
    left, right = latest(whole.checkpoints), latest(killed.checkpoints)
    assert left is not None
    assert right is not None
    for mine, theirs in ((left.weights(), right.weights()), (left.moments(), right.moments())):
        assert mine.keys() == theirs.keys()
        assert [name for name in mine if not torch.equal(mine[name], theirs[name])] == []
    assert whole.weights_file.read_bytes() == killed.weights_file.read_bytes()


def test_scores_are_the_probabilities_of_the_contract(trained: tuple[LanguageModel, Run]) -> None:
    model, _ = trained
    (score,) = model.score(["ara  goes far says ara"])
    ids = [*model.vocabulary.encode("ara goes far says ara"), END]
    read = torch.tensor([[model.vocabulary.pad, *ids[:-1]]])
    log_p = torch.log_softmax(model.decoder.project(model.decoder.features(NO_MEMORY, read))[0].detach(), dim=-1)
    assert score.log_probability == pytest.approx(float(log_p[range(6), ids].sum()), abs=1e-4)
    assert (score.tokens, score.words) == (6, 6)


@pytest.mark.parametrize("settings", [SMALL, MEMORY], ids=["decoder-only", "memory-language-model"])
def test_every_token_of_a_stream_counts_once(text: Path, tmp_path: Path, settings: dict[str, str]) -> None:
    model = train(text, tmp_path / "lm", {**settings, "training.updates": "1"})
    ids = PreparedText.open(tmp_path / "lm").valid.ids
    for length in (1, 7, 8, 9, 16, 17, 33, len(ids)):
        part = np.asarray(ids[:length])
        assert model.log_loss(part)[1] == length
        shares = [
            log_loss(model.decoder, part, model.vocabulary.pad, 16, model.card.recipe.model.context, share=(rank, 3))
            for rank in range(3)
        ]
        assert sum(count for _, count in shares) == length
        assert sum(total for total, _ in shares) == pytest.approx(model.log_loss(part)[0], rel=1e-5)


def test_a_memory_model_scores_a_stream_as_if_word_by_word(text: Path, tmp_path: Path) -> None:
    """Its pieces come with the words before them, so where they are cut changes nothing."""
    model = train(text, tmp_path / "lm", {**MEMORY, "training.updates": "1"})
    ids = np.asarray(PreparedText.open(tmp_path / "lm").valid.ids[:40])
    pad = model.vocabulary.pad
    totals = [log_loss(model.decoder, ids, pad, piece, 9)[0] for piece in (1, 7, 16, 40)]
    assert totals == pytest.approx([totals[0]] * 4, rel=1e-5)


def test_pieces_are_the_tokens_after_what_the_decoder_reads() -> None:
    ids = np.arange(1, 11, dtype=np.uint32)
    plain = cut(ids, np.array([0, 8]), length=4, context=0, pad=99)
    assert plain.memory is None
    assert plain.labels.tolist() == [[1, 2, 3, 4], [9, 10, 99, 99]]
    assert plain.target.tolist() == [[99, 1, 2, 3], [99, 9, 10, 99]]
    with_context = cut(ids, np.array([0, 4]), length=4, context=2, pad=99)
    assert with_context.memory is not None
    assert with_context.memory.tolist() == [[99, 99], [2, 3]]
    assert with_context.target.tolist() == [[99, 1, 2, 3], [4, 5, 6, 7]]
    assert with_context.labels.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_an_epoch_covers_the_stream_behind_its_first_cut_and_the_cuts_differ() -> None:
    order = PieceOrder(tokens=103, piece=10, batch_tokens=40, chunk_tokens=20, seed=1)
    firsts = set()
    for epoch in range(5):
        starts = sorted(int(start) for update in order.epoch(epoch) for chunk in update for start in chunk)
        assert starts == list(range(starts[0], 103, 10))
        assert starts[0] < 10
        firsts.add(starts[0])
    assert len(firsts) > 1
    steps = order.updates(Position(0, 0))
    before = [next(steps) for _ in range(7)]
    position, _ = before[3]
    resumed = order.updates(position)
    assert [[c.tolist() for c in chunks] for _, chunks in before[4:]] == [
        [c.tolist() for c in next(resumed)[1]] for _ in range(3)
    ]
    assert sorted(order.share([np.array([0])] * 5, 0, 2) + order.share([np.array([0])] * 5, 1, 2)) == list(range(5))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"model.architecture": "lstm"}, "lstm is not a language model: model.architecture can be decoder-only"),
        ({"training.select": "bleu"}, "selected by log_loss"),
        ({"subwords.kind": "bpe", "subwords.sampling": "0.1"}, "sampling"),
        ({"model.positions": "learned", "model.max_positions": "8"}, "max_positions 8 must be at least"),
    ],
)
def test_recipes_that_cannot_train_a_language_model_are_refused(
    text: Path, tmp_path: Path, settings: dict[str, str], told: str
) -> None:
    small = {key: value for key, value in SMALL.items() if "model.architecture" not in settings or "model" not in key}
    with pytest.raises(RecipeError, match=told):
        train(text, tmp_path / "lm", {**small, **settings})
    assert not (tmp_path / "lm").exists()


def test_text_that_is_missing_or_too_little_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be read"):
        train(tmp_path / "no.txt", tmp_path / "lm")
    (tmp_path / "empty.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(CorpusError, match="there is no text"):
        train(tmp_path / "empty.txt", tmp_path / "lm")
    (tmp_path / "one.txt").write_text("one line\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="too few"):
        train(tmp_path / "one.txt", tmp_path / "lm")
    with pytest.raises(UsageError, match="--init"):
        train(tmp_path / "one.txt", tmp_path / "lm", init=tmp_path)


def test_a_directory_of_another_task_is_no_language_model(tmp_path: Path) -> None:
    card = {"format": 2, "task": "qa", "source": "", "target": "", "recipe": {}, "training": {}, "scores": {}}
    (tmp_path / "translator.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(DirectoryError, match="trained for qa"):
        LanguageModel.load(tmp_path)


def test_a_small_text_gets_the_vocabulary_that_it_bears_unless_one_was_asked_for(text: Path, tmp_path: Path) -> None:
    def prepare(name: str, settings: dict[str, str]) -> int:
        options = TrainOptions(corpora=(str(text),), task="lm", settings=settings, threads=1, device="cpu")
        return LanguageModelling().prepare(Run(tmp_path / name), options, Silent()).subwords.size

    size = prepare("small", {})
    assert size == PreparedText.open(tmp_path / "small").vocabulary.pad
    with pytest.raises(VocabularySizeError, match="too small for a vocabulary of 9,000"):
        prepare("asked", {"subwords.size": "9000"})
