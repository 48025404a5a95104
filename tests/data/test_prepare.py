"""From corpora to ids."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.base.errors import CorpusError
from tongsa.base.progress import Bar, Silent
from tongsa.config import CorpusSection, Recipe
from tongsa.config.presets import load_recipe
from tongsa.data.prepare import Prepared, PrepareSettings, prepare_pairs
from tongsa.data.selection import Split, reservoir
from tongsa.data.spill import FEWEST, Survey, spilled
from tongsa.formats.pairs import Corpus, Pair, Place, Reading, open_corpus
from tongsa.text.subwords import Subwords

READING = Reading(source="en", target="de")


class Told(Silent):
    """Remembers what was said and how far bars went."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.advanced: Counter[str] = Counter()

    def say(self, text: str) -> None:
        self.said.append(text)

    def bar(self, title: str, total: float | None, unit: str, done: float = 0.0) -> AbstractContextManager[Bar]:
        from contextlib import nullcontext

        told = self

        class Counting:
            def advance(self, amount: float, note: str = "") -> None:
                told.advanced[title] += int(amount)

        return nullcontext(Counting())


def sentences(count: int, seed: int = 1) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    words = ["".join(draw.choices("abdeiklmnorstu", k=draw.randint(2, 6))) for _ in range(120)]
    lines = [" ".join(draw.choices(words, k=draw.randint(3, 12))) for _ in range(count)]
    return [(f"{line} {number}", line[::-1]) for number, line in enumerate(lines)]


def written(folder: Path, pairs: list[tuple[str, str]], name: str = "train") -> Corpus:
    for side, language in enumerate(("en", "de")):
        (folder / f"{name}.{language}").write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    return open_corpus([folder / name], READING)


def recipe(**settings: str) -> Recipe:
    return load_recipe(
        "tiny", {"subwords.size": "400", **{name.replace("__", "."): text for name, text in settings.items()}}
    )


def prepared(
    out: Path, train: Corpus, valid: Corpus | None = None, *, using: Recipe | None = None, seed: int = 1
) -> tuple[Prepared, Told]:
    told = Told()
    using = using or recipe()
    with spilled(train, using.corpus, seed=seed, folder=out / "data", show=told) as text:
        return prepare_pairs(text, valid, PrepareSettings(directory=out, recipe=using, threads=1, show=told)), told


def surveyed(corpus: Corpus, folder: Path, told: Told) -> Survey:
    with spilled(corpus, CorpusSection(), seed=1, folder=folder / "spill", show=told) as text:
        return text.survey


def texts(data: Prepared) -> set[str]:
    return {data.subwords.source.decode(data.train.source[row].tolist()) for row in range(len(data.train))}


