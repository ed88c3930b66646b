"""Tables: the same rows through all consumers of Arrow."""

from __future__ import annotations

import collections
import pathlib

import pytest

import lttv

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")


def test_all_consumers_find_the_same(kernel: lttv.Trace) -> None:
    table = kernel.table("sched_switch")
    events = list(kernel.events("sched_switch"))
    wanted = [event["next_tid"] for event in events]
    times = [event.ts for event in events]
    for _ in range(2):
        assert pa.table(table)["next_tid"].to_pylist() == wanted
        assert pl.DataFrame(table)["next_tid"].to_list() == wanted
        assert table.to_pandas()["next_tid"].tolist() == wanted
        rows_of = table
        rows = duckdb.sql("select sum(next_tid), count(*), min(ts), max(ts) from rows_of").fetchall()
        assert rows == [(sum(wanted), len(wanted), times[0], times[-1])]
    assert [row["next_tid"] for row in table.to_dicts()] == wanted
    assert len(table) == len(wanted)
    assert table.to_polars()["timestamp"].dtype == pl.Datetime("ns")
    assert table.to_polars()["timestamp"].cast(pl.Int64).to_list() == times


def test_every_table_has_all_rows(kernel: lttv.Trace) -> None:
    counts = collections.Counter(event.name for event in kernel)
    everything = kernel.table()
    assert "fields" in everything.columns and len(everything) == 6087
    assert pl.DataFrame(everything)["name"].value_counts().height == len(counts)


@pytest.mark.parametrize("name", ["ust", "ust-ctf2", "ust-threads", "legacy", "ftrace", "perf"])
def test_values_are_those_of_events(traces: pathlib.Path, name: str) -> None:
    trace = lttv.open(traces / name)
    for event_type in trace.table_names:
        events = list(trace.events(where=f'name == "{event_type}"'))
        rows = trace.table(event_type).to_dicts()
        assert [row["ts"] for row in rows] == [event.ts for event in events]
        for row, event in zip(rows, events):
            for field, value in event.fields.items():
                if isinstance(value, str):
                    # Bytes that are not UTF-8 are written as `\\xNN`.
                    value = value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
                if isinstance(value, (int, str)) and field in row:
                    assert row[field] == (int(value) if isinstance(value, int) else value)


def test_all_tables_are_read_at_once(kernel: lttv.Trace) -> None:
    tables = kernel.tables()
    counts = collections.Counter(event.name for event in kernel)
    assert {name: len(table) for name, table in tables.items()} == counts
    for name in kernel.table_names:
        rows = kernel.table(name).to_dicts()
        assert (tables[name].to_dicts() if name in tables else []) == rows, name
    some = kernel.tables("sched_*", where="cpu > 2", begin="+10ms")
    assert all(name.startswith("sched_") for name in some)
    expected = kernel.table("sched_switch", where="cpu > 2", begin="+10ms").to_dicts()
    assert some["sched_switch"].to_dicts() == expected


def test_columns_and_windows(kernel: lttv.Trace) -> None:
    table = kernel.table("sched_switch", "ts", "next_comm")
    assert table.columns == ["ts", "next_comm"]
    assert pa.table(table).column_names == ["ts", "next_comm"]
    assert table.select("next_comm").columns == ["next_comm"]
    with pytest.raises(KeyError, match="no column nothing, but ts, next_comm"):
        table.select("nothing")
    with pytest.raises(KeyError, match="no trace has events of type nothing"):
        kernel.table("nothing")
    idle = kernel.table("sched_switch", where="next_tid == 0", end="+200ms")
    expected = list(kernel.events("sched_switch", where="next_tid == 0", end="+200ms"))
    assert [row["ts"] for row in idle.to_dicts()] == [event.ts for event in expected]
    states = pl.DataFrame(kernel.table("sched_switch", kernel_state=True))
    assert states["state_tid"].to_list() == states["next_tid"].to_list()


