"""Small files that would take much memory or never end: each is refused, or read within its bounds."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.formats.po_catalog import LONGEST, evaluate
from tongsa.formats.tmx import MOST_VARIANTS
from tongsa.text.lines import LONGEST_LINE, read_lines
from tongsa.translation.stream import Lines

PACK = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
LONG = b"a" * (LONGEST_LINE + 10)


def read(path: Path) -> list[tuple[str, str]]:
    return [pair[:2] for pair in open_corpus([path], Reading(source="en", target="de"))]


@pytest.mark.parametrize("suffix", ["", *PACK])
def test_a_line_without_end_is_refused_with_its_number(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(PACK.get(suffix, bytes)(b"one\n" + LONG))
    with pytest.raises(CorpusError, match=r"a.*, line 2: longer than 16 MB"):
        list(read_lines(path))


def test_a_line_of_utf_16_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(("one\n" + LONG.decode()).encode("utf-16"))
    with pytest.raises(CorpusError, match="line 2: longer than 16 MB"):
        list(read_lines(tmp_path / "a", "utf-16"))


def test_bulk_translation_refuses_a_line_without_end() -> None:
    lines = Lines(io.BytesIO(b"one\ntwo\n" + LONG), Path("input"))
    with pytest.raises(CorpusError, match="input, line 3: longer than 16 MB"):
        list(lines.windows(lambda: 10))


def test_a_row_of_csv_that_goes_on_over_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell is small and each line is short, but the row never ends."""
    monkeypatch.setattr("tongsa.formats.csv.LONGEST_LINE", 1 << 20)
    (tmp_path / "a.csv").write_bytes(b"en,de\n" + b'"' + b'x\n","' * (1 << 19))
    with pytest.raises(CorpusError, match=r"a\.csv, line .*: a row of more than 1 MB"):
        read(tmp_path / "a.csv")


