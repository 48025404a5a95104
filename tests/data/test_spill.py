"""The one pass over the text: read once, the same for every later pass, gone afterwards."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.watching import Call, Watcher, watching
from tongsa.base.errors import CorpusError, WriteError
from tongsa.base.progress import Silent
from tongsa.config import CorpusSection
from tongsa.config.presets import load_recipe
from tongsa.data import spill
from tongsa.data.prepare import PrepareSettings, prepare_pairs
from tongsa.data.selection import Split, clean, mask, usual_filters
from tongsa.data.spill import spilled
from tongsa.formats.pairs import Pair, Place, Reading, Tally, open_corpus
from tongsa.text.lines import tidy


class Listed:
    """Pairs in memory, which count how often they are read."""

    name = "listed"

    def __init__(self, texts: list[tuple[str, str]]) -> None:
        files = [Path("a.tsv"), Path("b.po")]
        self.pairs = [
            Pair(*both, Place(files[number % 7 // 4], number if number % 2 else f"unit\t{number}"))
            for number, both in enumerate(texts, 1)
        ]
        self.passes = 0

    def __iter__(self) -> Iterator[Pair]:
        self.passes += 1
        yield from self.pairs


def numbered(count: int) -> list[tuple[str, str]]:
    return [(f"the {number} words of line {number * 7919 % 1000}", f"die {number} Worte") for number in range(count)]


TEXTS = st.lists(
    st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(["%s a", "b"])] * 2),
    max_size=40,
)


@given(TEXTS, st.integers(0, 2**64), st.booleans(), st.booleans())
def test_later_passes_see_what_a_pass_over_the_files_would(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[str, str]],
    threshold: int,
    deduplicate: bool,
    masked: bool,
) -> None:
    corpus = Listed(numbered(30) + texts)
    section = CorpusSection(deduplicate=deduplicate, mask=masked, max_tokens=1)
    split = Split(3, threshold)
    with spilled(corpus, section, seed=3, folder=tmp_path_factory.mktemp("data"), show=Silent()) as text:
        for held_out, read in ((False, text.pairs), (True, text.held_out)):
            expected, counted = Tally(), Tally()
            mine = [pair for pair in corpus.pairs if split.holds_out(pair) == held_out]
            kept = [mask(pair) if masked else pair for pair in clean(mine, usual_filters(section), expected)]
            wanted = kept if held_out else [Pair(tidy(p.source), tidy(p.target), p.where) for p in kept]
            assert list(read(split, counted)) == wanted
            assert counted == expected
            if not held_out:
                assert list(text.texts(split)) == [pair[:2] for pair in wanted]


def test_as_many_are_held_out_as_asked_for_where_placeholders_are_masked(tmp_path: Path) -> None:
    corpus = Listed([(f"open %s of {number}", f"öffne %s von {number}") for number in range(200)])
    with spilled(corpus, CorpusSection(mask=True), seed=1, folder=tmp_path / "data", show=Silent()) as text:
        split = text.hold_out(9)
        kept, held_out = list(text.pairs(split, Tally())), list(text.held_out(split, Tally()))
    assert (len(kept), len(held_out)) == (191, 9)


def test_about_half_of_the_placeholders_are_masked() -> None:
    pairs = [Pair(f"open %s of {number}", f"öffne %s von {number}", Place(Path("a"), number)) for number in range(400)]
    masked = [mask(pair) for pair in pairs]
    assert 160 <= sum("{1}" in pair.source for pair in masked) <= 240
    assert all(("{1}" in pair.source) == ("{1}" in pair.target) for pair in masked)
    assert masked == [mask(pair) for pair in pairs]


@pytest.mark.parametrize("text", ["it is 5 km away", "AT&amp;T is here", "10% of it", "a b c"])
def test_text_that_a_model_translates_is_never_masked(text: str) -> None:
    pairs = [Pair(f"{text} {number}", f"{text} {number}", Place(Path("a"), number)) for number in range(20)]
    assert [mask(pair) for pair in pairs] == pairs


def test_files_are_read_once_whatever_is_made_of_them(tmp_path: Path) -> None:
    corpus = Listed(numbered(400))
    recipe = load_recipe("tiny", {"subwords.size": "290", "subwords.joint": "false"})
    with spilled(corpus, recipe.corpus, seed=1, folder=tmp_path / "data", show=Silent()) as text:
        prepare_pairs(text, None, PrepareSettings(directory=tmp_path, recipe=recipe, threads=1))
    assert corpus.passes == 1


@pytest.mark.parametrize("block", [1, 7, 4096])
def test_the_size_of_a_block_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(spill, "BLOCK", block)
    with spilled(Listed(numbered(50)), CorpusSection(), seed=1, folder=tmp_path / "data", show=Silent()) as text:
        split = text.hold_out(9)
        found = [list(text.pairs(split, Tally())), list(text.held_out(split, Tally()))]
        assert list(map(len, found)) == [41, 9]


def test_nothing_of_it_is_left_behind(tmp_path: Path) -> None:
    folder = tmp_path / "run" / "data"
    with spilled(Listed(numbered(50)), CorpusSection(), seed=1, folder=folder, show=Silent()):
        assert {path.name for path in (folder / spill.FOLDER).iterdir()} == {"pairs", "digests"}
    assert not (tmp_path / "run").exists()
    with spilled(Listed(numbered(50)), CorpusSection(), seed=1, folder=folder, show=Silent()):
        (folder / "kept").touch()
    assert [path.name for path in folder.iterdir()] == ["kept"]


def test_what_a_kill_left_behind_is_replaced(tmp_path: Path) -> None:
    left = tmp_path / spill.FOLDER
    left.mkdir()
    (left / "pairs").write_text("half a li")
    with spilled(Listed(numbered(50)), CorpusSection(), seed=1, folder=tmp_path, show=Silent()) as text:
        assert len(list(text.texts(Split(1)))) == 50
    assert not left.exists()


def test_a_corpus_that_cannot_be_read_leaves_no_folder(tmp_path: Path) -> None:
    class Damaged(Listed):
        def __iter__(self) -> Iterator[Pair]:
            yield from self.pairs
            raise CorpusError("damaged")

    with (
        pytest.raises(CorpusError, match="damaged"),
        spilled(Damaged(numbered(50)), CorpusSection(), seed=1, folder=tmp_path / "run" / "data", show=Silent()),
    ):
        pass
    assert not (tmp_path / "run").exists()


def test_a_disk_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file where the directory should be")
    with (
        pytest.raises(WriteError, match=r"run/data/.* cannot be written"),
        spilled(Listed(numbered(50)), CorpusSection(), seed=1, folder=tmp_path / "run" / "data", show=Silent()),
    ):
        pass
    assert (tmp_path / "run").is_file()


def test_texts_that_tidying_changes_are_kept_as_they_were_only_for_validation(tmp_path: Path) -> None:
    odd = [(f"caf\u0065\u0301  {number}", f"\t\u2028{number}\n") for number in range(30)]
    with spilled(Listed(odd), CorpusSection(), seed=1, folder=tmp_path, show=Silent()) as text:
        assert set(text.texts(Split(1))) == {(f"caf\u00e9 {number}", str(number)) for number in range(30)}
        assert [pair[:2] for pair in text.held_out(Split(1, 1 << 64), Tally())] == odd
        lines = (tmp_path / spill.FOLDER / "pairs").read_text(encoding="utf-8").split("\n")
        assert json.loads(lines[0].split("\t")[3]) == list(odd[0])
    assert Counter(len(line.split("\t")) for line in lines) == {4: 30, 1: 1}


PROGRAM = """
import sys
from pathlib import Path

