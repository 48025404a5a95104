from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tongsa.base.errors import CorpusError
from tongsa.formats.pictures import is_grey, labelled_pictures, open_picture, pixels, write_png

Image = pytest.importorskip("PIL.Image")


def test_pictures_have_the_label_of_their_folder(tmp_path: Path) -> None:
    for name in ("cat/1.png", "dog/2.png", "dog/.hidden.png", "3.png", "dog/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_png(tmp_path / name, np.zeros((2, 2)))
    found = list(labelled_pictures(tmp_path))
    assert found == [("cat", tmp_path / "cat" / "1.png"), ("dog", tmp_path / "dog" / "2.png")]


def test_what_was_written_is_read_and_scaled_only_if_its_size_differs(tmp_path: Path) -> None:
    values = np.arange(24, dtype=np.uint8).reshape(4, 6) * 10
    write_png(tmp_path / "a.png", values)
    picture = open_picture(tmp_path / "a.png")
    assert is_grey(picture)
    assert np.array_equal(pixels(picture, height=4, width=6, channels=1), values[None])
    assert np.array_equal(pixels(picture, height=4, width=6, channels=3), np.stack([values] * 3))
    assert pixels(picture, height=2, width=3, channels=1).shape == (1, 2, 3)


def test_sixteen_bits_and_colours_keep_their_brightness(tmp_path: Path) -> None:
    Image.fromarray((np.full((2, 2), 0x8000)).astype(np.uint16)).save(tmp_path / "deep.png")
    deep = pixels(open_picture(tmp_path / "deep.png"), height=2, width=2, channels=1)
    assert deep.tolist() == [[[128, 128], [128, 128]]]
    Image.new("RGB", (3, 2), (255, 0, 10)).save(tmp_path / "red.png")
    red = open_picture(tmp_path / "red.png")
    assert not is_grey(red)
    assert pixels(red, height=2, width=3, channels=3)[:, 0, 0].tolist() == [255, 0, 10]


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n\0\0"])
def test_a_damaged_picture_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(CorpusError, match=r"a\.png cannot be read as a picture"):
        open_picture(tmp_path / "a.png")


def test_a_folder_without_pictures_says_how_they_are_laid_out(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="has no pictures in folders"):
        list(labelled_pictures(tmp_path))
    with pytest.raises(CorpusError, match="is not a folder"):
        list(labelled_pictures(tmp_path / "nothing"))
