"""Corpora by the name that mtdata gives them."""

from __future__ import annotations

import importlib.util
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError, MissingExtraError
from tongsa.formats.pairs import Reading, open_corpus

READING = Reading(source="en", target="de")
NAME = "mtdata:Local-tiny-1-eng-deu"

# mtdata takes entries of its index from mtdata*.py in the folder that it runs in
ENTRY = """
from mtdata.entry import DatasetId, Entry

def load_all(index):
    did = DatasetId(group="Local", name="tiny", version="1", langs=("eng", "deu"))
    index += Entry(did=did, url="http://127.0.0.1:{port}/tiny.tsv", ext="tsv")
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mtdata") is None, reason="needs the extra mtdata")
def test_a_named_corpus_is_downloaded_once_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "tiny.tsv").write_text("one\teins\ntwo\tzwei\n")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "www")))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    index = tmp_path / "home" / "index"
    index.mkdir(parents=True)
    (index / "mtdata_local.py").write_text(ENTRY.format(port=server.server_port))
    monkeypatch.setenv("MTDATA", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(index))
    try:
        assert [pair[:2] for pair in open_corpus([NAME], READING)] == [("one", "eins"), ("two", "zwei")]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    backwards = open_corpus([NAME], Reading(source="de", target="en"))  # from what is there: the server is gone
    assert [pair[:2] for pair in backwards] == [("eins", "one"), ("zwei", "two")]


@pytest.mark.parametrize("name", ["mtdata:nonsense", "mtdata:../../etc/x-a-b-c-d", "mtdata:A-b-c-deu-fra"])
def test_names_that_cannot_be_are_refused_at_once(name: str) -> None:
    with pytest.raises(CorpusError, match=r"mtdata:.*(is not a name of mtdata|has deu and fra, not en)"):
        open_corpus([name], READING)


def test_a_missing_mtdata_is_answered_with_the_pip_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTDATA", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tongsa\[mtdata\]'"):
        open_corpus([NAME], READING)
