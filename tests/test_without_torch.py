"""The light install: everything but training works where torch is not installed."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import tongsa
from small_translators import SMALL, random_model, random_translator, sentences, small_subwords
from tongsa.base.errors import DirectoryError
from tongsa.cli.main import COMMANDS, GROUPS
from tongsa.config import Recipe, TransformerSection
from tongsa.engines import weights as without_torch
from tongsa.models import embeddings
from tongsa.models.weights import named_weights
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.runs.weights import read_safetensors

ROOT = Path(tongsa.__file__).parent

MAY_IMPORT_TORCH = {
    "base/devices.py",  # inside functions, where there may be a GPU
    "cli/doctor.py",  # inside a function that reports that it is missing
    "engines/loading.py",  # inside the function that makes the native engine
    "engines/native.py",
    "data/batches.py",
    "data/labelled.py",
    "data/masking.py",
    "data/streams.py",
    "evaluation/comet.py",
    "runs/loggers.py",
}
"""Files outside of the rooms below that import torch at all."""
ROOMS_WITH_TORCH = {"models", "decoding", "tasks", "training", "lab"}


def importing_torch() -> Iterator[str]:
    """The files that import torch when they are run; what only a type checker reads does not count."""
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for_types = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        names = {
            name
            for node in ast.walk(tree)
            if id(node) not in for_types
            for name in (
                [each.name for each in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        if any(name.partition(".")[0] == "torch" or name == "safetensors.torch" for name in names):
            yield path.relative_to(ROOT).as_posix()


def test_torch_is_imported_where_models_are_trained_and_nowhere_else() -> None:
    found = {path for path in importing_torch() if path.partition("/")[0] not in ROOMS_WITH_TORCH}
    assert found == MAY_IMPORT_TORCH


def test_torch_is_no_dependency_of_the_package() -> None:
    project = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not [each for each in project["dependencies"] if each.startswith("torch")]
    assert [each for each in project["optional-dependencies"]["train"] if each.startswith("torch")]


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which torch cannot be imported, by sub-processes neither, and with empty caches."""
    folder = tmp_path_factory.mktemp("light")
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['torch'] = None\n")
    path = os.pathsep.join([str(folder), *(each for each in sys.path if each)])
    cache = {"XDG_CACHE_HOME": str(folder / "cache"), "TONGSA_CACHE": str(folder / "cache")}
    return {**os.environ, **cache, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_translator(tmp_path_factory.mktemp("translators") / "random")


def run(light: dict[str, str], *command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-W", "error", *command]
    return subprocess.run(program, input=stdin, capture_output=True, text=True, env=light)


def succeeds(light: dict[str, str], *command: str, stdin: str = "") -> str:
    done = run(light, *command, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout


COMMAND_LINES = """
import contextlib, io, json, sys
from tongsa.cli.main import application

for line in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            application(line[0])(line, prog_name="tongsa")
        except SystemExit as end:
            assert end.code in (0, None), (line, end.code)
    print(line[0])
assert sys.modules["torch"] is None
"""


def test_commands_that_do_not_train_work_without_torch(light: dict[str, str], directory: Path, tmp_path: Path) -> None:
    """In one process, from an empty cache: the engine is compiled here."""
    pairs = sentences(20)
    for side, language in enumerate(("ko", "en")):
        (tmp_path / f"text.{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    (tmp_path / "page.md").write_text(f"# {pairs[0][0]}\n", encoding="utf-8")
    model, text = str(directory), str(tmp_path / "text")
    lines = [
        ["translate", model, pairs[0][0]],
        ["translate", model, "--input", f"{text}.ko", "--output", f"{text}.out"],
        ["document", model, str(tmp_path / "page.md"), "-o", str(tmp_path / "page.en.md")],
        ["evaluate", model, text],
        ["score", model, text],
        ["doctor"],
        ["corpus", "report", text, "--from", "ko", "--to", "en"],
        ["corpus", "dedupe", text, "--from", "ko", "--to", "en", "--out", str(tmp_path / "fewer")],
        ["corpus", "sample", text, "--from", "ko", "--to", "en", "--count", "2", "--out", str(tmp_path / "few")],
        ["export", model, str(tmp_path / "ctranslate2"), "--format", "ctranslate2"],
        ["export", model, str(tmp_path / "marian"), "--format", "marian"],
        ["import", str(tmp_path / "marian"), "--to", str(tmp_path / "imported")],
        ["translate", str(tmp_path / "imported"), pairs[0][0]],
    ]
    done = succeeds(light, "-c", COMMAND_LINES, json.dumps(lines))
    assert done.split() == [line[0] for line in lines]
    assert len((tmp_path / "text.out").read_text(encoding="utf-8").split("\n")) == 21
    assert (tmp_path / "page.en.md").read_text(encoding="utf-8").startswith("# ")


HELP = """
import sys
from tongsa.cli.main import application
for name in sys.argv[1:]:
    try:
        application(name)([name, "--help"], prog_name="tongsa")
    except SystemExit as end:
        assert end.code in (0, None), name
"""


def test_every_command_has_help_without_torch(light: dict[str, str]) -> None:
    assert "Usage" in succeeds(light, "-c", HELP, *COMMANDS, *GROUPS)


SERVICE = """
import sys
from pathlib import Path
from starlette.testclient import TestClient
from tongsa.server.app import application
from tongsa.server.http.limits import parse
from tongsa.server.work.service import Service
from tongsa.server.work.translators import Translators
from tongsa.translation.translator import Translator

service = Service(translators=Translators([Path(sys.argv[1])], Translator.load), limits=parse(""), workers=1)
with TestClient(application(service, background=False)) as client:
    answer = client.post("/translate", json={"q": sys.argv[2], "source": "ko", "target": "en"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["translatedText"]
    answer = client.post("/api/attention", json={"q": sys.argv[2], "source": "ko", "target": "en"})
    print(answer.status_code, answer.text)
assert sys.modules["torch"] is None
"""


def test_the_service_answers_without_torch(light: dict[str, str], directory: Path) -> None:
    said = succeeds(light, "-W", "default", "-c", SERVICE, str(directory), sentences(1)[0][0])
    assert "needs torch" in said


REFUSED = """
import contextlib, io, json, sys
from tongsa.cli.main import main

said = []
for line in json.loads(sys.argv[1]):
    sys.argv = ["tongsa", *line]
    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as end:
            assert end.code == 2, (line, end.code, err.getvalue())
    said.append(err.getvalue())
print(json.dumps(said))
"""


def test_commands_that_need_torch_say_how_to_install_it(light: dict[str, str], directory: Path, tmp_path: Path) -> None:
    """In one process."""
    for side, language in enumerate(("ko", "en")):
        (tmp_path / f"text.{language}").write_text(
            "".join(f"{pair[side]}\n" for pair in sentences(5)), encoding="utf-8"
        )
    text, model, out = str(tmp_path / "text"), str(directory), str(tmp_path / "out")
    lines = [
        ["train", text, "--from", "ko", "--to", "en", "--out", out],
        ["resume", model],
        ["demo", "--out", out],
        ["inspect", model, "나는"],
        ["translate", model, "나는", "--engine", "native"],
        ["translate", model, "나는", "--device", "cuda"],
        ["lab", "compare", text, "--from", "ko", "--to", "en", "--models", "lstm", "--out", out],
        ["translate", of_another_architecture(directory, tmp_path), "나는"],
    ]
    found = json.loads(succeeds(light, "-c", REFUSED, json.dumps(lines)))
    *others, architecture = found
    for line, said in zip(lines, others, strict=False):
        install = "needs torch, which is not installed\n  Install it with:  pip install 'tongsa[train]'\n"
        assert said.startswith("error: "), line
        assert install in said, line
    assert architecture.startswith("error: the architecture rnn needs torch")


def of_another_architecture(directory: Path, tmp_path: Path) -> str:
    card = Run(directory).read_card()
    text = card.to_json().replace('"architecture": "transformer"', '"architecture": "rnn"')
    assert text != card.to_json()
    (tmp_path / "translator.json").write_text(text, encoding="utf-8")
    return str(tmp_path)


PYTHON = """
import sys, tongsa
from tongsa.base.errors import MissingExtraError
for name in sys.argv[1:]:
    try:
        getattr(tongsa, name)
    except MissingExtraError as error:
        print(error)
"""


def test_python_says_what_needs_torch(light: dict[str, str]) -> None:
    names = ("train", "resume", "LanguageModel", "QuestionAnswerer")
    said = succeeds(light, "-c", PYTHON, *names)
    assert all(f"tongsa.{name} needs torch" in said for name in names)


SECTIONS = {
    "the paper's": {},
    "pre-norm": {"norm": "pre"},
    "learned positions": {"positions": "learned", "max_positions": 64},
    "unequal depths": {"encoder_layers": 3, "decoder_layers": 1},
    "untied": {"tied": False},
    "own widths": {"heads": 2, "d_k": 24, "d_v": 20},
    "with a bias": {"output_bias": True},
}


@pytest.mark.parametrize("joint", [True, False], ids=["joint", "separate"])
@pytest.mark.parametrize("name", SECTIONS)
def test_shapes_are_those_of_the_model(name: str, joint: bool) -> None:
    config, subwords = dataclasses.replace(SMALL, **SECTIONS[name]), small_subwords(joint=joint)
    expected = {name: tuple(each.shape) for name, each in random_model(config, subwords).named_parameters()}
    assert without_torch.shapes(config, subwords) == expected


@pytest.mark.parametrize("d_model", [32, 96, 512, 768])
def test_sinusoids_are_those_of_the_model(d_model: int) -> None:
    ours, models = without_torch.sinusoids(512, d_model), embeddings.sinusoids(512, d_model).numpy()
    assert np.abs(ours - models).max() <= 2e-8, "at most the last bit"


def test_weights_of_other_precisions_are_read_as_torch_reads_them(tmp_path: Path) -> None:
    tensors = {"whole": torch.randn(3, 4), "half": torch.randn(5).half(), "brain": torch.randn(2, 3, 4).bfloat16()}
    save_file(tensors, tmp_path / "weights.safetensors")
    arrays = read_safetensors(tmp_path / "weights.safetensors")
    assert set(arrays) == set(tensors)
    for name, tensor in load_file(tmp_path / "weights.safetensors").items():
        assert arrays[name].dtype == np.float32
        assert np.array_equal(arrays[name], tensor.float().numpy())


def test_whole_numbers_are_no_weights(tmp_path: Path) -> None:
    save_file({"a": torch.arange(3)}, tmp_path / "weights.safetensors")
    with pytest.raises(DirectoryError, match=r"not floating-point numbers\n  a has the type I64"):
        read_safetensors(tmp_path / "weights.safetensors")


def test_a_translator_is_written_with_the_same_bytes_as_by_torch(tmp_path: Path) -> None:
    from safetensors.torch import save

    config = TransformerSection(d_model=8, d_ff=8, heads=2, encoder_layers=1, decoder_layers=1)
    weights = named_weights(random_model(config, small_subwords()))
    weights["encoder.0.feed_forward.linear_1.weight"] = weights["encoder.0.feed_forward.linear_1.weight"].T
    Run(tmp_path).write_translator(Card(source="ko", target="en", recipe=Recipe(model=config)), weights)
    expected = save({name: tensor.contiguous() for name, tensor in weights.items()})
    assert Run(tmp_path).weights_file.read_bytes() == expected
