"""Parquet: columns with the languages' codes, `source` and `target`, or a struct `translation` of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tongsa.base.containers import open_bytes
from tongsa.base.errors import CorpusError, MissingExtraError
from tongsa.base.files import replacing
from tongsa.formats.csv import named_columns
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.writers import WritePair
from tongsa.text.lines import nfc

ROWS = 4096
BLOCK_BYTES = 1 << 26
"""Fewer rows are read at a time if they have more bytes than this."""


def read_pairs(path: Path, reading: Reading) -> Iterator[Pair]:
    pyarrow = arrow()
    number = 0
    with open_bytes(path) as file:
        try:
            columns = _columns(path, pyarrow.parquet.ParquetFile(file).schema_arrow, reading)
            # Repeated texts stay one text: expanded, a file of 500 bytes can have gigabytes.
            table = pyarrow.parquet.ParquetFile(file, read_dictionary=[c.replace("\0", ".") for c in columns])
            names = [column.split("\0")[0] for column in columns]
            for batch in table.iter_batches(batch_size=_rows(table.metadata), columns=names):
                for source, target in zip(*(_values(batch, column) for column in columns), strict=True):
                    number += 1
                    where = Place(path, f"row {number:,}")
                    if isinstance(source, str) and isinstance(target, str):
                        yield Pair(nfc(source), nfc(target), where)
                    else:
                        reading.left_out.drop("rows without text", where)
        except (
            pyarrow.ArrowException,
            OSError,
            ValueError,
            OverflowError,
        ) as error:  # ValueError: text that is not UTF-8
            raise CorpusError(f"{path} cannot be read after row {number:,}: {error}") from error


@contextmanager
def write_pairs(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[WritePair]:
    pyarrow = arrow()
    names = [reading.source, reading.target]
    schema = pyarrow.schema([(name, pyarrow.string()) for name in names])
    rows: list[Pair] = []
    with replacing(path) as temporary, pyarrow.parquet.ParquetWriter(str(temporary), schema) as file:

        def flush() -> None:
            columns = [[pair[side] for pair in rows] for side in (0, 1)]
            file.write_table(pyarrow.table(dict(zip(names, columns, strict=True)), schema=schema))
            rows.clear()

        def write(pair: Pair) -> None:
            rows.append(pair)
            if len(rows) == ROWS:
                flush()

        yield write
        if rows:
            flush()


def arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "parquet") from error
    return pyarrow


def _columns(path: Path, schema: Any, reading: Reading) -> list[str]:
    """Return the names of the two columns; a column inside a struct is `translation\\0en`."""
    names = list(schema.names)
    if found := named_columns(names, reading):
        return [names[place] for place in found]
    if "translation" in names and hasattr(schema.field("translation").type, "fields"):
        inner = [field.name for field in schema.field("translation").type.fields]
        if found := named_columns(inner, reading):
            return [f"translation\0{inner[place]}" for place in found]
    raise CorpusError(
        f"{path} has no columns {reading.source} and {reading.target}",
        "Nor does it have source and target, or a struct `translation` of them.",
        f"Its columns are: {', '.join(names)}",
    )


def _rows(metadata: Any) -> int:
    """Return how many rows to read at a time, fewer if the texts are long."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    longest = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=0)
    return max(1, min(ROWS, BLOCK_BYTES // max(1, longest)))


def _values(batch: Any, column: str) -> Iterator[Any]:
    outer, _, inner = column.partition("\0")
    values = batch.column(outer)
    if inner:
        values = values.flatten()[values.type.get_field_index(inner)]
    return (value.as_py() for value in values)
