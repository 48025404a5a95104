"""`tongsa speedrun`"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from cli.conftest import Tongsa
from tongsa.demo import grammar
from tongsa.lab.speedrun import machine

SMALL = """preset = "tiny"
subwords = { size = 700 }
model = { encoder_layers = 1, decoder_layers = 1, d_model = 16, d_ff = 16, heads = 2 }
training = { batch_tokens = 300, processes = 1, validate_every = 4, validation_pairs = 4, average = 1 }
decoding = { max_extra = 3 }
"""
PAGE = Path(__file__).parents[2] / "docs" / "speedrun.md"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sentences of the built-in grammar in the files of Multi30k."""
    monkeypatch.chdir(tmp_path)
    for name in ("WARM_UP", "UPDATES", "SENTENCES"):
        monkeypatch.setattr(machine, name, 0 if name == "WARM_UP" else 1)
    folder = tmp_path / "data" / "multi30k"
    folder.mkdir(parents=True)
    parts = grammar.corpus(300, 6, 6, seed=1)
    for name, pairs in zip(("train", "valid", "test_2016_flickr"), parts, strict=True):
        for side, language in enumerate(("en", "de")):
            (folder / f"{name}.{language}").write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    return tmp_path


def test_the_commands_of_the_page_run_in_their_order(desk: Path, tongsa: Tongsa) -> None:
    shown = [line for line in PAGE.read_text(encoding="utf-8").split("\n") if line.startswith("tongsa speedrun")]
    race, table, again = (shlex.split(line)[1:] for line in shown)
    quick = " ".join(race).replace("--minutes 60", "--updates 8 --recipe small.toml --threads 1 --to 0.0001,99")
    done = tongsa(*quick.split())
    assert done.code == 0, done
    assert re.search(r"99 BLEU: not reached; at the end \S+; test_2016_flickr \S+ \(\S+ lower-cased\)", done.out)
    assert done.out.count("\n") == 1
    assert [point["updates"] for point in json.loads(Path("runs/race/record.json").read_text())["log"]] == [4, 8]

    printed = tongsa(*table).out
    assert "runs/race" in printed
    assert "41.02" in printed
    assert "| runs/race |" in tongsa(*table, "--markdown").out
    assert "<h1>" in (tongsa(*table, "--html", desk / "page.html"), (desk / "page.html").read_text("utf-8"))[1]

    verified = tongsa(*again, "--threads", "1")
    assert verified.code == 0, verified
    assert "2 checkpoints of the same update have the same BLEU" in verified.out
    assert verified.out.endswith("confirmed\n")


def test_without_records_the_table_has_the_published_figures(tongsa: Tongsa) -> None:
    done = tongsa("speedrun", "--records")
    assert done.code == 0
    assert "41.02" in done.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("", "needs its name and the folder"),
        ("multi30k", "needs its name and the folder"),
        ("wmt data/multi30k", "unknown race: wmt"),
        ("multi30k nowhere", "nowhere has no train.en, train.de, valid.en"),
        ("multi30k data/multi30k --to high", "--to must be numbers"),
        ("multi30k data/multi30k --to 0", "--to must be BLEU above 0"),
        ("multi30k data/multi30k --minutes 0", "--minutes must be above 0"),
        ("multi30k data/multi30k --minutes 1 --updates 1", "one budget"),
        ("multi30k data/multi30k --markdown", "need --records"),
        ("multi30k data/multi30k --recipe nothing", "unknown recipe: nothing"),
        ("multi30k data/multi30k --verify nothing", "there is no record nothing"),
        ("multi30k data/multi30k --verify small.toml", "small.toml is not a record of a race"),
        ("multi30k data/multi30k --verify small.toml --seed 3", "from the record"),
        ("--records nothing", "there is no record nothing"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_trained(
    arguments: str, told: str, desk: Path, tongsa: Tongsa
) -> None:
    assert told in " ".join(tongsa.refuses("speedrun", *arguments.split()).split())
    assert not (desk / "runs" / "speedrun" / "training" / "checkpoints").exists()
