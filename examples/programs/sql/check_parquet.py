#!/usr/bin/env python3
"""Reads an export as Parquet with pyarrow, DuckDB and polars, and compares what they find.

Usage: check_parquet.py DIRECTORY [ROWS]

All rows of all columns are read. Each engine must find the same number of rows in each folder, the
same sum of the lengths of texts and the same first and last time; and ROWS rows in all folders of
event types, if given. Engines that are not installed are skipped, and named. The exit status is 1 if
two engines differ.
"""

import importlib
import pathlib
import sys


def with_pyarrow(files):
    import pyarrow as arrow
    import pyarrow.compute as compute
    import pyarrow.parquet as parquet

    table = arrow.concat_tables([parquet.read_table(file, partitioning=None) for file in files])
    texts = 0
    for column, field in zip(table.columns, table.schema):
        if arrow.types.is_string_view(field.type) or arrow.types.is_string(field.type):
            lengths = compute.utf8_length(column.cast(arrow.string()))
            texts += compute.sum(lengths).as_py() or 0
    times = None
    if "timestamp" in table.column_names:
        ends = compute.min_max(table["timestamp"].cast(arrow.int64())).as_py()
        times = (ends["min"], ends["max"])
    return table.num_rows, texts, times


def with_duckdb(files):
    import duckdb

    names = "[" + ",".join("'" + str(file).replace("'", "''") + "'" for file in files) + "]"
    source = f"read_parquet({names}, hive_partitioning = false)"
    columns = duckdb.sql(f"describe select * from {source}").fetchall()
    texts = [f'coalesce(sum(length("{name}")), 0)' for name, kind, *_ in columns if kind == "VARCHAR"]
    # All nested values are read as well.
    nested = [f'count("{name}")' for name, kind, *_ in columns if kind.startswith(("STRUCT",)) or kind.endswith("[]")]
    has_time = any(name == "timestamp" for name, *_ in columns)
    times = ["epoch_ns(min(timestamp))", "epoch_ns(max(timestamp))"] if has_time else []
    row = duckdb.sql(f"select {', '.join(['count(*)'] + texts + times + nested)} from {source}").fetchall()[0]
    sum_of_texts = sum(int(value) for value in row[1 : 1 + len(texts)])
    at = 1 + len(texts)
    return row[0], sum_of_texts, tuple(row[at : at + 2]) if has_time else None


def with_polars(files):
    import polars

    table = polars.concat([polars.read_parquet(file, hive_partitioning=False) for file in files])
    texts = sum(table[name].str.len_chars().sum() for name, kind in table.schema.items() if kind == polars.String)
    times = None
    if "timestamp" in table.columns:
        column = table["timestamp"].cast(polars.Int64)
        times = (column.min(), column.max())
    return table.height, texts, times


ENGINES = {"pyarrow": with_pyarrow, "duckdb": with_duckdb, "polars": with_polars}


def main(directory, rows=None):
    engines = {}
    for name, read in ENGINES.items():
        try:
            importlib.import_module(name)
            engines[name] = read
        except ImportError:
            print(f"SKIPPED: {name} is not installed")
    if not engines:
        return 0
    total, differences, folders = 0, 0, sorted(pathlib.Path(directory).iterdir())
    for folder in folders:
        files = sorted(folder.glob("*.parquet"))
        found = {name: read(files) for name, read in engines.items()}
        if len(set(found.values())) > 1:
            differences += 1
            print(f"{folder.name}: {found}")
        if folder.name.startswith("name="):
            total += next(iter(found.values()))[0]
    print(f"{total} rows in {len(folders)} folders read by {', '.join(engines)}")
    if rows is not None and total != int(rows):
        print(f"{rows} rows were expected")
        differences += 1
    return 1 if differences else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
