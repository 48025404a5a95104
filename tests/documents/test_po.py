"""Message catalogs: what gettext itself accepts, with every bad translator there is."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from fakes import BAD, FakeCard, upper
from samples import PO

from tongsa.base.errors import CorpusError
from tongsa.documents import translate_document
from tongsa.formats.mo import messages as messages_of
from tongsa.formats.po_catalog import FORMS, Plurals, entries, evaluate, forms_of, quoted
from tongsa.text.placeholders import find

needs_gettext = pytest.mark.skipif(not shutil.which("msgfmt"), reason="needs msgfmt of GNU gettext")
CATALOGS = Path("/usr/share/locale")


def check(path: Path) -> None:
    for options in ([], ["--use-fuzzy"]):
        done = subprocess.run(["msgfmt", "--check", *options, "-o", "/dev/null", path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@needs_gettext
@pytest.mark.parametrize("language", ["de", "ko", "fr", "pl", "ar", "sl"])
@pytest.mark.parametrize("name", ["upper", *BAD])
def test_gettext_accepts_what_is_written(name: str, language: str, tmp_path: Path) -> None:
    (tmp_path / "app.po").write_bytes(PO)
    translator = {**BAD, "upper": upper}[name]()
    translator.card = FakeCard(target=language)
    check(translate_document(translator, tmp_path / "app.po").target)


def test_only_what_is_untranslated_is_filled_and_it_is_fuzzy(tmp_path: Path) -> None:
    (tmp_path / "app.po").write_bytes(PO)
    done = translate_document(upper(), tmp_path / "app.po").target
    found = {
        entry.texts["msgid"]: entry for entry in entries(done.read_text().splitlines(), done) if not entry.obsolete
    }
    assert found["kept"].texts["msgstr"] == "behalten"
    assert found["done"].texts["msgstr"] == "fertig?"
    plural = next(entry for name, entry in found.items() if name.startswith("%d file"))
    assert plural.texts["msgstr[0]"].startswith("%d FILE WAS")
    assert plural.texts["msgstr[1]"].startswith("%d FILES WERE")
    assert plural.flags == {"fuzzy", "c-format", "no-wrap"}
    assert "fuzzy" not in found[""].flags
    assert "Language: de\n" in found[""].texts["msgstr"]
    text = done.read_text()
    assert "#. note\n#: a.c:1\n" in text
    assert '#~ msgid "old"\n#~ msgstr "alt"\n' in text
    assert "# Tongsa: confidence 0.7500\n" in text


def test_a_catalog_of_another_language_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fr.po").write_bytes(PO.replace(b'"Content', b'"Language: fr\\n"\n"Content'))
    with pytest.raises(CorpusError, match="catalog in fr"):
        translate_document(upper(), tmp_path / "fr.po")


def test_a_charset_without_the_letters_becomes_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a.po").write_bytes(PO.replace(b"CHARSET", b"ISO-8859-1"))
    korean = upper()
    korean.card, korean.change = FakeCard(target="ko"), lambda text: "한국어"
    text = translate_document(korean, tmp_path / "a.po").target.read_text(encoding="utf-8")
    assert "charset=UTF-8" in text
    assert "한국어" in text


@pytest.mark.parametrize("language", ["de", *FORMS])
def test_every_plural_rule_gives_a_form_that_exists(language: str) -> None:
    rule = forms_of(language)
    plurals = Plurals.parse(rule)
    assert plurals
    used = {evaluate(rule.split("plural=", 1)[1].rstrip(";"), n) for n in range(1000)}
    assert used == set(range(plurals.count))


def test_an_expression_that_is_no_arithmetic_is_refused() -> None:
    for expression in ("__import__('os')", "n / 0", "n ?", "(n", "n n", "1 +"):
        with pytest.raises(CorpusError):
            evaluate(expression, 3)


@pytest.mark.skipif(not CATALOGS.is_dir(), reason="needs message catalogs of this machine")
@pytest.mark.parametrize("bad", ["garbage", "losing"])
def test_every_placeholder_of_the_machines_own_catalogs_comes_out_once(bad: str, tmp_path: Path) -> None:
    messages = _machine_messages(count=2_000, of_each=100)
    if len(messages) < 500:
        pytest.skip("needs message catalogs of this machine")
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    (tmp_path / "all.po").write_text(header + "\n".join(f'msgid {quoted(m)}msgstr ""\n' for m in messages))
    done = translate_document(BAD[bad](), tmp_path / "all.po")
    written = {e.texts["msgid"]: e.texts["msgstr"] for e in entries(done.target.read_text().split("\n"), done.target)}
    broken = [m for m in messages if _found(m) != _found(written[m])]
    assert broken == []


def _found(text: str) -> Counter[str]:
    """Find what must be kept; references are characters, which a translation may do without."""
    return Counter(placeholder.text for placeholder in find(text) if placeholder.kind != "entity")


def _machine_messages(count: int, of_each: int) -> list[str]:
    """Messages with placeholders, of as many programs as there are."""
    found: dict[str, None] = {}
    for path in sorted(CATALOGS.glob("*/LC_MESSAGES/*.mo")):
        before = len(found)
        for message, _ in messages_of(path.read_bytes()):
            text = message.decode(errors="ignore").rpartition("\x04")[2].split("\0")[0]
            if text and text not in found and find(text):
                found[text] = None
                if len(found) == count:
                    return list(found)
                if len(found) == before + of_each:
                    break
    return list(found)
