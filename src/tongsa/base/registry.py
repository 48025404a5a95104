"""Registries of named objects: built-in ones in a dict literal, and plug-ins of other packages.

Another package adds one with an entry point, in its pyproject.toml:

    [project.entry-points."tongsa.metrics"]
    exact = "my_package.metrics:EXACT_MATCH"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from tongsa.base.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """A mapping from names to objects. Entry points are searched when a name is not built in, and loaded when used."""

    def __init__(self, group: str, builtin: Mapping[str, T], *, kind: str) -> None:
        """`group` names the entry points (tongsa.metrics); `kind` is the noun for messages (metric)."""
        self.group = group
        self.kind = kind
        self.builtin = builtin
        self._loaded: dict[str, T] = {}

    @cached_property
    def _entries(self) -> dict[str, EntryPoint]:
        from importlib.metadata import entry_points  # slow to import, and `tongsa --help` needs no plug-ins

        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            if entry.name in self.builtin or (entry.name in found and found[entry.name].value != entry.value):
                raise UsageError(
                    f"two installed packages have a {self.kind} named {entry.name}",
                    f"One of them is {_package(entry)} ({entry.value}). Rename or uninstall one.",
                )
            found[entry.name] = entry
        return found

    def __getitem__(self, name: str) -> T:
        if name in self.builtin:
            return self.builtin[name]
        if name not in self._loaded:
            entry = self._entries[name]
            try:
                self._loaded[name] = cast(T, entry.load())
            except Exception as error:  # importing a third-party module can raise anything
                raise UsageError(
                    f"the {self.kind} {name} of the package {_package(entry)} cannot be loaded: {error}",
                    "Fix or uninstall that package.",
                ) from error
        return self._loaded[name]

    def find(self, name: str) -> T:
        """Return the object of this name; an unknown name is an error that lists the known ones."""
        try:
            return self[name]
        except KeyError:
            raise UsageError(f"unknown {self.kind}: {name}", f"Known: {', '.join(self)}") from None

    def __contains__(self, name: object) -> bool:
        return name in self.builtin or name in self._entries

    def __iter__(self) -> Iterator[str]:
        yield from self.builtin
        yield from self._entries

    def __len__(self) -> int:
        return len(self.builtin) + len(self._entries)


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value.partition(":")[0]
