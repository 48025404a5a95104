"""The same pairs make the same translator, whatever file they come in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.training.conftest import SETTINGS

import tongsa
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.formats.writers import write_corpus

READING = Reading(source="ko", target="en")
FEW = {**SETTINGS, "training.updates": "3", "training.validate_every": "3"}


@pytest.fixture(scope="module")
def plain(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Aligned files with pairs that come twice, sources that have two translations, marks that formats escape."""
    prefix = tmp_path_factory.mktemp("formats") / "train"
    pairs = [(pair.source, pair.target) for pair in open_corpus([corpus], READING)]
    pairs += [
        pairs[0],
        (pairs[1][0], pairs[2][1]),
        ('책 <b>"%s"</b> & \\n', 'a <b>"%s"</b> & \\n book'),
        ("예,", "a;b,c"),
    ]
    for side, language in enumerate(("ko", "en")):
        prefix.with_suffix(f".{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return prefix


@pytest.fixture(scope="module")
def trained(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    def train(corpus: Path) -> Path:
        out = tmp_path_factory.mktemp("trained") / "ko-en"
        tongsa.train(corpus, source="ko", target="en", out=out, settings=FEW, recipe="tiny", threads=1, device="cpu")
        return out

    return train


@pytest.fixture(scope="module")
def from_plain(plain: Path, trained: Callable[[Path], Path]) -> Path:
    return trained(plain)


@pytest.mark.parametrize("suffix", [".tmx", ".po", ".xliff", ".tsv", ".csv", ".jsonl", ".tmx.gz"])
def test_a_translator_is_the_same_whatever_format_its_corpus_has(
    suffix: str, plain: Path, from_plain: Path, trained: Callable[[Path], Path], tmp_path: Path
) -> None:
    changed = write_corpus(open_corpus([plain], READING), tmp_path / f"corpus{suffix}", READING)
    assert set(changed) == {"written"}
    other = trained(tmp_path / f"corpus{suffix}")
    for part in ("train", "valid"):
        files = sorted(path.name for path in (from_plain / "data" / part).iterdir())
        for name in files:
            assert (other / "data" / part / name).read_bytes() == (from_plain / "data" / part / name).read_bytes(), name
    assert (other / "weights.safetensors").read_bytes() == (from_plain / "weights.safetensors").read_bytes()
