"""Records of races: written, read with suspicion, ranked, and compared with a second run."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tongsa.base.errors import CorpusError, RecipeError, UsageError
from tongsa.config.presets import load_recipe
from tongsa.lab.speedrun import machine
from tongsa.lab.speedrun.machine import Machine, probe_seconds, processor_name
from tongsa.lab.speedrun.races import RACES
from tongsa.lab.speedrun.records import RECORD, Point, Record, find_record, read_records
from tongsa.lab.speedrun.table import ranked, records_page
from tongsa.lab.speedrun.verifying import compare_records
from tongsa.runs.card import Score

MULTI30K = RACES["multi30k"]

HERE = Machine(
    processor="A CPU",
    cores=4,
    used=2,
    instructions="AVX2",
    device="cpu",
    torch="2.13",
    python="3.11",
    tongsa="0.2.0",
    commit="",
    probe=0.5,
)


def made(scores: list[float], *, minute: float = 1.0, **changes: Any) -> Record:
    """A record with these scores at updates 100, 200, ..."""
    log = tuple(
        Point(
            seconds=60 * minute * i,
            updates=100 * i,
            target_tokens=1000 * i,
            bleu=bleu,
            sentences=1014,
            weights="the last checkpoint",
        )
        for i, bleu in enumerate(scores, 1)
    )
    record = Record(
        race="multi30k",
        recipe_name="multi30k",
        recipe=load_recipe("multi30k", {}).to_toml(),
        seed=1,
        minutes=None,
        parameters=2_600_000,
        targets=(35.0, 38.0, 40.0),
        log=log,
        tests={"test_2016_flickr": {"bleu": Score(38.5, "case:mixed"), "lowercased_bleu": Score(39.0, "case:lc")}},
        search="beam 4, length penalty 0.6",
        engine="ctranslate2",
        preparing=5.0,
        starting=3.0,
        scoring=60.0,
        digests=MULTI30K.digests,
        machine=HERE,
        date="2026-01-31",
    )
    return dataclasses.replace(record, **changes)


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Record]:
    record = made([10, 35.2, 38])
    record.write(tmp_path)
    return tmp_path, record


def test_text_that_is_not_the_published_one_is_told() -> None:
    record = made([10], digests={**MULTI30K.digests, "valid": "0" * 16})
    assert MULTI30K.other_text(record.digests) == ["valid"]
    assert not MULTI30K.other_text(MULTI30K.digests)
    assert any("not run on the published text" in note for note in records_page(MULTI30K, {"mine": record}).notes)


def test_a_target_that_is_reached_later_is_not_confirmed() -> None:
    recorded = made([10, 20, 36, 37], targets=(35.0, 38.0))
    assert compare_records(recorded, made([10, 36, 20, 20])).confirmed
    later = made([10, 20, 30, 36])
    assert not compare_records(recorded, later).confirmed
    by_minutes = dataclasses.replace(recorded, minutes=5.0)  # its checkpoints were at other updates
    assert compare_records(by_minutes, later).confirmed
    never = compare_records(by_minutes, made([10, 20, 30, 34]))
    assert not never.confirmed
    assert "BLEU 35: recorded at update 300, never reached now" in never.lines()


def test_records_are_ranked_by_the_highest_target_then_by_time() -> None:
    records = {
        "slow to 38": made([10, 35, 38], minute=4),
        "quick to 38": made([10, 20, 38], minute=2),
        "quick to 35": made([36, 36, 36], minute=1),
        "none": made([1, 2, 3]),
        "better than none": made([1, 2, 4]),
    }
    assert [name for name, _ in ranked(records, (35.0, 38.0, 40.0))] == [
        "quick to 38", "slow to 38", "quick to 35", "better than none", "none",
    ]  # fmt: skip


def test_the_table_tells_minutes_and_what_does_not_depend_on_the_machine() -> None:
    mine = made([10, 35.2, 38], minute=2)
    page = records_page(MULTI30K, {"runs/a b": mine})
    times, measures, scores, commands = page.parts
    assert times.rows[0][1:4] == ["4.0", "6.0", "–"]
    assert measures.rows[0][1:4] == ["200, 2,000, 960", "300, 3,000, 1,440", "–"]
    assert commands.rows == [["runs/a b", "tongsa speedrun multi30k FOLDER --verify 'runs/a b' --out runs/again"]]
    head = list(scores.head)
    published = {row[0]: row for row in scores.rows}
    place = head.index("test_2016_flickr")
    assert published["runs/a b"][place] == "38.50 / 39.00"
    assert published["Transformer-Tiny"][place] == "– / 41.02"
    assert "reported" in published["synthetic and authentic images"][-1]
    assert any("Revisit-MMT" in note for note in page.notes)
    assert "41.02" in page.text()
    assert "| – / 41.02 |" in page.markdown()
    assert "<svg" in page.html()


def test_a_table_without_records_tells_how_to_make_one() -> None:
    page = records_page(MULTI30K, {})
    for drawn in (page.text(), page.markdown(), page.html()):
        assert "no records yet. To make one:  tongsa speedrun multi30k FOLDER" in drawn
        assert "41.02" in drawn


def test_records_are_found_in_folders_and_by_file(saved: tuple[Path, Record]) -> None:
    out, record = saved
    for named in (out, out.parent, out / RECORD):
        assert read_records([str(named)])[str(out)] == record
    assert find_record(str(out)) == out / RECORD
    (out / "empty").mkdir()
    with pytest.raises(UsageError, match=r"has no record\.json"):
        read_records([str(out / "empty")])
    with pytest.raises(UsageError, match="there is no record nowhere"):
        find_record("nowhere")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": 2}, "its format is 2"),
        ({"log": []}, "its log is empty"),
        ({"log": [{"seconds": 1}]}, "it has no 'updates'"),
        ({"seed": "one"}, "its seed is 'one'"),
        ({"targets": [-1]}, "-1 is not a number"),
        ({"tests": 5}, "is not a record of a race"),
        ({"machine": None}, "is not a record of a race"),
    ],
)
def test_a_damaged_record_is_told_in_one_line(saved: tuple[Path, Record], change: dict[str, Any], told: str) -> None:
    folder, record = saved
    path = folder / RECORD
    path.write_text(json.dumps({**json.loads(record.to_json()), **change}), encoding="utf-8")
    with pytest.raises(CorpusError) as error:
        Record.read(path)
    assert told in str(error.value)


def test_a_recipe_of_another_version_is_refused() -> None:
    with pytest.raises(RecipeError, match="cannot be used"):
        made([10], recipe="[model]\nwings = 2\n").parsed_recipe()
    with pytest.raises(CorpusError, match="not TOML"):
        made([10], recipe="[model").parsed_recipe()


def test_the_probe_is_the_median_of_its_updates_and_leaves_the_random_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "UPDATES", 3)
    monkeypatch.setattr(machine, "_probe_update", lambda: lambda: None)
    monkeypatch.setattr(machine, "WARM_UP", 1)
    times = iter([0.0, 90.0, 100.0, 105.0, 110.0, 111.0, 120.0, 123.0])
    before = torch.get_rng_state()
    assert probe_seconds(lambda: next(times)) == 3.0
    assert torch.equal(torch.get_rng_state(), before)


def test_the_processor_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: A  CPU @ 2 GHz\n", encoding="utf-8")
    assert processor_name(tmp_path / "cpuinfo") == "A CPU @ 2 GHz"
    assert processor_name(tmp_path / "nothing")


def test_all_shipped_records_can_be_read_and_are_of_a_known_race() -> None:
    for name, record in read_records([]).items():
        assert record.race in RACES, name
        record.parsed_recipe()


def test_a_gpu_is_not_measured_in_probes_of_the_cpu() -> None:
    record = made([36], machine=dataclasses.replace(HERE, device="A GPU"))
    assert record.probes(record.last) is None
    assert records_page(MULTI30K, {"gpu": record}).parts[1].rows[0][1] == "100, 1,000, –"


def test_a_target_is_reached_at_the_first_checkpoint_that_has_it() -> None:
    record = made([34.99, 35.0, 34.0, 38.0])
    assert record.reached(35.0) == record.log[1]
    assert record.reached(40.0) is None
    assert json.loads(record.to_json())["reached"] == {
        "35": {"minutes": 2.0, "updates": 200, "target_tokens": 2000, "probes": 480.0, "bleu": 35.0},
        "38": {"minutes": 4.0, "updates": 400, "target_tokens": 4000, "probes": 960.0, "bleu": 38.0},
        "40": None,
    }


def test_a_score_of_zero_is_a_score() -> None:
    record = made([0.0], tests={"test_2016_flickr": {"bleu": Score(0.0), "lowercased_bleu": Score(0.0)}})
    assert records_page(MULTI30K, {"bad": record}).parts[2].rows[0][1:3] == ["0.00", "0.00 / 0.00"]
