"""The tensors of a file that `torch.save` wrote (pytorch_model.bin), read without running anything in it.

Such a file describes its tensors by a program for Python's unpickler, which could call any function. Here nothing is
unpickled: the instructions are only listed (by `pickletools`), and interpreted for the few that a dictionary of
tensors needs. No name in the file is ever imported or called; anything else than tensors is an error. Both layouts
are read: the ZIP archive of today, and the one before PyTorch 1.6, which most models of OPUS-MT still have.
"""

from __future__ import annotations

import math
import pickletools
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from tongsa.base.errors import DirectoryError
from tongsa.base.regular import open_regular
from tongsa.runs.header import unreadable
from tongsa.runs.weights import Array, check_numbers, to_float32

ZIP = b"PK\x03\x04"
MAGIC, VERSION = 0x1950A86A20F9469CFC6C, 1001
"""The first two values of the old layout."""

STORAGES = {
    "torch DoubleStorage": ("F64", "<f8"),
    "torch FloatStorage": ("F32", "<f4"),
    "torch HalfStorage": ("F16", "<f2"),
    "torch BFloat16Storage": ("BF16", "<u2"),
    "torch LongStorage": ("I64", "<i8"),
    "torch IntStorage": ("I32", "<i4"),
    "torch BoolStorage": ("BOOL", "<u1"),
}
"""Types of numbers by the name of their storage: safetensors' name and NumPy's. Tensors of integers are left out."""
FLOATS = ("F64", "F32", "F16", "BF16")

MOST_STEPS = 1_000_000
"""Most instructions; a large model needs about ten thousand."""
MOST_PICKLE = 64 << 20
"""Most bytes of the instructions in a ZIP archive."""