@pytest.mark.parametrize("count", [FEWEST, 50, 130, 1000])
def test_a_part_is_held_out_exactly_and_shares_no_sentence_with_training(tmp_path: Path, count: int) -> None:
    """By chance alone a small corpus would often end up with nothing to validate on."""
    pairs = sentences(count + 1)
    for seed in range(4):
        data, told = prepared(tmp_path / str(seed), written(tmp_path, pairs), seed=seed)
        held_out = {source for source, _ in data.valid_text}
        assert len(held_out) == max(1, len(pairs) // 50)
        assert not held_out & texts(data)
        assert held_out | texts(data) == {source for source, _ in pairs}
        assert any(f"holding out {len(held_out):,} source sentences" in line for line in told.said)


def test_other_seeds_hold_out_other_sentences_and_the_same_seed_the_same(tmp_path: Path) -> None:
    train = written(tmp_path, sentences(1000))
    found = [
        set(prepared(tmp_path / name, train, seed=seed)[0].valid_text) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert found[0] == found[1] != found[2]


def test_repeated_sources_stay_on_one_side(tmp_path: Path) -> None:
    pairs = [(source, f"{target} {way}") for source, target in sentences(100) for way in "abc"]
    data, _ = prepared(tmp_path / "out", written(tmp_path, pairs))
    assert len(data.valid_text) == 3 * (300 // 50)
    assert not {source for source, _ in data.valid_text} & texts(data)


def test_a_given_validation_corpus_is_taken_whole_and_nothing_is_held_out(tmp_path: Path) -> None:
    valid = sentences(30, seed=9)
    data, told = prepared(tmp_path / "out", written(tmp_path, sentences(200)), written(tmp_path, valid, "valid"))
    assert (len(data.train), data.valid_text) == (200, valid)
    assert not any("holding out" in line for line in told.said)
    assert told.said[-1] == "validating on 30 pairs"


def test_the_seed_prepares_nothing_anew_where_nothing_is_held_out(tmp_path: Path) -> None:
    train, valid = written(tmp_path, sentences(200)), written(tmp_path, sentences(30, seed=9), "valid")
    prepared(tmp_path / "out", train, valid, seed=1)
    _, told = prepared(tmp_path / "out", train, valid, seed=2)
    assert any("reusing the ids of 200 pairs" in line for line in told.said)


def test_validation_texts_and_ids_stay_in_step_whatever_the_lines_hold(tmp_path: Path) -> None:
    """Lines of nothing but invisible characters once were texts without ids."""
    odd = [("\u200b", "x"), ("x", "\x00"), ("", "x"), ("a very long line " * 200, "kurz"), ("a\u2028b", "c\td")]
    valid = [*sentences(30, seed=9), *odd]
    data, _ = prepared(tmp_path / "out", written(tmp_path, sentences(200)), written(tmp_path, valid, "valid"))
    assert len(data.valid) == len(data.valid_text) == 32
    assert [data.subwords.target.decode(data.valid.target[i].tolist()) for i in (30, 31)] == ["kurz", "c d"]


def test_what_was_done_before_is_not_done_again(tmp_path: Path) -> None:
    train, out = written(tmp_path, sentences(200)), tmp_path / "out"
    _, first = prepared(out, train)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.suffix in (".ids", ".model")}
    _, second = prepared(out, train)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(before) == 5
    assert any(line.startswith("learning 400 subwords") for line in first.said)
    assert not any(line.startswith("learning") for line in second.said)
    assert any("reusing the ids of 196 pairs" in line for line in second.said)


@pytest.mark.parametrize(
    "changes",
    [{"subwords__size": "390"}, {"corpus__max_tokens": "20"}, {"subwords__joint": "false"}, {"corpus__held_out": "9"}],
)
def test_other_settings_are_prepared_anew_in_the_same_place(tmp_path: Path, changes: dict[str, str]) -> None:
    train = written(tmp_path, sentences(200))
    prepared(tmp_path / "out", train)
    again, _ = prepared(tmp_path / "out", train, using=recipe(**changes))
    fresh, _ = prepared(tmp_path / "fresh", train, using=recipe(**changes))
    assert again.subwords.source.model == fresh.subwords.source.model
    assert again.subwords.joint == fresh.subwords.joint
    assert again.train.target.ids.tolist() == fresh.train.target.ids.tolist()
    assert again.valid_text == fresh.valid_text


def test_other_text_is_prepared_anew(tmp_path: Path) -> None:
    prepared(tmp_path / "out", written(tmp_path, sentences(200)))
    data, _ = prepared(tmp_path / "out", written(tmp_path, sentences(200, seed=5)))
    assert texts(data) <= {source for source, _ in sentences(200, seed=5)}


@pytest.mark.parametrize("damage", ["", "{", "[]"])
def test_damaged_or_missing_leftovers_are_made_again(tmp_path: Path, damage: str) -> None:
    train, out = written(tmp_path, sentences(200)), tmp_path / "out"
    whole, _ = prepared(out, train)
    (out / "data" / "subwords.json").write_text(damage)
    (out / "data" / "train" / "about.json").write_text(damage)
    assert prepared(out, train)[0].train.source.ids.tolist() == whole.train.source.ids.tolist()
    (out / "subwords.model").write_bytes(b"")
    assert prepared(out, train)[0].subwords.source.model == whole.subwords.source.model


def test_a_kill_between_subwords_and_their_stamp_does_not_mix_two_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, out = written(tmp_path, sentences(200)), tmp_path / "out"
    prepared(out, train)

    def killed(self: Subwords, directory: Path) -> None:
        save(self, directory)
        raise KeyboardInterrupt

    save = Subwords.save
    with monkeypatch.context() as patch:
        patch.setattr(Subwords, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            prepared(out, train, using=recipe(subwords__size="380"))
    assert len(prepared(out, train)[0].subwords.source) == 401


def test_too_few_pairs_are_told_every_time(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"train has 19 pairs .*: too few to learn from"):
        prepared(tmp_path / "out", written(tmp_path, [*sentences(19), ("", ""), ("\u200b", "x")]))
    assert not (tmp_path / "out").exists()
    train = written(tmp_path, [(f"{source} " * 60, target) for source, target in sentences(40)])
    for _ in range(2):
        with pytest.raises(CorpusError, match=r"only 0 pairs are left to train on(.*\n)+.*left out 39 longer than 256"):
            prepared(tmp_path / "out", train)


def test_more_held_out_than_there_is_to_hold_out_is_told(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"held_out is 60, but .* has only 100 pairs"):
        prepared(tmp_path / "out", written(tmp_path, sentences(100)), using=recipe(corpus__held_out="60"))


def test_a_validation_corpus_without_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="valid has no pairs to validate on"):
        prepared(tmp_path / "out", written(tmp_path, sentences(50)), written(tmp_path, [("", "")], "valid"))


def test_lines_of_a_hundred_thousand_characters_are_left_out_and_told(tmp_path: Path) -> None:
    pairs = [*sentences(100), ("x" * 100_000, "kurz"), ("short", "y " * 50_000)]
    data, told = prepared(tmp_path / "out", written(tmp_path, pairs))
    assert len(data.train) + len(data.valid) == 100
    assert any("left out 2 with a line of absurd length" in line and "line 101" in line for line in told.said)


def test_the_survey_counts_all_lines_it_reads_and_sees_every_change_of_text(tmp_path: Path) -> None:
    told = Told()
    pairs = [("", "")] * 5000 + sentences(5000)
    found = surveyed(written(tmp_path, pairs), tmp_path, told)
    assert (found.pairs, told.advanced["reading"]) == (5000, 10_000)
    assert found.characters == sum(len(source) + len(target) for source, target in pairs)
    pairs[-1] = (pairs[-1][0], pairs[-1][1] + "!")
    assert surveyed(written(tmp_path, pairs), tmp_path, told).digest != found.digest


def test_separate_vocabularies_learn_a_language_each(tmp_path: Path) -> None:
    pairs = [(source, target.upper()) for source, target in sentences(300)]
    data, _ = prepared(
        tmp_path / "out", written(tmp_path, pairs), using=recipe(subwords__joint="false", subwords__size="350")
    )
    assert not data.subwords.joint
    assert "a" in "".join(data.subwords.source.all_pieces()[258:-1])
    assert "a" not in "".join(data.subwords.target.all_pieces()[258:-1])


def test_deduplication_keeps_each_pair_once(tmp_path: Path) -> None:
    train = written(tmp_path, sentences(100) * 3)
    data, told = prepared(
        tmp_path / "out", train, written(tmp_path, sentences(20), "valid"), using=recipe(corpus__deduplicate="true")
    )
    assert len(data.train) == 100
    assert any("left out 200 seen before" in line for line in told.said)


def test_the_validation_file_is_one_json_pair_a_line(tmp_path: Path) -> None:
    data, _ = prepared(tmp_path / "out", written(tmp_path, sentences(200)))
    lines = (tmp_path / "out" / "data" / "valid.jsonl").read_text(encoding="utf-8").splitlines()
    assert [tuple(json.loads(line)) for line in lines] == data.valid_text


def numbered(count: int) -> list[Pair]:
    return [Pair(str(number), "", Place(Path("a"), number)) for number in range(count)]


@given(st.integers(0, 60), st.integers(1, 30), st.integers(0, 9))
def test_a_reservoir_is_a_sample_in_order(count: int, size: int, seed: int) -> None:
    sample = reservoir(numbered(count), size, seed)
    assert len(sample) == min(count, size)
    assert sample == sorted(set(sample), key=lambda pair: int(pair.source))
    assert sample == reservoir(numbered(count), size, seed)


def test_a_reservoir_is_fair() -> None:
    drawn = Counter(int(pair.source) for seed in range(3000) for pair in reservoir(numbered(20), 5, seed))
    assert all(abs(drawn[number] - 750) < 120 for number in range(20))


@given(st.integers(1, 400), st.integers(1, 3000), st.integers(0, 3))
def test_a_split_holds_out_exactly_what_it_is_asked_to(count: int, pairs: int, seed: int) -> None:
    split = Split.holding_out(count, numbered(pairs), seed)
    assert sum(split.holds_out(pair) for pair in numbered(pairs)) == min(count, pairs)
