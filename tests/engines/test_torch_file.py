"""pytorch_model.bin is read without unpickling: tensors come out, anything else is refused and nothing runs."""

from __future__ import annotations

import collections
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tongsa.base.errors import DirectoryError
from tongsa.engines.marian.torch_file import read_torch_file

LAYOUTS = pytest.mark.parametrize("zipped", [True, False], ids=["zip", "before 1.6"])


def save(path: Path, value: Any, zipped: bool) -> Path:
    torch.save(value, path, _use_new_zipfile_serialization=zipped)
    return path


def state() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.LayerNorm(5))
    found = model.state_dict()  # an OrderedDict with the versions of its modules
    assert hasattr(found, "_metadata")
    table = torch.randn(6, 4)
    found["tied.a"] = table
    found["tied.b"] = table  # one storage
    found["half"] = torch.randn(3).half()
    found["double"] = torch.randn(2, 2).double()
    found["brain"] = torch.randn(5).bfloat16()
    found["transposed"] = table.T
    found["part"] = table[2:4]
    found["parameter"] = torch.nn.Parameter(torch.randn(2))
    found["empty"] = torch.zeros(0, 3)
    found["number"] = torch.tensor(2.5)
    found["ids"] = torch.arange(3)
    return found


@LAYOUTS
def test_the_tensors_are_those_that_torch_saved(tmp_path: Path, zipped: bool) -> None:
    expected = state()
    found = read_torch_file(save(tmp_path / "model.bin", expected, zipped))
    assert found.keys() == expected.keys() - {"ids"}
    for name, array in found.items():
        assert array.dtype == np.float32
        assert np.array_equal(array, expected[name].detach().float().numpy()), name


class Hostile:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("ran",)


@LAYOUTS
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": Hostile()}, "it would call posix mkdir"),
        (Hostile(), "it would call posix mkdir"),
        ({"a": torch.zeros(2), "b": "a text"}, "'b' is not a tensor"),
        ({"a": {"b": torch.zeros(2)}}, "'a' is not a tensor"),
        ({"a": collections.Counter(a=1)}, "it would call collections Counter"),
        ([torch.zeros(2)], "damaged, or not a file of PyTorch"),
    ],
)
def test_anything_but_tensors_is_refused_and_nothing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: Any, told: str, zipped: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    path = save(tmp_path / "model.bin", value, zipped)
    with pytest.raises(DirectoryError, match=told):
        read_torch_file(path)
    assert not (tmp_path / "ran").exists()


@LAYOUTS
def test_a_file_that_is_cut_short_is_told(tmp_path: Path, zipped: bool) -> None:
    content = save(tmp_path / "model.bin", state(), zipped).read_bytes()
    for length in (0, 3, 10, 200, len(content) // 2, len(content) - 1):
        (tmp_path / "cut.bin").write_bytes(content[:length])
        with pytest.raises(DirectoryError, match="cannot be read"):
            read_torch_file(tmp_path / "cut.bin")


def test_a_missing_byte_is_told_even_if_only_the_size_of_an_empty_storage_is_cut(tmp_path: Path) -> None:
    """Storages are written in the order of their addresses, so this one is the last by chance in larger files."""
    content = save(tmp_path / "model.bin", {"empty": torch.zeros(0, 3)}, zipped=False).read_bytes()
    (tmp_path / "cut.bin").write_bytes(content[:-1])
    with pytest.raises(DirectoryError, match="cannot be read"):
        read_torch_file(tmp_path / "cut.bin")


def archive(path: Path, program: bytes, storage: bytes = b"", method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("archive/data.pkl", program)
        file.writestr("archive/data/0", storage)
    return path


def described(shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0, size: int = 4) -> bytes:
    """The description of a dictionary with one tensor, as torch writes it."""

    class Tensor:
        def __reduce__(self) -> tuple[Any, ...]:
            return torch._utils._rebuild_tensor_v2, (Storage(), offset, shape, strides, False, None)  # type: ignore[attr-defined]

    class Storage:
        pass

    class Pickler(pickle.Pickler):
        def persistent_id(self, value: Any) -> Any:
            return ("storage", torch.FloatStorage, "0", "cpu", size) if isinstance(value, Storage) else None

    from io import BytesIO

    out = BytesIO()
    Pickler(out, protocol=2).dump({"a": Tensor()})
    return out.getvalue()


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "size"),
    [
        ((2, 3), (3, 1), 0, 4),  # longer than its storage
        ((4,), (1,), 1, 4),
        ((4,), (-1,), 3, 4),
        ((1 << 40, 1 << 40), (0, 0), 0, 4),  # as large as one likes
        ((2,), (1,), -2, 4),
        ((4,), (1,), 0, 400),  # the storage has fewer numbers
    ],
)
def test_a_tensor_outside_its_storage_is_refused(
    tmp_path: Path, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, size: int
) -> None:
    good = archive(tmp_path / "good.bin", described((2, 2), (2, 1)), np.arange(4, dtype="<f4").tobytes())
    assert read_torch_file(good)["a"].tolist() == [[0, 1], [2, 3]]
    path = archive(tmp_path / "bad.bin", described(shape, strides, offset, size), np.arange(4, dtype="<f4").tobytes())
    with pytest.raises(DirectoryError, match="damaged"):
        read_torch_file(path)


def test_a_compressed_archive_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.bin", described((2, 2), (2, 1)), bytes(16), zipfile.ZIP_DEFLATED)
    with pytest.raises(DirectoryError, match="its parts are compressed"):
        read_torch_file(path)


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "a.bin", {"a": torch.tensor([1.0, float("nan")])}, True)
    with pytest.raises(DirectoryError, match="not finite"):
        read_torch_file(path)


@pytest.mark.parametrize("protocol", [0, 4, 5])
def test_other_instructions_are_refused(tmp_path: Path, protocol: int) -> None:
    program = pickle.dumps({"a": collections.deque([1])}, protocol)
    with pytest.raises(DirectoryError, match=r"instruction|would call"):
        read_torch_file(archive(tmp_path / "a.bin", program))
