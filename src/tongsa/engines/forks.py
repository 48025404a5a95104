"""Objects with threads of their own, in a process that forks: the threads do not exist in the child."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """An object of this process; in a forked one, it is made again when it is first used."""

    def __init__(self, made: T) -> None:
        self._made: T | None = made
        _ALL.add(self)

    def get(self, make: Callable[[], T]) -> T:
        if self._made is None:
            self._made = make()
        return self._made

    def forget(self) -> None:
        """Give up the object of the parent process. It is never freed: its destructor would wait for its threads."""
        if self._made is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._made))
            self._made = None


_ALL: weakref.WeakSet[PerProcess[Any]] = weakref.WeakSet()


def _forget_all() -> None:
    for each in list(_ALL):
        each.forget()


def after_fork(do: Callable[[], None]) -> None:
    """Have a function called in every forked process, where the system can fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=do)


after_fork(_forget_all)
