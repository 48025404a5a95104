"""A directory from a stranger, damaged in every way we could think of, gives one clear error or a working model.

Each file of the golden translator is truncated, emptied, filled with noise, replaced by a link or a pipe; each value of
its card gets the wrong type or an absurd size. The checks must come before anything large is allocated or computed.
"""

from __future__ import annotations

import copy
import json
import math
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save, save_file

from tongsa.base.errors import DirectoryError, TongsaError
from tongsa.runs.directory import Run
from tongsa.translation.translator import Translator

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "translator-1"
LOADED = ("translator.json", "subwords.model", "weights.safetensors")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A copy of what is loaded, with a card of the present format, and so with checksums."""
    for name in LOADED:
        shutil.copyfile(GOLDEN / name, tmp_path / name)
    run = Run(tmp_path)
    run.write_translator(run.read_card(), load_file(run.weights_file))
    return tmp_path


def without_checksums(directory: Path) -> None:
    """As an earlier version wrote it, or a stranger who wants no checks."""
    values = json.loads((directory / "translator.json").read_text(encoding="utf-8"))
    del values["checksums"]
    (directory / "translator.json").write_text(json.dumps(values), encoding="utf-8")


def load(directory: Path) -> Translator:
    return Translator.load(directory, engine="native", device="cpu")


def survives(directory: Path) -> bool:
    """Load and translate; anything but a working translator or one of our errors fails the test."""
    try:
        translator = load(directory)
    except TongsaError:
        return False
    (found,) = translator.translate(["나는 학교에 간다."])
    assert math.isfinite(found.score)
    return True


def test_the_copy_is_sound(directory: Path) -> None:
    assert set(Run(directory).read_card().checksums) == {"weights.safetensors", "subwords.model"}
    assert survives(directory)


def damaged(content: bytes, draw: random.Random) -> Iterator[bytes]:
    yield b""
    yield content + b"\0"
    for _ in range(4):
        yield content[: draw.randrange(len(content))]
    yield draw.randbytes(len(content))
    for _ in range(4):
        place = draw.randrange(len(content))
        yield content[:place] + draw.randbytes(8) + content[place + 8 :]
    for place in [*range(9), *(draw.randrange(len(content)) for _ in range(6))]:
        yield content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]


@pytest.mark.parametrize("name", ["subwords.model", "weights.safetensors"])
def test_every_change_of_a_file_with_a_checksum_is_found(directory: Path, name: str) -> None:
    content = (directory / name).read_bytes()
    for number, other in enumerate(damaged(content, random.Random(1))):
        assert other != content
        (directory / name).write_bytes(other)
        with pytest.raises(DirectoryError, match=name):
            load(directory)
        assert number < 40


@pytest.mark.parametrize("name", LOADED)
def test_without_checksums_damage_is_an_error_or_does_no_harm(directory: Path, name: str) -> None:
    without_checksums(directory)
    content = (directory / name).read_bytes()
    for other in damaged(content, random.Random(2)):
        (directory / name).write_bytes(other)
        survives(directory)


def places(values: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values in a JSON object, also of the objects themselves."""
    if path:
        yield path
    if isinstance(values, dict):
        for key, value in values.items():
            yield from places(value, (*path, key))
    elif isinstance(values, list) and values:
        yield from places(values[0], (*path, 0))


WRONG: list[Any] = [None, True, -1, 0, 10**9, 10**400, 1e308, "x", "", "\x1b[2J", [], [[]], {}, {"a": None}, [1, 2, 3]]


def test_no_value_of_a_card_can_break_it(directory: Path) -> None:
    """Every value, missing, or of each wrong type, or absurd."""
    good = json.loads((directory / "translator.json").read_text(encoding="utf-8"))
    run = Run(directory)
    tried = 0
    for path in places(good):
        for wrong in [..., *WRONG]:
            values = copy.deepcopy(good)
            parent = values
            for step in path[:-1]:
                parent = parent[step]
            if wrong is ...:
                del parent[path[-1]]
            else:
                parent[path[-1]] = wrong
            run.card_file.write_text(json.dumps(values), encoding="utf-8")
            tried += 1
            with suppress(DirectoryError):
                run.read_card()
    assert tried > 1000


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model.encoder_layers", 10**9),
        ("model.decoder_layers", 10**9),
        ("model.d_model", 10**9),
        ("model.d_ff", 10**12),
        ("model.heads", 10**9),
        ("model.max_positions", 10**12),
        ("decoding.beam", 10**6),
        ("decoding.max_extra", 10**9),
        ("decoding.max_ratio", 1e9),
        ("decoding.batch_tokens", 10**12),
        ("corpus.max_tokens", 10**12),
        ("training.batch_tokens", 10**12),
        ("subwords.size", 10**12),
    ],
)
def test_absurd_sizes_are_refused_with_their_limit(directory: Path, key: str, value: float) -> None:
    values = json.loads((directory / "translator.json").read_text(encoding="utf-8"))
    section, _, name = key.partition(".")
    values["recipe"][section][name] = value
    (directory / "translator.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(DirectoryError, match=rf"{key} is .*; it must be at most [\d,.]+"):
        Run(directory).read_card()


def test_a_size_within_the_limits_must_be_that_of_the_weights(directory: Path) -> None:
    """Built without memory, and compared with the header before any weight is read."""
    values = json.loads((directory / "translator.json").read_text(encoding="utf-8"))
    values["recipe"]["model"] |= {"d_model": 65_536, "d_ff": 1_000_000, "encoder_layers": 30}
    (directory / "translator.json").write_text(json.dumps(values), encoding="utf-8")
    for engine in ("native", "ctranslate2"):
        with pytest.raises(DirectoryError, match="does not fit the card and the vocabulary"):
            Translator.load(directory, engine=engine, device="cpu")


@pytest.mark.parametrize("text", ["../../etc/x", "a/b", ".hidden", "a\nb", "\x1b[2J", "x" * 65, "a b"])
def test_a_language_is_a_code_that_can_be_part_of_a_file_name(directory: Path, text: str) -> None:
    values = json.loads((directory / "translator.json").read_text(encoding="utf-8"))
    (directory / "translator.json").write_text(json.dumps({**values, "target": text}), encoding="utf-8")
    with pytest.raises(DirectoryError, match="target is not a language code"):
        Run(directory).read_card()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e30])