def test_integers_stay_exact(tmp_path: pathlib.Path) -> None:
    with lttv.Writer(tmp_path / "t", {"e": {"n": "uint64", "o": "int32 | None", "t": "str"}}) as out:
        out.write("e", 1, {"n": 2**64 - 1, "o": None, "t": "a"})
        out.write("e", 2, {"n": 2**63 + 1, "o": 5, "t": "b"})
    table = lttv.open(tmp_path / "t").table("e")
    assert pl.DataFrame(table)["n"].to_list() == [2**64 - 1, 2**63 + 1]
    frame = table.to_pandas()
    assert frame["n"].tolist() == [2**64 - 1, 2**63 + 1]
    assert frame["o"].tolist()[1] == 5 and "float" not in str(frame["o"].dtype)
    assert pa.table(table)["o"].to_pylist() == [None, 5]
    rows_of = table
    assert duckdb.sql("select max(n) from rows_of").fetchall() == [(2**64 - 1,)]


@pytest.mark.parametrize("rows", [0, 1, 65_537])
def test_batches(tmp_path: pathlib.Path, rows: int) -> None:
    with lttv.Writer(tmp_path / "t", {"e": {"n": "uint32"}, "other": {}}) as out:
        out.write("other", 0)
        for number in range(rows):
            out.write("e", number, {"n": number})
    table = lttv.open(tmp_path / "t").table("e")
    assert len(table) == rows
    assert sum(len(batch) for batch in table.batches()) == rows
    assert pl.DataFrame(table)["n"].sum() == rows * (rows - 1) // 2
    assert pa.table(table).num_rows == rows
    assert len(table.to_pandas()) == rows
    rows_of = table
    assert duckdb.sql("select count(*) from rows_of").fetchall() == [(rows,)]


def test_several_layouts_of_a_name(tmp_path: pathlib.Path) -> None:
    with lttv.Writer(tmp_path / "all/a", {"e": {"n": "uint8", "a": "str"}}) as out:
        out.write("e", 1, {"n": 255, "a": "x"})
    with lttv.Writer(tmp_path / "all/b", {"e": {"n": "int32", "b": {"c": "float64"}}}) as out:
        out.write("e", 2, {"n": -5, "b": {"c": 0.5}})
    rows = lttv.open(tmp_path / "all").table("e").to_dicts()
    assert [row["n"] for row in rows] == [255, -5]
    assert [row["a"] for row in rows] == ["x", None]
    assert [row["b"] for row in rows] == [None, {"c": 0.5}]


def test_lazy_frames(kernel: lttv.Trace) -> None:
    frame = kernel.table("sched_switch").lazy()
    query = frame.filter(pl.col("next_tid") == 0).group_by("cpu").agg(pl.len()).sort("cpu")
    first, second = query.collect(), query.collect()
    assert first.equals(second) and first["len"].sum() > 0
    assert frame.select("next_comm").head(3).collect().height == 3


def test_damage_is_raised_on_request(traces: pathlib.Path, tmp_path: pathlib.Path) -> None:
    target = tmp_path / "cut"
    target.mkdir()
    for path in (traces / "kernel" / "kernel").iterdir():
        if path.is_file():
            (target / path.name).write_bytes(path.read_bytes())
    for path in target.glob("sched_*"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    trace = lttv.open(target)
    with pytest.warns(lttv.DamageWarning):
        whole = trace.table("sched_switch").to_polars()
    assert 0 < len(whole) < 497
    with pytest.raises(Exception, match="sched_"):
        pl.DataFrame(trace.table("sched_switch", errors="raise"))
    with pytest.raises(Exception, match="sched_"):
        pa.table(trace.table("sched_switch", errors="raise"))
    with pytest.warns(lttv.DamageWarning):
        assert len(trace.tables("sched_switch")["sched_switch"]) == len(whole)
    with pytest.raises(lttv.TraceError, match="sched_"):
        trace.tables("sched_switch", errors="raise")


def test_notebooks_show_tables(kernel: lttv.Trace) -> None:
    html = kernel.table("sched_switch", "ts", "next_comm")._repr_html_()
    assert html.startswith("<table>") and html.count("<tr>") == 12
    assert repr(kernel.table("sched_switch", "ts")) == "<Table sched_switch: ts>"
