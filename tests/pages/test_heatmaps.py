from __future__ import annotations

import struct
import zlib

import torch

from tongsa.engines.inspection import Kind, shown
from tongsa.pages.examples import Example
from tongsa.pages.heatmaps import draw_map, opacities, png
from tongsa.pages.translation import pictured
from tongsa.translation.translator import Translator


def test_a_png_holds_its_pixels() -> None:
    picture = png([[0, 128, 255], [7, 8, 9]], (1, 2, 3))
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", picture[16:24]) == (3, 2)
    length = struct.unpack(">I", picture[33:37])[0]
    body = picture[41 : 41 + length]
    assert struct.unpack(">I", picture[41 + length : 45 + length])[0] == zlib.crc32(b"IDAT" + body)
    pixels = zlib.decompress(body)
    assert pixels == bytes([0, 1, 2, 3, 0, 1, 2, 3, 128, 1, 2, 3, 255, 0, 1, 2, 3, 7, 1, 2, 3, 8, 1, 2, 3, 9])


def test_ink_is_the_square_root_of_the_weight() -> None:
    assert opacities([[0.0, 0.25, 1.0]]) == [[0, 128, 255]]


def test_tokens_are_written_as_they_are_read() -> None:
    assert [shown(token) for token in ("▁학교", "에서", ".", "▁", "</s>", "<start>")] == [
        "학교",
        "·에서",
        ".",
        "␣",
        "‹end›",
        "‹start›",
    ]


def test_the_sharpest_layer_is_the_one_that_looks_somewhere() -> None:
    even, sharp = torch.full((2, 3, 4), 0.25), torch.zeros(2, 3, 4)
    sharp[:, :, 1] = 1
    assert Kind("cross", "", (), (), [even, sharp, even]).sharpest() == 1


def test_rows_and_columns_have_a_token_each(translator: Translator) -> None:
    found = translator.inspect("고양이가 개를 봐요", "the cat sees the dog").kinds()
    assert [kind.title for kind in found] == [
        "Encoder–decoder attention",
        "Encoder self-attention",
        "Decoder self-attention",
    ]
    for kind in found:
        for layer in kind.layers:
            assert layer.shape[1:] == (len(kind.queries), len(kind.keys))
            assert torch.allclose(layer.sum(dim=-1), torch.ones(layer.shape[:2]), atol=1e-4)
    decoder = found[2]
    assert decoder.keys[0] == "<start>"
    assert float(decoder.layers[0][:, 0, 1:].sum()) == 0, "the first step sees nothing but the start"


def test_short_sentences_that_begin_differently_are_chosen() -> None:
    texts = ["a cat sees it", "a cat sees me", "two birds sing here", "word " * 50, "we read books now"]
    examples = [Example(text, "", "", None) for text in texts]
    assert pictured(examples, [90.0] * 5, lambda text: len(text.split())) == [0, 2, 4]


def test_a_map_has_its_names_and_lets_no_markup_through() -> None:
    drawn = draw_map([[0.0, 1.0], [0.5, 0.5]], ["<b>", "two"], ["x", "y"], "<i>")
    assert drawn.count("<text") == 4
    assert "<b>" not in drawn
    assert "<i>" not in drawn
    assert 'data-rows="2" data-columns="2"' in drawn
