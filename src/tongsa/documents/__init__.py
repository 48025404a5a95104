"""Documents: files with structure in, the same files in another language out.

    read ─▶ segments ─ memory, glossary, masking, sentences ─▶ translator ─ checks ─▶ outcomes ─▶ write

    files         open, translate and write a file; the formats themselves are in formats/
    translate     segments in, outcomes out
    strategies    how to translate a sentence with placeholders, tags and terms, from the best strategy to the safest
    placeholders  replace each mark by one character, and check that all of them were kept
    projection    put tags around the translations of the words they enclosed
    memory, review   earlier translations, and a table of translations to review

May import translation, formats and the rooms below.
"""

from tongsa.documents.files import (
    TranslatedDocument,
    default_target,
    open_document,
    read_document,
    translate_document,
)
from tongsa.documents.translate import Resources
from tongsa.formats.segments import Languages, Options

__all__ = [
    "Languages",
    "Options",
    "Resources",
    "TranslatedDocument",
    "default_target",
    "open_document",
    "read_document",
    "translate_document",
]
