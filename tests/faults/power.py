"""A model of power loss: what a disk may hold after each call, when only what was flushed is sure.

    bytes of a file      those at its last fsync are sure; later ones may be there wholly, by half or not at all
    entries of a folder  those at its last fsync are sure; of later creations, renames and removals any may be missing

As in ALICE (Pillai et al. 2014), but with a few choices for each point instead of all of them: for the entries all,
none, the first n, and all but one; for the bytes one choice for all files.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from faults.contract import Trial
from faults.watching import Call, Watcher, watching
from tongsa.base import files

Entries = dict[str, "File | Folder"]
State = dict[str, bytes]


@dataclass(eq=False)
class File:
    current: bytes = b""
    durable: bytes = b""

    def after_loss(self, bytes_kept: str) -> bytes:
        if bytes_kept == "half":
            sure = len(self.durable) if self.current.startswith(self.durable) else 0
            return self.current[: (sure + len(self.current)) // 2]
        return self.current if bytes_kept == "all" else self.durable


@dataclass(eq=False)
class Folder:
    current: Entries = field(default_factory=dict)
    durable: Entries = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """A change of entries that happens as a whole, or not at all."""

    folders: tuple[Folder, ...]
    apply: Callable[[Callable[[Folder], Entries]], None]
    """Given a function that returns the entries of a folder to change."""


class Disk(Watcher):
    """Follows the calls below a folder; `states` yields what the folder may hold if the power fails now."""

    def __init__(self, root: Path) -> None:
        super().__init__(after=self._follow)
        self.root = root.resolve()
        self.top = self._read(self.root, durable=True)
        self.pending: list[Change] = []
        self.seen: dict[frozenset[tuple[str, bytes]], str] = {}
        """All states, with the call before each."""

    def states(self) -> Iterator[State]:
        count = len(self.pending)
        kept = [list(range(n)) for n in range(count + 1)]
        kept += [[i for i in range(count) if i != lost] for lost in range(count)]
        for some in kept:
            for bytes_kept in ("none", "half", "all"):
                yield self._state(some, bytes_kept)

    def _state(self, kept: list[int], bytes_kept: str) -> State:
        entries: dict[int, Entries] = {}

        def of(folder: Folder) -> Entries:
            return entries.setdefault(id(folder), dict(folder.durable))

        for number in kept:
            self.pending[number].apply(of)
        found: State = {}

        def collect(folder: Folder, prefix: str) -> None:
            for name, node in of(folder).items():
                if isinstance(node, Folder):
                    collect(node, f"{prefix}{name}/")
                else:
                    found[prefix + name] = node.after_loss(bytes_kept)

        assert isinstance(self.top, Folder)
        collect(self.top, "")
        return found

    def _follow(self, call: Call) -> None:
        if call.kind in ("open", "write", "truncate"):
            self._content(call.path)
        elif call.kind == "fsync":
            self._flush(call.path)
        elif call.kind == "mkdir":
            self._set(call.path, Folder())
        elif call.kind in ("unlink", "rmdir"):
            folder, name = self._folder(call.path.parent), call.path.name
            self._change(folder, lambda of: of(folder).pop(name, None))
        elif call.kind == "rename":
            assert call.target is not None
            self._rename(call.path, call.target)
        for state in self.states():
            self.seen.setdefault(frozenset(state.items()), str(call))

    def exchanged(self, one: Path, other: Path) -> None:
        folder = self._folder(one.parent)
        first, second = self._unseen(folder, one, other), folder.current[other.name]
        self._change(folder, lambda of: of(folder).update({one.name: second, other.name: first}))

    def _rename(self, path: Path, target: Path) -> None:
        source, folder = self._folder(path.parent), self._folder(target.parent)
        node = self._unseen(source, path, target)

        def apply(of: Callable[[Folder], Entries]) -> None:
            of(source).pop(path.name, None)
            of(folder)[target.name] = node

        self._change(source, apply, folder)

    def _unseen(self, folder: Folder, path: Path, now: Path) -> File | Folder:
        """The node of a path that was renamed to `now`; a library may have written it unseen, and not flushed."""
        return folder.current.get(path.name) or self._read(now, durable=False)

    def _content(self, path: Path) -> None:
        if not path.is_file():
            return
        data = path.read_bytes()
        node = self._folder(path.parent).current.get(path.name)
        if isinstance(node, File):
            node.current = data
        else:
            self._set(path, File(data))

    def _flush(self, path: Path) -> None:
        if path.is_dir():
            folder = self._folder(path)
            folder.durable = dict(folder.current)
            self.pending = [change for change in self.pending if folder not in change.folders]
            return
        self._content(path)
        node = self._folder(path.parent).current[path.name]
        assert isinstance(node, File)
        node.durable = node.current

    def _set(self, path: Path, node: File | Folder) -> None:
        folder, name = self._folder(path.parent), path.name
        self._change(folder, lambda of: of(folder).__setitem__(name, node))

    def _change(self, folder: Folder, apply: Callable[[Callable[[Folder], Entries]], None], *more: Folder) -> None:
        apply(lambda each: each.current)
        self.pending.append(Change((folder, *more), apply))

    def _folder(self, path: Path) -> Folder:
        node: File | Folder = self.top
        for name in path.relative_to(self.root).parts:
            assert isinstance(node, Folder)
            node = node.current[name]
        assert isinstance(node, Folder)
        return node

    def _read(self, path: Path, *, durable: bool) -> File | Folder:
        if path.is_file():
            data = path.read_bytes()
            return File(data, data if durable else b"")
        entries = {each.name: self._read(each, durable=durable) for each in path.iterdir()}
        return Folder(entries, dict(entries) if durable else {})


@contextmanager
def followed(root: Path) -> Iterator[Disk]:
    """Follow what is done below a folder."""
    disk = Disk(root)
    exchange = files._exchange

    def exchanged(one: Path, other: Path) -> bool:
        done = exchange(one, other)
        if done:
            disk.exchanged(one, other)
        return done

    with watching(root, disk), patch.object(files, "_exchange", exchanged):
        yield disk


def lose_power(trial: Trial) -> int:
    """Try every state that a loss of power during the scenario may leave; return their number."""
    trial.reset()
    with followed(trial.folder) as disk:
        trial.scenario.run(trial.folder)
    for state in disk.states():
        now = {name: data for name, data in state.items() if not trial.scenario.ignored.fullmatch(name)}
        assert now == trial.after, "what was reported as written is not sure to be on the disk"
    for items, call in disk.seen.items():
        shutil.rmtree(trial.folder)
        trial.folder.mkdir()
        for name, data in items:
            path = trial.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        where = f"power lost after {call}; files: {sorted(name for name, _ in items)}"
        trial.check_state(where, killed=True)
        trial.check_next_run(where)
    return len(disk.seen)
