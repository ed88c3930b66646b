"""Lazy frames of polars."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from polars.io.plugins import register_io_source

from ._lttv import Table


def lazy(table: Table) -> pl.LazyFrame:
    """Returns a lazy frame, whose queries read only the columns that they need."""
    schema = pl.Schema(table)

    def read(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        wanted = table if with_columns is None else table.select(*with_columns)
        rows = 0
        for batch in wanted.batches():
            frame = pl.DataFrame(batch)
            if n_rows is not None:
                frame = frame.head(n_rows - rows)
            rows += len(frame)
            yield frame if predicate is None else frame.filter(predicate)
            if n_rows is not None and rows >= n_rows:
                return

    return register_io_source(read, schema=schema)
