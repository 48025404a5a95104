"""Glossaries that clients keep here, as DeepL's API has them: dictionaries of terms, one for each direction.

With a data folder they are files of it and survive a restart; without one they live as long as the service.
"""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from tongsa.base.errors import UsageError
from tongsa.base.files import write_atomically
from tongsa.documents.glossary import Glossary
from tongsa.server.http.limits import Limits
from tongsa.server.http.refusals import Refusal, invalid


@dataclass(frozen=True, kw_only=True)
class Dictionary:
    """Terms of one direction."""

    source: str
    target: str
    terms: dict[str, str]

    def glossary(self) -> Glossary:
        return Glossary(self.terms)

    def tsv(self) -> str:
        return "\n".join(f"{source}\t{target}" for source, target in self.terms.items())


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A glossary, and the client whose it is."""

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
        self._kept: dict[str, Kept] = {}
        if self._folder:
            self._folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(self._folder.glob("*.json")):
                kept = _read(path)
                self._kept[kept.id] = kept

    def of(self, owner: str) -> list[Kept]:
        return [kept for kept in self._kept.values() if kept.owner == owner]

    def find(self, id: str, owner: str) -> Kept:
        kept = self._kept.get(id)
        if kept is None or kept.owner != owner:
            raise Refusal(404, "There is no such glossary")
        return kept

    def add(self, kept: Kept) -> Kept:
        if not self._limits.allows("glossaries", len(self._kept) + 1):
            raise Refusal(456, f"The service keeps no more than {self._limits.glossaries} glossaries")
        return self._write(kept)

    def put(self, kept: Kept, dictionary: Dictionary, *, merge: bool) -> Kept:
        """With a dictionary in the place of the one of its direction, or its terms added to that one."""
        direction = (dictionary.source, dictionary.target)
        others = [each for each in kept.dictionaries if (each.source, each.target) != direction]
        before = [each for each in kept.dictionaries if (each.source, each.target) == direction]
        if merge and before:
            dictionary = replace(dictionary, terms={**before[0].terms, **dictionary.terms})
        self._check(dictionary.terms)
        return self._write(replace(kept, dictionaries=(*others, dictionary)))

    def rename(self, kept: Kept, name: str) -> Kept:
        return self._write(replace(kept, name=name))

    def drop(self, kept: Kept, dictionary: Dictionary) -> Kept:
        return self._write(replace(kept, dictionaries=tuple(each for each in kept.dictionaries if each != dictionary)))

    def remove(self, kept: Kept) -> None:
        del self._kept[kept.id]
        if self._folder:
            (self._folder / f"{kept.id}.json").unlink(missing_ok=True)

    def terms(self, text: str, form: str) -> dict[str, str]:
        """The entries of a TSV or CSV text."""
        rows: Iterable[list[str]]
        if form == "tsv":
            rows = (line.split("\t") for line in text.splitlines())
        else:
            try:
                rows = list(csv.reader(io.StringIO(text), strict=True))
            except csv.Error:
                raise invalid("the entries are no CSV") from None
        found: dict[str, str] = {}
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if len(cells) < 2 or not cells[0] or not cells[1]:
                raise invalid("an entry is a source term and a target term")
            if cells[0] in found:
                raise invalid("a source term is there twice")
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

    def _write(self, kept: Kept) -> Kept:
        self._kept[kept.id] = kept
        if self._folder:
            write_atomically(self._folder / f"{kept.id}.json", json.dumps(asdict(kept), ensure_ascii=False))
        return kept


def _read(path: Path) -> Kept:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        dictionaries = tuple(Dictionary(**each) for each in values.pop("dictionaries"))
        return Kept(**values, dictionaries=dictionaries)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "It is a glossary: restore it, or move it away.") from error
