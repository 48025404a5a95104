"""docs/extend/format.md, followed to the letter."""

from __future__ import annotations

from pathlib import Path

from extend.following import follow


def test_a_format_is_one_file_and_one_line(tmp_path: Path) -> None:
    done = follow("format.md", tmp_path, "In Tongsa")
    assert done.new == ["src/tongsa/formats/phrases.py"]
    assert done.changed == {"src/tongsa/formats/registry.py": 1}
    assert done.outside == []
    assert "[('A room, please.', 'Ein Zimmer, bitte.')] ['left out 1 phrases untranslated" in done.printed
    assert "{'written': 1}" in done.printed
    assert "key = The key. | Der Schlüssel." in done.printed


def test_a_package_outside_adds_a_format_with_nothing_of_tongsa_changed(tmp_path: Path) -> None:
    done = follow("format.md", tmp_path, "In a package of your own")
    assert (done.new, done.changed) == ([], {})
    assert len(done.outside) == 2
    assert "[('Open', 'Öffnen'), ('Close the file', 'Datei schließen')] ['left out 1 entries" in done.printed
    assert "# menu\nopen=OPEN\nclose = CLOSE THE FILE\nquit=QUIT\n" in done.printed
