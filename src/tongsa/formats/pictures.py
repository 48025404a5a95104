"""Pictures as arrays, read by Pillow: single files, and folders that hold a folder of pictures for each label."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tongsa.base.containers import files_in
from tongsa.base.errors import CorpusError, MissingExtraError

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".png", ".jpg", ".jpeg")
GREY = ("1", "L", "LA", "I", "I;16", "F")
"""Pillow's modes of pictures without colours."""

Pixels = NDArray[np.uint8]
"""(channels, height, width)"""


def labelled_pictures(folder: Path) -> Iterator[tuple[str, Path]]:
    """The pictures below a folder, each with its label: the name of the folder that it is in."""
    if not folder.is_dir():
        raise CorpusError(
            f"{folder} is not a folder of pictures", "It holds a folder for each label:  FOLDER/cat/1.png"
        )
    count = 0
    for path in files_in(folder):
        if path.suffix.lower() in SUFFIXES and path.parent != folder:
            count += 1
            yield path.parent.name, path
    if not count:
        raise CorpusError(
            f"{folder} has no pictures in folders ({' '.join(SUFFIXES)})",
            "It holds a folder for each label:  FOLDER/cat/1.png",
        )


def open_picture(path: Path) -> Image:
    """Open a picture of any kind that Pillow reads."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise MissingExtraError("Pillow", "pictures", needed_by="reading pictures") from error
    try:
        picture = Image.open(path)
        picture.load()
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise CorpusError(f"{path} cannot be read as a picture: {error}") from error
    return picture


def is_grey(picture: Image) -> bool:
    return picture.mode in GREY


def pixels(picture: Image, *, height: int, width: int, channels: int) -> Pixels:
    """The picture in this size, as shades of grey (1 channel) or colours (3)."""
    if picture.mode == "I;16":  # Pillow would clip it
        picture = _from_16_bits(picture)
    converted = picture.convert("L" if channels == 1 else "RGB")
    if converted.size != (width, height):
        converted = converted.resize((width, height))
    values = np.asarray(converted, dtype=np.uint8)
    return np.ascontiguousarray(values[None] if channels == 1 else values.transpose(2, 0, 1))


def write_png(path: Path, values: NDArray[Any]) -> None:
    """Write shades of grey (height, width), 0 to 255, as a picture."""
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        raise MissingExtraError("Pillow", "pictures", needed_by="writing pictures") from error
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(values, dtype=np.uint8), mode=None).save(path, format="PNG")


def _from_16_bits(picture: Image) -> Image:
    from PIL import Image

    return Image.fromarray((np.asarray(picture, dtype=np.uint16) >> 8).astype(np.uint8))
