"""Text that was decoded with the wrong encoding: `GrÃ¶ÃŸe`, `ì•ˆë…•`, `ï¿½`.

UTF-8 that was read as Windows-1252 (or Latin-1) leaves runs of odd characters whose bytes are valid UTF-8. Such a run
is damage if it decodes to plausible text; a single `Ã` or `â` in a real word never does.
"""

from __future__ import annotations

import re

# The character of each byte 0x80..0xff in Windows-1252, or in Latin-1 where Windows-1252 has none.
_CHARACTERS = {bytes([byte]).decode("cp1252", "ignore") or chr(byte): byte for byte in range(0x80, 0x100)}
_BYTES = {**{chr(byte): byte for byte in range(0x80, 0x100)}, **_CHARACTERS}
_RUN = re.compile("[" + re.escape("".join(_BYTES)) + "]{2,}")
_LEADS = re.compile("[Â-ô]")
# The replacement character, question marks in the middle of a word, and control characters of Latin-1, which occur only
# in Windows-1252 or UTF-8 that was read as Latin-1 (0x85, the line end of mainframes, is allowed).
_LOST = re.compile(r"\ufffd|ï¿½|[a-zà-ÿ]\?\?+[a-zà-ÿ]|[\x80-\x84\x86-\x9f]")
# Korean (and Chinese) letters in EUC-KR, two bytes each, read as Latin-1: no blanks, no ASCII, only high bytes.
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
    """Whether the bytes of the run, decoded as UTF-8, contain characters that a writer plausibly meant."""
    data = bytes(_BYTES[character] for character in run)
    found = data.decode("utf-8", "ignore")
    certain = sum(_is_certain(character) for character in found)
    likely = sum(_is_likely(character) for character in found)
    return certain >= 1 or likely >= 2


def _is_certain(character: str) -> bool:
    """Western European letters and typographic marks: one is enough evidence."""
    return "\u00a0" <= character <= "\u00ff" or "\u2010" <= character <= "\u2044" or character in "€™"


def _is_likely(character: str) -> bool:
    """Central European, Greek, Cyrillic, Hebrew, Arabic, Thai, kana, Han, Hangul: two, as one may be chance."""
    return (
        "\u0100" <= character <= "\u017f"
        or "\u0370" <= character <= "\u06ff"
        or "\u0e00" <= character <= "\u0e7f"
        or "\u3040" <= character <= "\ud7a3"
    )
