"""Conversions of tables to those of other libraries.

They are functions of Python, since consumers of a stream release the interpreter while the native code that called them
would believe to have it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ._lttv import Table

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow

T = TypeVar("T")


def converted(table: Table, convert: Callable[[Table], T]) -> T:
    """Returns the result of a consumer. What the stream met itself comes before errors of the consumer."""
    try:
        result = convert(table)
    except Exception:
        table._raise_met()
        raise
    table._raise_met()
    return result


def to_arrow(self: Table) -> pyarrow.Table:
    """Returns the rows as a table of `pyarrow`."""
    import pyarrow

    return converted(self, pyarrow.table)


def to_polars(self: Table) -> polars.DataFrame:
    """Returns the rows as a frame of `polars`."""
    import polars

    return converted(self, polars.DataFrame)


def to_pandas(self: Table) -> pandas.DataFrame:
    """Returns the rows as a frame of `pandas`, whose columns have the types of Arrow, so that integers stay exact."""
    import pandas

    # The stubs of pyarrow do not tell the type of one of the parameters.
    frame: pandas.DataFrame = to_arrow(self).to_pandas(  # pyright: ignore[reportUnknownMemberType]
        types_mapper=pandas.ArrowDtype
    )
    return frame


def to_duckdb(self: Table) -> duckdb.DuckDBPyRelation:
    """Returns the rows as a relation of `duckdb`."""
    import duckdb

    return duckdb.from_arrow(to_arrow(self))


def lazy(self: Table) -> polars.LazyFrame:
    """Returns a lazy frame of `polars`, which reads only the columns and rows that a query needs."""
    from ._polars import lazy

    return lazy(self)


functions: tuple[Callable[[Table], object], ...] = (to_arrow, to_polars, to_pandas, to_duckdb, lazy)
for function in functions:
    setattr(Table, function.__name__, function)
