"""Pages that commands write as files, on a phone and on a desk: nothing serious that axe-core knows of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.server.page.service import Faults

from tongsa.base.progress import Silent
from tongsa.formats.trees import parse_brackets
from tongsa.lab.answering import as_page, measured
from tongsa.lab.question import Lab
from tongsa.lab.questions import QUESTIONS
from tongsa.lab.walk_through.exercises import exercises
from tongsa.lab.walk_through.page import draw_walk
from tongsa.lab.walk_through.steps import walk_through
from tongsa.lab.walk_through.worksheet import draw_worksheet
from tongsa.pages.translation import write_translation_report
from tongsa.pages.trees import DrawnTree, tree_page
from tongsa.runs.directory import Run
from tongsa.translation.translator import Translator

NAMES = ("report", "lab", "walk-through", "worksheet", "trees")
TREE = "(TOP (S (NP (DT The) (JJ old) (NN dog)) (VP (VBZ barks) (PP (IN at) (NP (DT the) (JJ new) (NN moon)))) (. .)))"


@pytest.fixture(scope="module")
def pages(trained_translator: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    translator = Translator.load(trained_translator, engine="native", threads=1)
    walk = walk_through(translator, "나는 책을 읽는다.")
    question = QUESTIONS["word-order"]
    values = measured(question, Lab(folder=folder, show=Silent(), seeds=2))
    written = {
        "lab": as_page([question], [values], "ko"),
        "walk-through": draw_walk(walk, "en"),
        "worksheet": draw_worksheet(walk, exercises(translator, walk), "en"),
        "trees": tree_page([DrawnTree(tree) for tree in parse_brackets(TREE)]),
    }
    files = {name: folder / f"{name}.html" for name in written}
    for name, file in files.items():
        file.write_text(written[name], encoding="utf-8")
    return {**files, "report": write_translation_report(Run(trained_translator), translator)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")], ids=["phone", "desk"])
def test_axe_finds_no_serious_fault_in_files(
    tab: Any, pages: Mapping[str, Path], faults: Faults, name: str, width: int, scheme: str
) -> None:
    tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    tab.set_viewport_size({"width": width, "height": 844})
    tab.goto(pages[name].as_uri())
    assert faults(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width, "only tables and pictures scroll sideways"
