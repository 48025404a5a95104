"""`tongsa evaluate --stress`"""

from __future__ import annotations

import json
from pathlib import Path

from cli.conftest import Tongsa
from small_translators import learnt_translator, sentences


def test_stress_prints_what_each_perturbation_does(tongsa: Tongsa, tmp_path: Path) -> None:
    for side, language in enumerate(("ko", "en")):
        lines = "".join(f"{pair[side]}\n" for pair in sentences(3))
        (tmp_path / f"test.{language}").write_text(lines, encoding="utf-8")
    translator = learnt_translator(tmp_path / "ko-en")
    given = ("evaluate", translator, tmp_path / "test", "--stress", "--beam", "1", "--engine", "native")
    found = json.loads(tongsa(*given, "--json").out)
    rows = {row["name"]: row for row in found["rows"]}
    assert len(rows) == 11
    assert rows["unchanged"]["scores"]["chrf"] > 0
    assert rows["spaces"]["changes"] == {"bleu": 0.0, "chrf": 0.0}
    assert set(found["mean_change"]) == {"bleu", "chrf"}
    refused = tongsa(*given, "--save", tmp_path / "saved")
    assert refused.code == 2
    assert "--stress and --save" in refused.err