def read_torch_file(path: Path) -> dict[str, Array]:
    """Read the floating-point tensors of a file as float32, by name."""
    with open_regular(path) as file:
        try:
            is_zip = file.read(len(ZIP)) == ZIP
            file.seek(0)
            tensors = _read_zip(file) if is_zip else _read_old(file)
        except _RefusedError as error:
            raise DirectoryError(
                f"{path} cannot be read: {error}",
                "Only files that hold nothing but tensors are read: others could run any code.",
            ) from error
        except (ValueError, TypeError, KeyError, IndexError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise unreadable(path, f"it is damaged, or not a file of PyTorch ({error})") from error
    check_numbers(path, tensors)
    return tensors


class _RefusedError(Exception):
    """The file has something in it that is not a tensor."""


@dataclass(frozen=True)
class _Name:
    """The name of a function or class; it is compared with those that are known, never looked up."""

    text: str


class _Storage(NamedTuple):
    kind: str
    key: str
    size: int


class _Tensor(NamedTuple):
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def array(self, raw: np.ndarray[Any, Any]) -> Array:
        """Return the tensor from the numbers of its storage."""
        numbers = (self.offset, *self.shape, *self.strides)
        if not all(type(each) is int and each >= 0 for each in numbers) or math.prod(self.shape) > raw.size:
            raise ValueError("a tensor is not within its storage")
        width = raw.itemsize
        view = np.ndarray(  # raises ValueError if it is not within the storage
            self.shape, raw.dtype, raw.data, self.offset * width, tuple(width * stride for stride in self.strides)
        )
        return to_float32(np.array(view), STORAGES[self.storage.kind][0])


_MARK = object()
CONSTANTS: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "MARK": lambda: _MARK,
}
VALUES = ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE")
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class _Program:
    """Interprets the instructions of one value."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.storages: dict[str, _Storage] = {}
        """All storages that were referred to, those of tensors of integers too."""

    def run(self, file: IO[bytes]) -> Any:
        for step, (instruction, argument, _) in enumerate(pickletools.genops(file)):
            if step > MOST_STEPS:
                raise _RefusedError("it has too many instructions")
            if instruction.name == "STOP":
                return self.stack.pop()
            self._do(instruction.name, argument)
        raise EOFError("it ends early")

    def _do(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in CONSTANTS:
            stack.append(CONSTANTS[name]())
        elif name in VALUES:
            stack.append(argument)
        elif name in TUPLES:
            stack[-TUPLES[name] :] = [tuple(stack[-TUPLES[name] :])]
        elif name == "TUPLE":
            stack.append(tuple(self._to_mark()))
        elif name in ("BINPUT", "LONG_BINPUT"):
            self.memo[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(self.memo[argument])
        elif name == "GLOBAL":
            stack.append(_Name(argument))
        elif name == "BINPERSID":
            storage = _storage(stack.pop())
            self.storages[storage.key] = storage
            stack.append(storage)
        elif name == "REDUCE":
            arguments, function = stack.pop(), stack.pop()
            stack.append(_built(function, arguments))
        elif name in ("SETITEM", "SETITEMS", "APPEND", "APPENDS", "BUILD"):
            self._fill(name)
        elif name not in ("PROTO", "FRAME"):
            raise _RefusedError(f"it has the instruction {name}")

    def _to_mark(self) -> list[Any]:
        place = len(self.stack) - 1 - self.stack[::-1].index(_MARK)
        found = self.stack[place + 1 :]
        del self.stack[place:]
        return found

    def _fill(self, name: str) -> None:
        """Add to the dictionary or list below the values."""
        if name == "BUILD":  # the versions of the modules, which are not needed
            self.stack.pop()
            if not isinstance(self.stack[-1], dict):
                raise _RefusedError("it has an object with attributes")
            return
        one = 1 if name == "APPEND" else 2
        values = self._to_mark() if name.endswith("S") else [self.stack.pop() for _ in range(one)][::-1]
        if name.startswith("APPEND"):
            _expect(self.stack[-1], list).extend(values)
        else:
            _expect(self.stack[-1], dict).update(zip(values[::2], values[1::2], strict=True))


def _expect(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"a {kind.__name__} was expected")
    return value


def _storage(values: Any) -> _Storage:
    label, name, key, _, size, *view = _expect(values, tuple)
    if label != "storage" or not isinstance(name, _Name) or name.text not in STORAGES:
        raise _RefusedError(f"it has a reference to {name.text if isinstance(name, _Name) else 'something unknown'}")
    if view not in ([], [None]):
        raise _RefusedError("it has views of storages")
    return _Storage(name.text, _expect(key, str), _expect(size, int))


def _built(function: Any, arguments: Any) -> Any:
    """The result of a call, for the few functions that are known."""
    name = function.text if isinstance(function, _Name) else "something unknown"
    if name == "collections OrderedDict" and arguments == ():
        return {}
    if name == "torch._utils _rebuild_tensor_v2":
        storage, offset, shape, strides, *_ = arguments
        return _Tensor(_expect(storage, _Storage), offset, _expect(shape, tuple), _expect(strides, tuple))
    if name == "torch._utils _rebuild_parameter":
        return _expect(arguments[0], _Tensor)
    raise _RefusedError(f"it would call {name}")


def _tensors(value: Any) -> dict[str, _Tensor]:
    """The floating-point tensors of a dictionary."""
    for name, tensor in _expect(value, dict).items():
        if not isinstance(name, str) or not isinstance(tensor, _Tensor):
            raise _RefusedError(f"{name!r} is not a tensor")
    return {name: each for name, each in value.items() if STORAGES[each.storage.kind][0] in FLOATS}


def _arrays(tensors: Mapping[str, _Tensor], storages: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Array]:
    return {name: tensor.array(storages[tensor.storage.key]) for name, tensor in tensors.items()}


def _read_zip(file: BufferedReader) -> dict[str, Array]:
    with zipfile.ZipFile(file) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        main = next(name for name in (*entries, "/data.pkl") if name.endswith("/data.pkl"))
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
            raise _RefusedError("its parts are compressed")
        if entries[main].file_size > MOST_PICKLE:
            raise _RefusedError("its description of the tensors is too long")
        folder = main.removesuffix("data.pkl")
        if f"{folder}byteorder" in entries and archive.read(f"{folder}byteorder") != b"little":
            raise _RefusedError("its numbers are big-endian")
        tensors = _tensors(_Program().run(BytesIO(archive.read(main))))
        storages = {}
        for storage in {tensor.storage for tensor in tensors.values()}:
            raw = archive.read(f"{folder}data/{storage.key}")
            storages[storage.key] = np.frombuffer(raw, STORAGES[storage.kind][1], storage.size)
        return _arrays(tensors, storages)


def _read_old(file: BufferedReader) -> dict[str, Array]:
    """Four values and the tensors' dictionary one after the other, then the numbers of each storage."""
    if (_Program().run(file), _Program().run(file)) != (MAGIC, VERSION):
        raise ValueError("it does not begin as one")
    if _expect(_Program().run(file), dict).get("little_endian") is not True:
        raise _RefusedError("its numbers are big-endian")
    program = _Program()
    tensors = _tensors(program.run(file))
    storages = {}
    for key in _expect(_Program().run(file), list):
        size = int.from_bytes(_exactly(file, 8), "little")
        storage = program.storages[key]
        if size != storage.size:
            raise ValueError("the sizes of a storage differ")
        numbers = np.dtype(STORAGES[storage.kind][1])
        storages[key] = np.frombuffer(_exactly(file, size * numbers.itemsize), numbers, size)
    return _arrays(tensors, storages)


def _exactly(file: BufferedReader, count: int) -> bytes:
    """The next bytes; fewer are an error, also where nothing but zeros would be missing."""
    found = file.read(count)
    if len(found) < count:
        raise EOFError("it ends early")
    return found