def mo(count: int, length: int, text: bytes) -> bytes:
    """All entries point to the same bytes."""
    start = 28 + 16 * count
    header = struct.pack("<7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, start)
    return header + struct.pack("<2I", length, start) * (2 * count) + text


def test_compiled_messages_that_overlap_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.mo").write_bytes(mo(20_000, 100_000, b"x" * 100_000))
    with pytest.raises(CorpusError, match=r"a\.mo: not a compiled message catalog[\s\S]*overlap"):
        read(tmp_path / "a.mo")


def test_a_compiled_catalog_is_not_unpacked_beyond_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tongsa.formats.mo.LARGEST", 1000)
    (tmp_path / "a.mo.gz").write_bytes(gzip.compress(mo(1, 2000, b"x" * 2000)))
    with pytest.raises(CorpusError, match=r"a\.mo\.gz has more than"):
        read(tmp_path / "a.mo.gz")


def test_an_entry_of_a_catalog_has_a_limit(tmp_path: Path) -> None:
    line = b'"' + b"x" * 1000 + b'"\n'
    (tmp_path / "a.po.gz").write_bytes(gzip.compress(b'msgid ""\n' + line * (LONGEST // 900)))
    with pytest.raises(CorpusError, match=r"a\.po\.gz, line 1,050: an entry of more than"):
        read(tmp_path / "a.po.gz")


READ = """
import sys
from pathlib import Path
from tongsa.formats.pairs import Reading, open_corpus
count = sum(1 for _ in open_corpus([sys.argv[1]], Reading(source="en", target="de")))
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(count, int(peak.split()[1]) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
def test_a_packed_catalog_is_read_in_flat_memory(tmp_path: Path) -> None:
    """40 MB in 10,000 messages; held whole they took 20 times as much."""
    message = 'msgid "one"\nmsgstr "eins"\n# ' + "x" * 4000 + "\n\n"
    (tmp_path / "a.po.gz").write_bytes(gzip.compress(message.encode() * 10_000, 1))
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "a.po.gz")], capture_output=True, text=True, check=True
    )
    count, megabytes = map(int, done.stdout.split())
    assert count == 10_000
    assert megabytes < 80, megabytes


@pytest.mark.parametrize("charset", ["foo", "idna", "punycode", "unicode_escape", "undefined", "hex", "rot13"])
def test_a_catalog_in_an_odd_charset_is_refused(tmp_path: Path, charset: str) -> None:
    (tmp_path / "a.po").write_text(
        f'msgid ""\nmsgstr "Content-Type: text/plain; charset={charset}\\n"\n\nmsgid "a"\nmsgstr "b"\n'
    )
    with pytest.raises(CorpusError, match=f"unknown encoding: {charset}"):
        read(tmp_path / "a.po")


@pytest.mark.parametrize(
    "expression", ["(" * 400 + "n" + ")" * 90, "!" * 400 + "n", "n?" * 90 + "1" + ":0" * 90, "n?1:" * 100 + "0"]
)
def test_a_deep_plural_expression_is_refused(expression: str) -> None:
    with pytest.raises(CorpusError, match="nested more than 30 deep"):
        evaluate(expression, 1)


TMX = '<tmx version="1.4"><header srclang="en"/><body>{}</body></tmx>'


def test_a_unit_with_very_many_variants_is_refused(tmp_path: Path) -> None:
    """Each source is paired with each target: 20,000 variants in a file of 1 MB would give 100 million pairs."""
    variants = [f'<tuv xml:lang="{"en" if n % 2 else "de"}"><seg>x{n}</seg></tuv>' for n in range(MOST_VARIANTS + 1)]
    (tmp_path / "a.tmx").write_text(TMX.format(f"<tu>{''.join(variants)}</tu>"))
    with pytest.raises(CorpusError, match=r"a\.tmx, line 1: a unit with more than 500 variants"):
        read(tmp_path / "a.tmx")


def test_tags_count_in_the_length_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.tmx").write_text(TMX.format('<tu><tuv xml:lang="en"><seg>' + "a<ph/>" * 60_000))
    with pytest.raises(CorpusError, match="a text of more than 1,048,576 characters"):
        read(tmp_path / "a.tmx")


PUMPED = """
from pathlib import Path
from lxml import etree
from tongsa.base.errors import CorpusError
from tongsa.formats import xml_tree
from tongsa.formats.po import _accepts
from tongsa.formats.po_catalog import Plurals, entries, evaluate
n = 100_000
for text in ("%" + "0" * n, "%" + "9" * n, "%" + " " * n, "%." + "1" * n, "%(" + "a" * n, "%<PRI" + "a" * n, "%1$" * n):
    assert _accepts(text)(text)
for expression in (" " * n + "x", "n " * n, "1" * n, "n" + "+n" * n):
    try:
        evaluate(expression, 1)
    except CorpusError:
        continue
    raise AssertionError(expression[:20])
assert Plurals.parse("nplurals" + " " * n) is None
for text in ('msgid "' + 9 * n * " ", 'msgid "' + n * '\\\\', "msgid" + n * " " + "x", '"' * n):
    try:
        list(entries([text], Path("a.po")))
    except CorpusError:
        continue
    raise AssertionError(text[:20])
blanks = b"<a>" + b" " * 9 * n + b"</a>" + b" " * 9 * n + b"<!--x-->"
xml_tree.serialize(xml_tree.parse(blanks, "a"), blanks)
many = etree.Element("a")
elements = xml_tree.Elements(xml_tree.InlineKinds(wraps=frozenset()))
elements.found = [("code", etree.Element("x")) for _ in range(n // 3)]
content = [part for number in range(n // 3) for part in (xml_tree.Mark(number=number), "t")]
elements.fill(many, tuple(content), move=True)
print("done")
"""


def test_what_is_repeated_very_often_takes_linear_time() -> None:
    """Work that grows with the square would take hours: the limit is only there so that a test ends."""
    done = subprocess.run([sys.executable, "-c", PUMPED], capture_output=True, text=True, timeout=300)
    assert done.stdout == "done\n", done.stderr
