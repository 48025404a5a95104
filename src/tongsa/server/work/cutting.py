"""Plain text cut into sentences and put together again.

The quick twin of `tongsa.documents.engine` for what most requests are: text without tags, placeholders or terms in it.
The cuts are the same, and so is the check of what comes back; what does not pass is left to the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tongsa.documents.glossary import Glossary
from tongsa.documents.protect import Masked, mask, problem
from tongsa.documents.ways import has_letters
from tongsa.formats.segments import Segment
from tongsa.text.sentences import gap, split

LONGEST = 1_000
"""Characters of a piece. Sentences are cut at blanks before they are as long; what has none is cut anywhere."""

FRAGILE: str = Segment(id="", content=()).fragile
_NO_TERMS = Glossary()


@dataclass(frozen=True)
class Part:
    """A sentence, and the white space around it."""

    before: str
    sentence: str
    after: str

    @property
    def wanted(self) -> bool:
        """Whether there is anything to translate."""
        return has_letters(self.sentence)


def cut(text: str, language: str, *, whole: bool = False) -> list[Part] | None:
    """The sentences of a text; none where something in it must be kept as it is. `whole`: as one, if it is short."""
    if mask((text,), _NO_TERMS).marks:
        return None
    sentences = [text] if whole and len(text) <= LONGEST else split(text, language)
    return [_part(piece) for sentence in sentences for piece in slices(sentence)]


def slices(text: str) -> list[str]:
    return [text[at : at + LONGEST] for at in range(0, len(text), LONGEST)] or [text]


def _part(text: str) -> Part:
    inner = text.strip()
    if not inner:
        return Part(text, "", "")
    start = text.index(inner[0])
    return Part(text[:start], inner, text[start + len(inner) :])


def sound(sentence: str, translation: str) -> bool:
    """Nothing with a meaning has appeared or vanished."""
    return has_letters(translation) and not problem(Masked(sentence, {}), translation, FRAGILE)


def joined(parts: Sequence[Part], translated: Callable[[int], str], source: str, target: str) -> str:
    """The text of `translated` sentences, each known by its number among those that were wanted."""
    text: list[str] = []
    number = 0
    for place, part in enumerate(parts):
        followed = place + 1 < len(parts) and parts[place + 1].wanted
        text.append(part.before)
        if part.wanted:
            text += [translated(number).strip(), gap(part.after, source, target) if followed else part.after]
            number += 1
        else:
            text += [part.sentence, part.after]
    return "".join(text)
