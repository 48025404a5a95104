"""Message catalogs, as text and compiled."""

from __future__ import annotations

import gettext
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Corpus, Reading, open_corpus
from tongsa.formats.po import language_in_path
from tongsa.text.lines import nfc

PO = r"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Language: de_DE\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#: a.c:1
msgid "Open"
msgstr "Öffnen"

msgctxt "menu"
msgid "Open"
msgstr "Auf"

#, fuzzy, c-format
msgid "Close %s"
msgstr "Zu %s"

msgid "Untold"
msgstr ""

msgid "One file"
msgid_plural "%d files"
msgstr[0] "Eine Datei"
msgstr[1] "%d Dateien"

#~ msgid "Old"
#~ msgstr "Alt"
"""


def opened(path: Path, source: str = "en", target: str = "de") -> Corpus:
    return open_corpus([path], Reading(source=source, target=target))


def catalog(path: Path, text: str = PO, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


PAIRS = [("Open", "Öffnen"), ("Open", "Auf"), ("One file", "Eine Datei"), ("%d files", "%d Dateien")]


def test_finished_messages_are_taken_and_the_others_counted(tmp_path: Path) -> None:
    corpus = opened(catalog(tmp_path / "a.po"))
    assert [pair[:2] for pair in corpus] == PAIRS
    assert dict(corpus.left_out.dropped) == {"messages fuzzy": 1, "messages untranslated": 1, "messages obsolete": 1}
    assert str(next(iter(corpus)).where) == f"{tmp_path}/a.po, line 7"


def test_a_catalog_of_the_source_language_is_read_backwards(tmp_path: Path) -> None:
    corpus = opened(catalog(tmp_path / "a.po"), source="de", target="en")
    assert [pair[:2] for pair in corpus] == [(target, source) for source, target in PAIRS]


def test_in_a_directory_only_catalogs_of_the_language_are_taken(tmp_path: Path) -> None:
    catalog(tmp_path / "l" / "de" / "LC_MESSAGES" / "a.po", PO.replace('"Language: de_DE\\n"\n', ""))
    catalog(tmp_path / "l" / "fr" / "LC_MESSAGES" / "a.po", PO.replace('"Language: de_DE\\n"\n', ""))
    corpus = opened(tmp_path / "l")
    assert len(list(corpus)) == len(PAIRS)
    assert corpus.left_out.dropped["messages of a catalog in fr"] == 3


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("x/pt_BR/LC_MESSAGES/app.mo", "pt_BR"),
        ("po/de.po", "de"),
        ("po/app.de.po", "de"),
        ("po/application.po", ""),
        ("po/sr@latin.po.gz", "sr@latin"),
    ],
)
def test_the_path_tells_the_language(path: str, language: str) -> None:
    assert language_in_path(Path(path)) == language


def test_the_charset_of_the_header_is_used(tmp_path: Path) -> None:
    path = catalog(tmp_path / "a.po", PO.replace("UTF-8", "ISO-8859-1"), "iso-8859-1")
    assert [pair[:2] for pair in opened(path)] == PAIRS


def test_a_wrong_charset_is_an_error_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.po, line 9, byte \d+: not UTF-8"):
        list(opened(catalog(tmp_path / "a.po", encoding="cp1252")))


def test_a_broken_catalog_is_an_error_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.po, line 8: not a message catalog: 'msgid Open'"):
        list(opened(catalog(tmp_path / "a.po", PO.replace('msgid "Open"\nmsgstr "Öffnen"', "msgid Open", 1))))


@pytest.mark.skipif(not shutil.which("msgfmt"), reason="needs msgfmt of gettext")
def test_a_compiled_catalog_gives_the_same_pairs(tmp_path: Path) -> None:
    source = catalog(tmp_path / "a.po")
    subprocess.run(["msgfmt", "-o", str(tmp_path / "a.mo"), str(source)], check=True)
    assert sorted(pair[:2] for pair in opened(tmp_path / "a.mo")) == sorted(PAIRS)


def compiled(messages: dict[bytes, bytes], order: str = "<") -> bytes:
    keys = sorted(messages)
    offset = 28 + 16 * len(keys)
    tables, texts = b"", b""
    for side in (keys, [messages[key] for key in keys]):
        for text in side:
            tables += struct.pack(f"{order}2I", len(text), offset + len(texts))
            texts += text + b"\0"
    head = struct.pack(f"{order}7I", 0x950412DE, 0, len(keys), 28, 28 + 8 * len(keys), 0, 0)
    return head + tables + texts


MESSAGES = {
    b"": b"Content-Type: text/plain; charset=UTF-8\nLanguage: ko\n",
    b"file\0files": "파일".encode(),
    b"menu\x04Open": "열기".encode(),
    b"untold": b"",
}


@pytest.mark.parametrize("order", ["<", ">"])
def test_contexts_and_plurals_of_compiled_catalogs(tmp_path: Path, order: str) -> None:
    (tmp_path / "a.mo").write_bytes(compiled(MESSAGES, order))
    corpus = opened(tmp_path / "a.mo", target="ko")
    assert [pair[:2] for pair in corpus] == [("files", "파일"), ("Open", "열기")]
    assert dict(corpus.left_out.dropped) == {"messages untranslated": 1}


@pytest.mark.parametrize("length", [0, 3, 20, 40, 120])
def test_a_cut_compiled_catalog_is_an_error(tmp_path: Path, length: int) -> None:
    (tmp_path / "a.mo").write_bytes(compiled(MESSAGES)[:length])
    with pytest.raises(CorpusError, match="not a compiled message catalog"):
        list(opened(tmp_path / "a.mo", target="ko"))


def test_the_catalogs_of_this_machine_read_as_gettext_reads_them() -> None:
    found = sorted(Path("/usr/share").glob("**/de/LC_MESSAGES/*.mo"))[:40]
    if not found:
        pytest.skip("this machine has no German message catalogs")
    taken = 0
    for path in found:
        with path.open("rb") as file:
            known = {nfc(text) for text in gettext.GNUTranslations(file)._catalog.values()}  # type: ignore[attr-defined]
        targets = {pair.target for pair in opened(path)}
        assert targets <= known, path
        taken += len(targets)
    assert taken > 0


MESSAGES_OF_A_TREE = ["The color of the window", "Open the file and read it", "This field may not be empty.", "Yes"]
TREE = {
    "de": ["Die Farbe des Fensters", "Öffne die Datei und lies sie", "Dieses Feld darf nicht leer sein.", "Ja"],
    "en_GB": ["The colour of the window", *MESSAGES_OF_A_TREE[1:]],
    "en_AU": ["The colour of the window", *MESSAGES_OF_A_TREE[1:]],
    "fr": ["La couleur de la fenêtre", "Ouvrez le fichier et lisez-le", "Ce champ ne peut pas être vide.", "Oui"],
}


def tree(folder: Path, *, messages: list[str] = MESSAGES_OF_A_TREE, more: str = "") -> Path:
    """A made-up locale/ tree: each catalog as text, and compiled beside it."""
    for language, targets in TREE.items():
        pairs = dict(zip(messages, targets, strict=True))
        head = f"Content-Type: text/plain; charset=UTF-8\nLanguage: {language}\n{more}"
        entries = "".join(f'msgid "{message}"\nmsgstr "{target}"\n\n' for message, target in pairs.items())
        lines = "".join(f'"{line}\\n"\n' for line in head.splitlines())
        path = catalog(
            folder / "locale" / language / "LC_MESSAGES" / "app.po", f'msgid ""\nmsgstr ""\n{lines}\n{entries}'
        )
        every = {b"": head.encode(), **{message.encode(): target.encode() for message, target in pairs.items()}}
        path.with_suffix(".mo").write_bytes(compiled(every))
    return folder / "locale"


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("en", "de", zip(MESSAGES_OF_A_TREE, TREE["de"], strict=True)),
        ("de", "en", zip(TREE["de"], MESSAGES_OF_A_TREE, strict=True)),
        ("de", "fr", []),
    ],
)
def test_of_a_tree_only_messages_in_the_two_languages_are_taken(
    tmp_path: Path, source: str, target: str, expected: list[tuple[str, str]]
) -> None:
    corpus = opened(tree(tmp_path), source=source, target=target)
    assert [pair[:2] for pair in corpus] == list(expected)
    assert corpus.left_out.dropped["compiled catalogs whose .po is read"] == len(TREE)
    english = [name for name in corpus.left_out.dropped if name.startswith("messages of a catalog from en into en_")]
    assert len(english) == (2 if "en" in (source, target) else 0)


def test_compiled_catalogs_alone_are_read(tmp_path: Path) -> None:
    folder = tree(tmp_path)
    for path in folder.rglob("*.po"):
        path.unlink()
    assert {pair[:2] for pair in opened(folder)} == set(zip(MESSAGES_OF_A_TREE, TREE["de"], strict=True))


def test_messages_that_are_not_english_are_taken_as_what_they_are(tmp_path: Path) -> None:
    folder = tree(tmp_path, messages=TREE["de"])
    forwards = [pair[:2] for pair in opened(folder, source="de", target="fr")]
    assert forwards == list(zip(TREE["de"], TREE["fr"], strict=True))
    backwards = opened(folder / "en_GB", source="en", target="de")
    assert [pair[:2] for pair in backwards] == list(zip(TREE["en_GB"], TREE["de"], strict=True))


def test_the_header_may_name_the_language_of_the_messages(tmp_path: Path) -> None:
    folder = tree(tmp_path, messages=["aa", "bb", "cc", "dd"], more="X-Source-Language: ko\n")
    assert len(list(opened(folder, source="ko", target="fr"))) == len(TREE["fr"])
    left = opened(folder, source="nl", target="fr")
    assert not list(left)
    assert left.left_out.dropped["messages of a catalog from ko into fr"] == len(TREE["fr"])


def test_a_corpus_is_called_what_the_user_called_it(tmp_path: Path) -> None:
    folder = tree(tmp_path)
    assert opened(folder).name == str(folder)
