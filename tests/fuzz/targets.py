"""What is fuzzed: a target takes any bytes, and raises only if a contract is broken.

| kind of target | contract |
| --- | --- |
| `read.SUFFIX` | a corpus gives pairs that can be written as UTF-8, or one TongsaError that names the file |
| `document.SUFFIX` | a document is translated and can be opened again, or is refused by one TongsaError |
| `run.FILE` | a file of a run directory is read, or refused by one TongsaError |
| `http.parameters` | a request has valid parameters, or is refused |
"""

from __future__ import annotations

import asyncio
import atexit
import bz2
import gzip
import io
import lzma
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "documents"), str(HERE.parent)]

from samples import SAMPLES, zipped  # noqa: E402

from tongsa.base.errors import TongsaError  # noqa: E402
from tongsa.config import Recipe  # noqa: E402
from tongsa.config.recipe import read_toml  # noqa: E402
from tongsa.documents.files import read_document  # noqa: E402
from tongsa.documents.translate import translate_segments  # noqa: E402
from tongsa.formats.pairs import Reading, open_corpus  # noqa: E402
from tongsa.formats.segments import Languages, Options  # noqa: E402
from tongsa.runs.directory import Run  # noqa: E402
from tongsa.text.lines import tidy  # noqa: E402
from tongsa.text.subwords import Subwords  # noqa: E402
from tongsa.translation.options import TranslateOptions  # noqa: E402
from tongsa.translation.sentences import Translation  # noqa: E402

CORPUS = HERE / "corpus"
"""Cases that were found: a folder for each target."""
LONGEST = 1 << 16
"""Longer inputs are cut: what matters is found in short ones."""


@dataclass(frozen=True)
class Target:
    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], Sequence[bytes]]
    """Valid inputs, from which others are made."""
    tokens: tuple[bytes, ...] = ()
    """Pieces that mean something in this format."""

    def cases(self) -> list[Path]:
        return sorted((CORPUS / self.name).glob("*"))


class Violation(Exception):
    """A contract is broken, without any other exception."""


@cache
def folder() -> Path:
    """A folder of this process, in memory where the system has such a place."""
    atexit.register(clean_up)
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="tongsa-fuzz-", dir=memory if memory.is_dir() else None))


def clean_up() -> None:
    shutil.rmtree(folder(), ignore_errors=True)


# Corpora


def read_corpus(data: bytes, suffix: str) -> None:
    path = folder() / f"corpus{suffix}"
    path.write_bytes(data)
    try:
        for pair in open_corpus([path], Reading(source="en", target="de")):
            for text in pair[:2]:
                text.encode()
                tidy(text)
    except TongsaError as error:
        if "corpus" not in str(error):
            raise Violation(f"the error does not name the file: {error}") from error


def read_aligned(data: bytes) -> None:
    (folder() / "aligned.en").write_bytes(b"one\ntwo\n")
    (folder() / "aligned.de").write_bytes(data)
    with_names(lambda: list(open_corpus([folder() / "aligned"], Reading(source="en", target="de"))))


def with_names(read: Callable[[], object]) -> None:
    try:
        read()
    except TongsaError as error:
        if str(folder()) not in str(error):
            raise Violation(f"the error does not name the file: {error}") from error


def mo(*messages: tuple[bytes, bytes]) -> bytes:
    from tongsa.formats.mo import _compiled

    return _compiled(dict(messages))


CORPORA: dict[str, bytes] = {
    ".tsv": b"en\tde\none\teins\n\ntwo\tzwei\tmore\n",
    ".csv": b'en;de\none;eins\n"two, ""2""";"zwei\nzwei"\n',
    ".jsonl": b'{"en": "one", "de": "eins"}\n{"translation": {"en": "\\u0032", "de": "zwei"}, "n": 1.5e3}\n',
    ".tmx": SAMPLES["memory.tmx"],
    ".xliff": SAMPLES["two.xliff"],
    ".po": SAMPLES["app.po"],
    ".mo": mo((b"", b"Content-Type: text/plain; charset=UTF-8\nLanguage: de\n"), (b"a\x04one\0ones", b"eins\0viele")),
    ".tsv.gz": gzip.compress(b"one\teins\n", mtime=0),
    ".tsv.xz": lzma.compress(b"one\teins\n"),
    ".tsv.bz2": bz2.compress(b"one\teins\n"),
    ".zip": zipped({"a.tsv": "one\teins\n", "b/c.tsv": "two\tzwei\n"}),
}
"""A valid corpus of each kind."""

