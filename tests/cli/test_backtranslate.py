"""`tongsa backtranslate`: a corpus from text in one language, and training with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Tongsa
from small_translators import learnt_translator, sentences
from tongsa.corpus.synthetic import Synthetic
from tongsa.formats.pairs import Reading, Tally, open_corpus
from tongsa.tasks.finetuning import Mixture


@pytest.fixture
def korean(tmp_path: Path) -> Path:
    lines = [pair[0] for pair in sentences(3)]
    (tmp_path / "news.ko").write_text("\n".join([lines[0], "", *lines[1:]]) + "\n", encoding="utf-8")
    return tmp_path / "news.ko"


def test_text_of_the_target_language_gets_tagged_synthetic_sources(
    tongsa: Tongsa, korean: Path, tmp_path: Path
) -> None:
    translator = learnt_translator(tmp_path / "ko-en")
    given = ("backtranslate", translator, korean, "--beam", "1", "--engine", "native")
    done = tongsa(*given, "--out", tmp_path / "synthetic")
    assert done.code == 0, done.err
    english, back = ((tmp_path / f"synthetic.{code}").read_text(encoding="utf-8").splitlines() for code in ("en", "ko"))
    assert back == [line for line in korean.read_text(encoding="utf-8").splitlines() if line][: len(back)]
    assert english
    assert all(line.startswith("<BT> ") for line in english)
    assert "with an empty side" in done.out
    assert "--mix" in done.out
    assert not (tmp_path / "synthetic.translations").exists()


def synthetic(tmp_path: Path, originals: list[str], translations: list[str], **options: bool | str) -> Synthetic:
    (tmp_path / "text").write_text("\n".join(originals) + "\n", encoding="utf-8")
    (tmp_path / "translations").write_text("\n".join(translations) + "\n", encoding="utf-8")
    return Synthetic(
        text=tmp_path / "text",
        translations=tmp_path / "translations",
        language="de",
        other="en",
        **options,  # type: ignore[arg-type]
    )


def test_broken_translations_are_left_out_and_counted(tmp_path: Path) -> None:
    german = ["Das Wetter ist heute schön.", "Ein Mann geht heute die Straße entlang.", "Guten Morgen."]
    english = ["The the the the the the", "Ein Mann geht heute die Straße entlang.", "Good morning."]
    tally = Tally()
    pairs = list(synthetic(tmp_path, german, english).pairs(tally))
    assert [(pair.source, pair.target) for pair in pairs] == [("<BT> Good morning.", "Guten Morgen.")]
    assert (tally.seen, tally.kept) == (3, 1)
    assert any("repeats itself" in line for line in tally.lines())


def test_forward_pairs_have_the_text_as_their_source_and_no_tag(tmp_path: Path) -> None:
    tally = synthetic(tmp_path, ["Guten Morgen."], ["Good morning."], forward=True).write(tmp_path / "forward")
    assert tally.kept == 1
    assert (tmp_path / "forward.de").read_text(encoding="utf-8") == "Guten Morgen.\n"
    assert (tmp_path / "forward.en").read_text(encoding="utf-8") == "Good morning.\n"


def test_a_ratio_of_the_synthetic_pairs_is_mixed_in_and_none_is_held_out(tmp_path: Path) -> None:
    for name, count in (("real", 20), ("made", 400)):
        for side, language in enumerate(("ko", "en")):
            lines = "".join(f"{pair[side]}\n" for pair in sentences(count))
            (tmp_path / f"{name}.{language}").write_text(lines, encoding="utf-8")
    real, made = (open_corpus([str(tmp_path / name)], Reading(source="ko", target="en")) for name in ("real", "made"))
    mixed = list(Mixture.of(real, made, 2.0, seed=1, hold_out=False))
    assert mixed[:20] == list(real)
    assert 20 <= len(mixed) - 20 <= 60
    assert list(Mixture.of(real, made, 30.0, seed=1, hold_out=False))[20:] == list(made), "all of it, if it is little"
