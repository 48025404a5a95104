"""The smallest PNG writer: one colour whose opacity is the picture. It suits light and dark paper alike."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence


def png(rows: Sequence[Sequence[int]], colour: tuple[int, int, int]) -> bytes:
    """Opacities from 0 to 255, row by row, as an RGBA picture."""
    height, width = len(rows), len(rows[0])
    pixels = b"".join(b"\0" + b"".join(bytes((*colour, alpha)) for alpha in row) for row in rows)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )


def data_uri(picture: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(picture).decode()
