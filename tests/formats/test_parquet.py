"""Parquet, where the extra is installed."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Reading, open_corpus

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
READING = Reading(source="en", target="de")

READ = """
import sys
from itertools import islice
from pathlib import Path
from tongsa.formats.pairs import Reading, open_corpus
count = sum(1 for _ in islice(open_corpus([sys.argv[1]], Reading(source="en", target="de")), 10))
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(count, int(peak.split()[1]) // 1024)
"""


def test_columns_and_structs_give_the_same_pairs(tmp_path: Path) -> None:
    texts = {"en": ["one", None, "two", "one"], "de": ["eins", "x", "zwei", "eins"]}
    parquet.write_table(pyarrow.table(texts), tmp_path / "a.parquet")
    rows = [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]
    parquet.write_table(pyarrow.table({"translation": [*rows, None]}), tmp_path / "b.parquet")
    for name, left_out in (("a", 1), ("b", 2)):
        corpus = open_corpus([tmp_path / f"{name}.parquet"], READING)
        assert [pair[:2] for pair in corpus] == [("one", "eins"), ("two", "zwei"), ("one", "eins")]
        assert corpus.left_out.dropped["rows without text"] == left_out


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("dictionary", [True, False])
def test_a_small_file_of_long_texts_is_read_in_little_memory(tmp_path: Path, dictionary: bool) -> None:
    """4,096 times the same text of a megabyte: 500 bytes that became 4 GB."""
    count = 4096 if dictionary else 300
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * count), pyarrow.array(["x" * (1 << 20)]))
    table = pyarrow.table(
        {"en": texts, "de": texts} if dictionary else {"en": texts.cast("string"), "de": ["y"] * count}
    )
    parquet.write_table(
        table, tmp_path / "a.parquet", compression="zstd", use_dictionary=dictionary, data_page_size=1 << 20
    )
    done = subprocess.run([sys.executable, "-c", READ, str(tmp_path / "a.parquet")], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    pairs, megabytes = map(int, done.stdout.split())
    assert pairs == 10
    assert megabytes < 500, megabytes
    assert len(list(islice(open_corpus([tmp_path / "a.parquet"], READING), 3))) == 3


def test_every_byte_may_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"en": ["one", "two"], "de": ["eins", "zwei"]}), path)
    whole = path.read_bytes()
    told = []
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            list(open_corpus([path], READING))
        except CorpusError as error:
            told.append(str(error))
    assert len(told) > 20
    assert all("a.parquet" in error for error in told)
