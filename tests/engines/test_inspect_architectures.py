"""Every architecture is inspected through the same door, and shows the kinds that it has."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from small_translators import random_translator
from tongsa.config.architectures import section_class
from tongsa.engines.inspection import payload
from tongsa.models import Seq2Seq, architectures_of
from tongsa.pages.attention import page
from tongsa.translation.translator import Translator

ATTENDING = {
    "transformer": ["cross", "encoder", "decoder"],
    "transformer-next-word": ["cross", "encoder", "decoder"],
    "gru-attention": ["cross"],
    "lstm-attention": ["cross"],
    "convs2s": ["cross"],
}
SMALL = {"encoder_layers": 2, "decoder_layers": 2, "layers": 2, "heads": 2}


@pytest.mark.parametrize("name", architectures_of(Seq2Seq))
def test_an_architecture_shows_the_kinds_that_it_has(name: str, tmp_path: Path) -> None:
    section = section_class(name)
    few = {field.name: SMALL[field.name] for field in fields(section) if field.name in SMALL}
    config = section(architecture=name, d_model=32, **few)  # type: ignore[arg-type]
    translator = Translator.load(random_translator(tmp_path / "t", config=config), engine="native")  # type: ignore[arg-type]
    seen = translator.inspect("고양이가 자요.", "The cat sleeps.")
    assert [kind.name for kind in seen.kinds()] == ATTENDING.get(name, [])
    values = payload(seen)
    assert {kind for kind in ("cross", "encoder", "decoder") if values[kind]} == set(ATTENDING.get(name, []))
    assert f'"architecture":"{name}"' in page(seen)