@pytest.mark.parametrize("engine", ["native", "ctranslate2"])
def test_weights_that_are_not_finite_are_refused(directory: Path, engine: str, number: float) -> None:
    without_checksums(directory)
    weights = load_file(directory / "weights.safetensors")
    weights["decoder.0.feed_forward.linear_1.bias"][0] = number
    save_file(weights, directory / "weights.safetensors")
    with pytest.raises(DirectoryError, match=r"not finite.*for example in decoder\.0\.feed_forward\.linear_1\.bias"):
        Translator.load(directory, engine=engine, device="cpu")


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("engine", ["native", "ctranslate2"])
def test_weights_that_are_no_fractions_are_refused(directory: Path, engine: str, kind: type) -> None:
    without_checksums(directory)
    weights = load_file(directory / "weights.safetensors")
    save_file({name: each.astype(kind) for name, each in weights.items()}, directory / "weights.safetensors")
    with pytest.raises(DirectoryError, match="not floating-point numbers"):
        Translator.load(directory, engine=engine, device="cpu")


def header_of(directory: Path) -> tuple[dict[str, Any], bytes]:
    content = (directory / "weights.safetensors").read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def test_no_header_of_the_weights_can_break_it(directory: Path) -> None:
    without_checksums(directory)
    good, data = header_of(directory)
    first = next(name for name in good if name != "__metadata__")
    wrong: list[Any] = [*WRONG, {**good[first], "data_offsets": [0, 10**12]}]
    wrong += [{**good[first], key: value} for key in ("dtype", "shape", "data_offsets") for value in WRONG]
    for value in wrong:
        header = json.dumps({**good, first: value}).encode()
        (directory / "weights.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data)
        with pytest.raises(DirectoryError, match=r"weights\.safetensors"):
            load(directory)
    for header in (b"", b"[]", b"null", b"[" * 100_000, b"{" * 10, b"\xff\xfe"):
        (directory / "weights.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data)
        with pytest.raises(DirectoryError, match=r"weights\.safetensors"):
            load(directory)


def test_a_huge_sparse_file_is_refused_by_its_size(directory: Path) -> None:
    with (directory / "weights.safetensors").open("r+b") as file:
        file.truncate(1 << 40)
    with (directory / "subwords.model").open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(DirectoryError, match=r"subwords\.model"):
        load(directory)
    shutil.copyfile(GOLDEN / "subwords.model", directory / "subwords.model")
    for engine in ("native", "ctranslate2"):
        with pytest.raises(DirectoryError, match=r"it has 1,099,511,627,776 bytes instead of"):
            Translator.load(directory, engine=engine, device="cpu")


@pytest.mark.parametrize("name", LOADED)
@pytest.mark.parametrize("engine", ["native", "ctranslate2"])
def test_pipes_and_links_out_are_refused(
    directory: Path, tmp_path_factory: pytest.TempPathFactory, name: str, engine: str
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / name
    (directory / name).rename(elsewhere)
    (directory / name).symlink_to(elsewhere)
    with pytest.raises(DirectoryError, match="is a link that leads out of"):
        Translator.load(directory, engine=engine, device="cpu")
    (directory / name).unlink()
    os.mkfifo(directory / name)
    with pytest.raises(DirectoryError, match="is not a regular file"):
        Translator.load(directory, engine=engine, device="cpu")


def test_killed_while_weights_are_replaced_either_file_loads(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(directory)
    card, old = run.read_card(), run.weights_file.read_bytes()
    other = {name: each + np.float32(0.001) for name, each in load_file(run.weights_file).items()}
    import tongsa.runs.directory as module

    write = module.write_atomically
    for writes in (1, 2):
        left = [writes]

        def until_killed(path: Path, content: bytes | str, left: list[int] = left) -> None:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            write(path, content)

        monkeypatch.setattr(module, "write_atomically", until_killed)
        with pytest.raises(KeyboardInterrupt):
            run.write_translator(card, other)
        assert run.weights_file.read_bytes() == (old if writes == 1 else save(other))
        assert survives(directory)
    monkeypatch.setattr(module, "write_atomically", write)
    run.write_translator(card, other)
    assert len(run.read_card().checksums["weights.safetensors"]) == 1
    run.weights_file.write_bytes(old)
    assert not survives(directory)
