"""Commands answer at once: torch, which takes a second or two to import, is imported only where it is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from small_translators import learnt_translator, random_translator, sentences
from tongsa.base import devices
from tongsa.translation.translator import Translator

HEAVY = "sorted({name.partition('.')[0] for name in sys.modules} & {'torch', 'transformers', 'safetensors'})"


def imported(script: str, *arguments: str) -> str:
    """What a fresh process has imported of the heavy packages after this script."""
    run = [sys.executable, "-W", "error", "-c", f"import sys\n{script}\nprint({HEAVY})", *arguments]
    done = subprocess.run(run, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


TRANSLATE = """
from tongsa import Translator
translator = Translator.load(sys.argv[1], engine=sys.argv[2])
found = translator.translate([sys.argv[3], "", "more"])
assert len(found) == 3 and found[0].text
translator.score([sys.argv[3]], [found[0].text])
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = learnt_translator(tmp_path_factory.mktemp("translators") / "learnt")
    Translator.load(path, engine="ctranslate2")  # compiles it: see test_without_torch.py
    return path


@pytest.mark.parametrize("engine", ["auto", "ctranslate2"])
def test_a_compiled_engine_translates_and_scores_without_torch_and_numpy(directory: Path, engine: str) -> None:
    script = TRANSLATE + "assert 'numpy' not in sys.modules, sorted(sys.modules)"
    assert imported(script, str(directory), engine, sentences(1)[0][0]) == "[]"


COMMANDS = f"""
import json
from tongsa.cli.main import application

for line in json.loads(sys.argv[1]):
    try:
        application(line[0])(line, prog_name="tongsa")
    except SystemExit as end:
        assert end.code in (0, None), (line, end.code)
    assert not {HEAVY}, (line, {HEAVY})
"""


def test_commands_translate_and_evaluate_without_torch(directory: Path, tmp_path: Path) -> None:
    """One after the other in one process: what one of them imports is told with its name."""
    translate, text = ("translate", str(directory)), sentences(1)[0][0]
    (tmp_path / "in").write_text("".join(ko + "\n" for ko, _ in sentences(5)), encoding="utf-8")
    (tmp_path / "page.md").write_text(f"# {text}\n", encoding="utf-8")
    (tmp_path / "test.tsv").write_text("".join(f"{ko}\t{en}\n" for ko, en in sentences(5)), encoding="utf-8")
    lines = [
        (*translate, text),
        (*translate, text, "--threads", "1"),
        (*translate, text, "--beam", "2", "--nbest", "2"),
        (*translate, text, "--device", "cpu"),
        (*translate, "--input", str(tmp_path / "in"), "--output", str(tmp_path / "out")),
        (*translate, "--document", str(tmp_path / "page.md")),
        ("evaluate", str(directory), str(tmp_path / "test.tsv")),
    ]
    assert imported(COMMANDS, json.dumps(lines)) == "[]"
    assert len((tmp_path / "out").read_text(encoding="utf-8").splitlines()) == 5


def test_the_native_engine_does_not_import_the_compiler_of_torch(directory: Path) -> None:
    """It takes another second."""
    script = TRANSLATE + "assert 'torch' in sys.modules and 'torch._dynamo' not in sys.modules"
    assert "torch" in imported(script, str(directory), "native", sentences(1)[0][0])


def test_an_engine_is_compiled_once_and_then_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONGSA_CACHE", str(tmp_path / "cache"))
    directory = random_translator(tmp_path / "random")
    for expected in ("['torch']", "[]"):  # CTranslate2's converters import torch where it is installed
        assert imported(TRANSLATE, str(directory), "ctranslate2", sentences(1)[0][0]) == expected
        assert len(list((tmp_path / "cache" / "engines").iterdir())) == 1


def test_torch_is_asked_where_a_driver_of_a_gpu_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(devices, "DRIVERS", (str(tmp_path / "driver"),))
    assert not devices.may_have_gpu()
    (tmp_path / "driver").touch()
    assert devices.may_have_gpu()
    assert devices.device_name("auto") in ("cpu", "cuda")