from tongsa.base.progress import Silent
from tongsa.config.presets import load_recipe
from tongsa.data.prepare import PrepareSettings, prepare_pairs
from tongsa.data.spill import spilled
from tongsa.formats.pairs import Reading, open_corpus


class Loud(Silent):
    def say(self, text):
        print(text, flush=True)
        sys.stdin.readline()


out, recipe = Path(sys.argv[2]), load_recipe("tiny", {"subwords.size": "290"})
corpus = open_corpus([sys.argv[1]], Reading(source="en", target="de"))
with spilled(corpus, recipe.corpus, seed=1, folder=out / "data", show=Loud()) as text:
    Loud().say("read")
    prepare_pairs(text, None, PrepareSettings(directory=out, recipe=recipe, threads=1, show=Loud()))
"""


def prepared(path: Path, out: Path) -> dict[Path, bytes]:
    """Do in this process what the program does, and return the files that it leaves."""
    recipe = load_recipe("tiny", {"subwords.size": "290"})
    corpus = open_corpus([path], Reading(source="en", target="de"))
    with spilled(corpus, recipe.corpus, seed=1, folder=out / "data", show=Silent()) as text:
        prepare_pairs(text, None, PrepareSettings(directory=out, recipe=recipe, threads=1, show=Silent()))
    return {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[Path, bytes]]:
    """A corpus, and what is prepared from it where nothing disturbs."""
    folder = tmp_path_factory.mktemp("corpus")
    path = folder / "train.tsv"
    path.write_text("".join(f"{s}\t{t}\n" for s, t in [*numbered(400), ("", "x")]), encoding="utf-8")
    return path, prepared(path, folder / "whole")


@pytest.mark.parametrize("said", ["read", "holding out", "learning", "left out", "validating"])
def test_after_a_kill_the_same_command_goes_on(
    written: tuple[Path, dict[Path, bytes]], tmp_path: Path, said: str
) -> None:
    path, whole = written
    command = [sys.executable, "-c", PROGRAM, path, tmp_path / "killed"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(said):
                process.kill()
                break
            process.stdin.write("\n")
            process.stdin.flush()
    assert process.returncode == -9
    assert (tmp_path / "killed" / "data" / spill.FOLDER).exists()
    assert prepared(path, tmp_path / "killed") == whole
    assert len(whole) > 8


def full_disk(call: Call) -> None:
    if call.kind == "write":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_told_with_the_folder_and_what_to_do(tmp_path: Path) -> None:
    with (
        watching(tmp_path, Watcher(before=full_disk)),
        pytest.raises(WriteError, match=r"text\.tmp cannot be written: No space left on device") as caught,
        spilled(Listed(numbered(50)), CorpusSection(), seed=1, folder=tmp_path / "data", show=Silent()),
    ):
        pass
    assert "free some space" in str(caught.value)
    assert not (tmp_path / "data").exists()