XML = (b"<", b"/>", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?x?>", b"&amp;", b"&#0;", b"&#x10ffff;", b"&x;")
XML += (b'<!DOCTYPE a [<!ENTITY x "y">]>', b'encoding="utf-16"', b'xmlns="x"', b'xmlns:x="y"', b"x:")
XLIFF = (b"<mrk mtype='seg' mid='1'>", b"<mrk mtype='seg'>", b"</mrk>", b"<g id='1'>", b"</g>", b"<x id='1'/>")
XLIFF += (b"<bpt id='1'>", b"</bpt>", b"<ept id='1'/>", b"<seg-source>", b"</seg-source>", b"<alt-trans>", b"<target/>")
XLIFF += (b"<pc id='1'>", b"</pc>", b"<sc id='1'/>", b"<ec startRef='1'/>", b"<segment>", b"<source>", b"</source>")
PO = (b'msgid ""\n', b'msgid "a"\n', b'msgid_plural "b"\n', b'msgstr ""\n', b'msgstr[0] ""\n', b'msgstr[1] "a"\n')
PO += (b'msgctxt "c"\n', b"#, fuzzy\n", b"#~ msgid\n", b"charset=utf-7", b"charset=utf-16", b"Plural-Forms: ", b"\\x80")
PO += (b"nplurals=2; plural=n%", b"((((", b"\\n", b'"\n"', b"Language: de\\n", b"%s", b"%1$d")
JSON = (b"{", b"}", b"[", b"]", b'"', b",", b":", b'"@a"', b"\\ud800", b"\\u0000", b"1e999", b"NaN", b"[[[[")
TEXT = (b"\n", b"\r\n", b"\r", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", "\u2028".encode(), "\ufdd0".encode(), b"%s")
TEXT += ("\U00100000".encode(), "\ue000".encode(), b"{0}", b"<b>", b"</b>", b"http://a.b/c", b"\xed\xa0\x80", b'"')
MARKS = (b"`", b"```\n", b"**", b"_", b"[a](b)", b"![", b"](", b"|", b"> ", b"- ", b"# ", b"<div>\n", b"    ", b"\\")
HTML = (
    b"<p>",
    b"</p>",
    b"<a ",
    b"='",
    b'="',
    b">",
    b"<!--",
    b"-->",
    b"<script>",
    b"</script>",
    b"&nbsp;",
    b"&#",
    b"<br>",
)
FORM = (b"&", b"=", b"%", b"\r\n", b"--x", b"q=", b"\n")
CUES = (b"\n\n", b"00:00:01,000 --> 00:00:02,000\n", b"00:01.000 --> 00:02.000\n", b"1\n", b"NOTE ", b"<i>", b"{\\an8}")
TOKENS: dict[str, tuple[bytes, ...]] = {
    **dict.fromkeys((".tmx", ".docx.xml", ".odt.xml"), XML + XLIFF),
    **dict.fromkeys((".xliff", ".xlf"), XML + XLIFF),
    ".po": PO,
    **dict.fromkeys((".json", ".jsonl"), JSON + TEXT),
    **dict.fromkeys((".csv", ".tsv"), (b";", b",", b'"', b'""', *TEXT)),
    ".txt": TEXT,
    ".md": TEXT + MARKS,
    ".html": TEXT + HTML,
    **dict.fromkeys((".srt", ".vtt"), TEXT + CUES),
}


# Documents

OPTIONS = Options(languages=Languages(source="en", target="de"))


class Shouting:
    """A translator that upper-cases."""

    card = SimpleNamespace(source="en", target="de")

    def translate(self, texts: Sequence[str], options: TranslateOptions) -> list[Translation]:
        return [self._one(text, options.alignment) for text in texts]

    @staticmethod
    def _one(text: str, alignment: bool) -> Translation:
        words = text.split()
        return Translation(
            text=text.upper(),
            log_probability=-0.1 * (len(words) + 1),
            source_tokens=tuple("▁" + word for word in words),
            tokens=tuple("▁" + word.upper() for word in words),
            alignment=tuple((i, i) for i in range(len(words))) if alignment else (),
        )


def translate_document(data: bytes, suffix: str) -> None:
    path = Path(f"document{suffix}")
    try:
        document = read_document(data, path, OPTIONS)
        written = document.write(translate_segments(list(document.segments), Shouting()))
    except TongsaError:
        return
    try:
        read_document(written, path, OPTIONS)
    except TongsaError as error:
        raise Violation(f"the translation cannot be read: {error}") from error


def translate_part(data: bytes, suffix: str, part: str) -> None:
    """The text of a packed document, which a change of packed bytes would never reach."""
    translate_document(with_part(data, part), suffix)


def with_part(data: bytes, part: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr(part, data)
    return written.getvalue()


def part_of(document: bytes, part: str) -> bytes:
    return zipfile.ZipFile(io.BytesIO(document)).read(part)


# Run directories


def read_run_file(data: bytes, name: str, read: Callable[[Path], object]) -> None:
    directory = folder() / "run"
    directory.mkdir(exist_ok=True)
    (directory / name).write_bytes(data)
    try:
        with_names(lambda: read(directory))
    finally:
        (directory / name).unlink()


def read_subwords(directory: Path) -> None:
    vocabulary = Subwords.load(directory).source
    vocabulary.decode(vocabulary.encode("one 하나 two"))


@cache
def subwords_seed() -> bytes:
    from tongsa.config import SubwordsSection
    from tongsa.text.subwords import learn

    lines = [f"one two three {n} eins zwei drei" for n in range(50)]
    return learn(lines, SubwordsSection(size=300), threads=1).model


def read_checkpoint(directory: Path) -> None:
    """Checkpoints of older versions have no checksums, so their files are read as they are."""
    from tongsa.training.checkpoint import Checkpoint

    checkpoint = Checkpoint(directory)
    checkpoint.problem()
    if (directory / "progress.json").is_file():
        checkpoint.progress()
    if (directory / "weights.safetensors").is_file():
        checkpoint.weights()


@cache
def checkpoint_seed(name: str) -> bytes:
    import torch

    from tongsa.training.checkpoint import Progress, save_checkpoint

    weights = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.zeros(2, dtype=torch.int64)}
    checkpoint = save_checkpoint(folder() / "checkpoints", weights, weights, Progress(update=7, score=1.5))
    return (checkpoint.folder / name).read_bytes()


def golden(name: str) -> list[bytes]:
    return [(HERE.parent / "golden" / "translator-1" / name).read_bytes()]


# HTTP

KINDS = (b"application/json", b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=x", b"text/plain")


def http_parameters(data: bytes) -> None:
    """The first byte chooses content type and schema; a line is the query; the rest is the body."""
    from starlette.requests import Request

    from tongsa.server.api import deepl_schemas, schemas
    from tongsa.server.http.parameters import Parameters, decode, validate
    from tongsa.server.http.refusals import Refusal

    models = sorted(
        {
            each
            for module in (schemas, deepl_schemas)
            for each in vars(module).values()
            if isinstance(each, type) and issubclass(each, Parameters) and each is not Parameters
        },
        key=lambda model: model.__name__,
    )
    choice = data[0] if data else 0
    query, _, body = data[1:].partition(b"\n")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {
        "type": "http",
        "app": None,
        "method": "POST",
        "path": "/",
        "headers": [(b"content-type", KINDS[choice % len(KINDS)])],
        "query_string": query,
    }
    refusals: list[Refusal] = []
    try:
        given = asyncio.run(decode(Request(scope, receive), ("text",)))
    except Refusal as refusal:
        refusals.append(refusal)
        models = []
    for model in models:
        try:
            validate(given, model)
        except Refusal as refusal:
            refusals.append(refusal)
    for refusal in refusals:
        if not 400 <= refusal.status < 500:
            raise Violation(f"status {refusal.status}") from refusal


def http_seeds() -> list[bytes]:
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\ntext\r\n--x--\r\n'
    return [
        b'\0\n{"q": ["one", "two"], "source": "en", "target": "de", "format": "html", "alternatives": 1}',
        b"\1a=b\nq=one&source=en&target=de&text=a&text=b",
        b"\2\n" + part,
    ]


def _targets() -> list[Target]:
    found = [
        Target(f"read{suffix}", partial(read_corpus, suffix=suffix), lambda seed=seed: [seed], TOKENS.get(suffix, ()))
        for suffix, seed in CORPORA.items()
    ]
    found.append(Target("read.aligned", read_aligned, lambda: [b"eins\nzwei\n"], TEXT))
    for name, sample in SAMPLES.items():
        suffix = Path(name).suffix
        run = partial(translate_document, suffix=suffix)
        found.append(Target(f"document{suffix}", run, lambda seed=sample: [seed], TOKENS.get(suffix, ())))
    for suffix, part, sample in (
        (".docx", "word/document.xml", SAMPLES["letter.docx"]),
        (".odt", "content.xml", SAMPLES["letter.odt"]),
    ):
        run = partial(translate_part, suffix=suffix, part=part)
        seeds = lambda sample=sample, part=part: [part_of(sample, part)]  # noqa: E731
        found.append(Target(f"document{suffix}.xml", run, seeds, TOKENS[f"{suffix}.xml"]))
    found += [
        Target(
            "run.card",
            partial(read_run_file, name="translator.json", read=lambda directory: Run(directory).read_card()),
            partial(golden, "translator.json"),
            JSON,
        ),
        Target(
            "run.recipe",
            partial(
                read_run_file,
                name="recipe.toml",
                read=lambda directory: Recipe.from_values(read_toml(directory / "recipe.toml"), str(directory)),
            ),
            lambda: [Recipe().to_toml().encode()],
            (b"[", b"]", b"=", b"\n", b"1e999", b"-1", b"nan", b'"', b"true"),
        ),
        Target(
            "run.subwords",
            partial(read_run_file, name="subwords.model", read=read_subwords),
            lambda: [subwords_seed()],
        ),
        *(
            Target(
                f"run.{name.partition('.')[0]}",
                partial(read_run_file, name=name, read=read_checkpoint),
                lambda name=name: [checkpoint_seed(name)],
                JSON,
            )
            for name in ("progress.json", "weights.safetensors", "checksums.json")
        ),
        Target("http.parameters", http_parameters, http_seeds, JSON + FORM),
    ]
    return found


TARGETS: dict[str, Target] = {target.name: target for target in _targets()}
