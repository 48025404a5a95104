"""Text that was decoded with the wrong encoding: `GrÃ¶ÃŸe`, `ì•ˆë…•`, `ï¿½`.

UTF-8 that was read as Windows-1252 (or Latin-1) leaves runs of odd characters whose bytes are UTF-8 again. Such a run
is damage if what it decodes to is likely text; a single `Ã` or `â` of a real word never is.
"""

from __future__ import annotations

import re

# The character of each byte 0x80..0xff in Windows-1252, in Latin-1 where that has none.
_CHARACTERS = {bytes([byte]).decode("cp1252", "ignore") or chr(byte): byte for byte in range(0x80, 0x100)}
_BYTES = {**{chr(byte): byte for byte in range(0x80, 0x100)}, **_CHARACTERS}
_RUN = re.compile("[" + re.escape("".join(_BYTES)) + "]{2,}")
_LEADS = re.compile("[Â-ô]")
# A mark for what could not be decoded, question marks in the middle of a word, and control characters of Latin-1, which
# no text has but Windows-1252 or UTF-8 that was read as Latin-1 (0x85, the line end of mainframes, is let be).
_LOST = re.compile(r"\ufffd|ï¿½|[a-zà-ÿ]\?\?+[a-zà-ÿ]|[\x80-\x84\x86-\x9f]")
# The letters of Korean (and Chinese) as two bytes of EUC-KR each, read as Latin-1: no blanks, no ASCII, all of it high.
_TWO_BYTE = re.compile(r"(?:[°-È][¡-þ]){3,}")


def is_damaged(text: str) -> bool:
    if _LOST.search(text):
        return True
    if text.isascii():
        return False
    if _TWO_BYTE.search(text):
        return True
    return any(_decodes(run.group()) for run in _RUN.finditer(text) if _LEADS.search(run.group()))


def _decodes(run: str) -> bool:
    """Whether the run's bytes hold characters of UTF-8 that a writer would have meant."""
    data = bytes(_BYTES[character] for character in run)
    found = data.decode("utf-8", "ignore")
    certain = sum(_is_certain(character) for character in found)
    likely = sum(_is_likely(character) for character in found)
    return certain >= 1 or likely >= 2


def _is_certain(character: str) -> bool:
    """Letters of Western Europe and typographic marks: one is enough."""
    return "\u00a0" <= character <= "\u00ff" or "\u2010" <= character <= "\u2044" or character in "€™"


def _is_likely(character: str) -> bool:
    """Central European, Greek, Cyrillic, Hebrew, Arabic, Thai, kana, Han, Hangul: two, since chance may find one."""
    return (
        "\u0100" <= character <= "\u017f"
        or "\u0370" <= character <= "\u06ff"
        or "\u0e00" <= character <= "\u0e7f"
        or "\u3040" <= character <= "\ud7a3"
    )
