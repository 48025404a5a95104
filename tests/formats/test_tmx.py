"""Translation memories: what is taken, what is left out and said, and what hostile files are answered with."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Corpus, Pair, Reading, open_corpus

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
    '<tmx version="1.4"><header srclang="en"/><body>\n'
)
TAIL = "</body></tmx>\n"


def unit(*variants: tuple[str, str], name: str = "") -> str:
    texts = "".join(f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>' for language, text in variants)
    return _unit(texts, name)


def _unit(texts: str, name: str = "") -> str:
    identity = f' tuid="{name}"' if name else ""
    return f"<tu{identity}>{texts}</tu>\n"


def memory(path: Path, *units: str, head: str = HEAD, tail: str = TAIL) -> Path:
    path.write_text(head + "".join(units) + tail, encoding="utf-8")
    return path


def opened(path: Path, salvage: bool = False, encoding: str = "utf-8") -> Corpus:
    return open_corpus([path], Reading(source="en", target="de", salvage=salvage, encoding=encoding))


def texts(path: Path) -> list[tuple[str, str]]:
    return [pair[:2] for pair in opened(path)]


def test_languages_match_by_their_first_part_whatever_the_case(tmp_path: Path) -> None:
    path = memory(tmp_path / "a.tmx", unit(("EN-us", "one"), ("de_DE", "eins"), ("fr", "un")))
    assert texts(path) == [("one", "eins")]


def test_every_variant_of_a_language_gives_a_pair(tmp_path: Path) -> None:
    path = memory(tmp_path / "a.tmx", unit(("en", "January"), ("de-DE", "Januar"), ("de-AT", "Jänner")))
    assert texts(path) == [("January", "Januar"), ("January", "Jänner")]


def test_the_place_is_the_line_and_the_unit(tmp_path: Path) -> None:
    path = memory(tmp_path / "a.tmx", unit(("en", "a"), ("de", "b")), unit(("en", "c"), ("de", "d"), name="u7"))
    assert [str(pair.where) for pair in opened(path)] == [f"{path}, line 4", f"{path}, line 5 (unit u7)"]


def test_units_without_a_translation_are_left_out_and_counted(tmp_path: Path) -> None:
    path = memory(
        tmp_path / "a.tmx",
        unit(("en", "a"), ("de", " ")),
        unit(("en", "b"), ("fr", "c")),
        unit(("en", "d"), ("de", "e")),
    )
    corpus = opened(path)
    for _ in range(2):  # counts are those of one pass
        assert len(list(corpus)) == 1
        assert dict(corpus.left_out.dropped) == {"units untranslated": 1, "units without en or without de": 1}
    assert str(corpus.left_out.places["units untranslated"][0]) == f"{path}, line 4"


def test_inline_codes_become_placeholders(tmp_path: Path) -> None:
    coded = 'Press <bpt i="1">&lt;b&gt;</bpt>OK<ept i="1">&lt;/b&gt;</ept> <ph x="2">%s</ph><ph x="3">{\\f1</ph>!'
    path = memory(tmp_path / "a.tmx", unit(("en", coded), ("de", '<hi type="x">Nun</hi> <it pos="begin" x="9"/>')))
    assert texts(path) == [('Press <b>OK</b> %s<x id="3"/>!', 'Nun <x id="9"/>')]


def test_packed_memories_read_alike(tmp_path: Path) -> None:
    plain = memory(tmp_path / "a.tmx", unit(("en", "one"), ("de", "eins")))
    (tmp_path / "b.tmx.gz").write_bytes(gzip.compress(plain.read_bytes()))
    with zipfile.ZipFile(tmp_path / "c.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(plain, "deep/er/a.tmx")
        archive.write(tmp_path / "b.tmx.gz", "b.tmx.gz")
        archive.writestr("README.md", "not a corpus")
    assert texts(tmp_path / "b.tmx.gz") == texts(plain)
    corpus = opened(tmp_path / "c.zip")
    assert [pair[:2] for pair in corpus] == texts(plain) * 2
    assert dict(corpus.left_out.dropped) == {"files of unknown kind": 1}
    assert str(next(iter(corpus)).where).startswith(f"{tmp_path}/c.zip/b.tmx.gz, line 4")


BOMB = '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>\n'
THIEF = '<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n'
OUTSIDE = '<!DOCTYPE tmx [<!ENTITY % d SYSTEM "http://127.0.0.1:1/x.dtd"> %d;]>\n'


@pytest.mark.parametrize("declared", [BOMB, THIEF, OUTSIDE])
@pytest.mark.parametrize("salvage", [False, True])
def test_entities_are_refused_with_the_place(tmp_path: Path, declared: str, salvage: bool) -> None:
    path = memory(tmp_path / "a.tmx", unit(("en", "&b;"), ("de", "&x;")), head=declared + "<tmx><body>\n")
    corpus = opened(path, salvage)
    if salvage:
        assert list(corpus) == []
        assert "line 1: the file declares an entity" in corpus.left_out.lines()[0]
    else:
        with pytest.raises(CorpusError, match=r"a\.tmx, line 1: the file declares an entity"):
            list(corpus)


def test_an_entity_of_a_document_type_that_is_not_read_is_an_error_not_a_hole(tmp_path: Path) -> None:
    path = memory(tmp_path / "a.tmx", unit(("en", "a&nbsp;b"), ("de", "c")))
    with pytest.raises(CorpusError, match=r"line 4: &nbsp; is not defined"):
        list(opened(path))


def test_a_cut_file_is_an_error_with_the_place_or_its_readable_part(tmp_path: Path) -> None:
    whole = memory(tmp_path / "a.tmx", *(unit(("en", f"a{n}"), ("de", f"b{n}")) for n in range(3000))).read_bytes()
    path = tmp_path / "cut.tmx"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match=r"cut\.tmx, line 1,515, column .*: the file ends in the middle"):
        list(opened(path))
    corpus = opened(path, salvage=True)
    assert len(list(corpus)) == 1511
    assert "left out 1 damaged files from there on" in corpus.left_out.lines()[0]
    (tmp_path / "cut.tmx.gz").write_bytes(gzip.compress(whole)[:-2000])
    with pytest.raises(CorpusError, match="is damaged after line"):
        list(opened(tmp_path / "cut.tmx.gz"))


def test_a_wrong_encoding_is_said_and_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    path.write_bytes((HEAD + unit(("en", "size"), ("de", "Größe")) + TAIL).encode("cp1252"))
    with pytest.raises(CorpusError, match=r"a\.tmx, line 4, .*(\n.*)*--encoding cp1252"):
        list(opened(path))
    assert [pair.target for pair in opened(path, encoding="cp1252")] == ["Größe"]


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_the_encoding_that_the_file_declares_is_used(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.tmx"
    text = (HEAD + unit(("en", "size"), ("de", "Größe")) + TAIL).replace("UTF-8", encoding)
    path.write_bytes(text.encode(encoding))
    assert texts(path) == [("size", "Größe")]


def test_absurd_depth_and_length_are_refused(tmp_path: Path) -> None:
    deep = memory(tmp_path / "deep.tmx", "<note>" * 1000 + "</note>" * 1000)
    with pytest.raises(CorpusError, match="nested more than"):
        list(opened(deep))
    long = memory(tmp_path / "long.tmx", unit(("en", "x" * 2_000_000), ("de", "y")))
    with pytest.raises(CorpusError, match="a text of more than"):
        list(opened(long))


READ = """
import sys
from pathlib import Path
from tongsa.formats.pairs import Reading, open_corpus
count = sum(1 for _ in open_corpus([sys.argv[1]], Reading(source="en", target="de")))
# getrusage would tell the memory of the process that started this one, if that was larger
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(count, int(peak.split()[1]) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("suffix", [".tmx", ".xliff"])
def test_a_large_file_is_read_in_flat_memory(tmp_path: Path, suffix: str) -> None:
    """300 MB, made here; most of it in long notes, as memories have them, so that the test stays quick."""
    note = "<note>" + "x" * 60_000 + "</note>"
    if suffix == ".tmx":
        both = '<tuv xml:lang="en"><seg>one</seg></tuv><tuv xml:lang="de"><seg>eins</seg></tuv>'
        one, head, tail = _unit(both + note), HEAD, TAIL
    else:
        head = '<xliff version="1.2"><file source-language="en" target-language="de"><body>'
        one = f"<trans-unit><source>one</source><target>eins</target>{note}</trans-unit>\n"
        tail = "</body></file></xliff>"
    path = tmp_path / f"large{suffix}"
    block = one * 500
    with path.open("w") as file:
        file.write(head)
        for _ in range(10):
            file.write(block)
        file.write(tail)
    assert path.stat().st_size > 3 * 10**8
    said = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True).stdout
    path.unlink()
    count, megabytes = map(int, said.split())
    assert count == 10 * 500
    assert megabytes < 150, megabytes


def test_pairs_are_handed_on_before_the_file_ends(tmp_path: Path) -> None:
    path = memory(tmp_path / "a.tmx", *(unit(("en", f"a{n}"), ("de", f"b{n}")) for n in range(5000)), tail="<broken")
    first: Pair = next(iter(opened(path)))
    assert first.source == "a0"
