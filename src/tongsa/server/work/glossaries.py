"""Glossaries that clients store, as in DeepL's API: dictionaries of terms, one per direction.

With a data folder they are files in it and survive a restart; otherwise they last as long as the service.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import uuid
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from tongsa.base.errors import UsageError, WriteError
from tongsa.base.files import cannot_write, make_directory, remove_durably, write_atomically
from tongsa.server.http.limits import Limits
from tongsa.server.http.refusals import Refusal, invalid
from tongsa.translation.glossary import Glossary


@dataclass(frozen=True, kw_only=True)
class Dictionary:
    """Terms of one direction."""

    source: str
    target: str
    terms: dict[str, str]

    @cached_property
    def glossary(self) -> Glossary:
        """The same object for all requests, so that their sentences may share a batch."""
        return Glossary(self.terms)

    def tsv(self) -> str:
        return "\n".join(f"{source}\t{target}" for source, target in self.terms.items())


@dataclass(frozen=True, kw_only=True)
class StoredGlossary:
    """A glossary and the client that owns it."""

    name: str
    owner: str
    dictionaries: tuple[Dictionary, ...]
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    made: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="microseconds"))

    def dictionary(self, source: str, target: str) -> Dictionary:
        for each in self.dictionaries:
            if (each.source, each.target) == (source, target):
                return each
        raise Refusal(404, "The glossary has no dictionary for these languages")


class Glossaries:
    def __init__(self, data: Path | None, limits: Limits) -> None:
        self._folder = data / "glossaries" if data else None
        self._limits = limits
        self._stored: dict[str, StoredGlossary] = {}
        self.changing = asyncio.Lock()
        """Held by the request that changes glossaries, in a thread."""
        if self._folder:
            try:
                make_directory(self._folder)
            except OSError as error:
                raise cannot_write(self._folder, error) from error
            for path in sorted(self._folder.glob("*.json")):
                glossary = _read(path)
                self._stored[glossary.id] = glossary

    def of(self, owner: str) -> list[StoredGlossary]:
        return [glossary for glossary in list(self._stored.values()) if glossary.owner == owner]

    def find(self, id: str, owner: str) -> StoredGlossary:
        glossary = self._stored.get(id)
        if glossary is None or glossary.owner != owner:
            raise Refusal(404, "There is no such glossary")
        return glossary

    def add(self, glossary: StoredGlossary) -> StoredGlossary:
        if not self._limits.allows("glossaries", len(self._stored) + 1):
            raise Refusal(456, f"The service keeps no more than {self._limits.glossaries} glossaries")
        return self._write(glossary)

    def put(self, glossary: StoredGlossary, dictionary: Dictionary, *, merge: bool) -> StoredGlossary:
        """Replace the dictionary of this direction, or merge the terms into it."""
        direction = (dictionary.source, dictionary.target)
        others = [each for each in glossary.dictionaries if (each.source, each.target) != direction]
        before = [each for each in glossary.dictionaries if (each.source, each.target) == direction]
        if merge and before:
            dictionary = replace(dictionary, terms={**before[0].terms, **dictionary.terms})
        self._check(dictionary.terms)
        return self._write(replace(glossary, dictionaries=(*others, dictionary)))

    def rename(self, glossary: StoredGlossary, name: str) -> StoredGlossary:
        return self._write(replace(glossary, name=name))

    def drop(self, glossary: StoredGlossary, dictionary: Dictionary) -> StoredGlossary:
        return self._write(
            replace(glossary, dictionaries=tuple(each for each in glossary.dictionaries if each != dictionary))
        )

    def remove(self, glossary: StoredGlossary) -> None:
        self._change(glossary.id, remove_durably)
        self._stored.pop(glossary.id, None)

    def terms(self, text: str, form: str) -> dict[str, str]:
        """Read entries from TSV or CSV text."""
        rows: Iterable[list[str]]
        if form == "tsv":
            rows = (line.split("\t") for line in text.splitlines())
        else:
            try:
                rows = list(csv.reader(io.StringIO(text), strict=True))
            except csv.Error:
                raise invalid("the entries are not valid CSV") from None
        found: dict[str, str] = {}
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if len(cells) < 2 or not cells[0] or not cells[1]:
                raise invalid("an entry needs a source term and a target term")
            if cells[0] in found:
                raise invalid("a source term occurs twice")
            found[cells[0]] = cells[1]
        self._check(found)
        return found

    def _check(self, terms: dict[str, str]) -> None:
        if not terms:
            raise invalid("there are no entries")
        if not self._limits.allows("glossary_terms", len(terms)):
            raise invalid(f"more than {self._limits.glossary_terms} entries")
        if any(len(side) > 1024 for pair in terms.items() for side in pair):
            raise invalid("a term has more than 1,024 characters")

    def _write(self, glossary: StoredGlossary) -> StoredGlossary:
        text = json.dumps(asdict(glossary), ensure_ascii=False)
        self._change(glossary.id, lambda path: write_atomically(path, text))
        self._stored[glossary.id] = glossary
        return glossary

    def _change(self, id: str, change: Callable[[Path], None]) -> None:
        """Change the file of a glossary, before memory follows; if that fails, memory holds what the disk does."""
        if not self._folder:
            return
        path = self._folder / f"{id}.json"
        try:
            change(path)
        except WriteError:
            self._stored.pop(id, None)
            if path.is_file():
                self._stored[id] = _read(path)
            raise


def _read(path: Path) -> StoredGlossary:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        dictionaries = tuple(Dictionary(**each) for each in values.pop("dictionaries"))
        return StoredGlossary(**values, dictionaries=dictionaries)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "It is a glossary: restore or move it.") from error
