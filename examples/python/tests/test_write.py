"""Writing: values and tables come back as they were."""

from __future__ import annotations

import enum
import pathlib

import pytest

import lttv

TYPES = {
    "all": {
        "i8": "int8",
        "u64": "uint64",
        "f": "float64",
        "b": "bool",
        "t": "str",
        "blob": "bytes",
        "list": "list[int32]",
        "structs": [{"x": "uint16", "y": "str"}],
        "maybe": "str | None",
        "color": ("uint8", {"RED": 0, "OTHERS": (1, 9)}),
        "inner": {"a": "int64", "deep": {"b": "float32"}},
    },
    "none": {},
}
VALUES = {
    "i8": -128,
    "u64": 2**64 - 1,
    "f": 0.1,
    "b": True,
    "t": "héllo",
    "blob": b"\0\xff",
    "list": [1, -2, 3],
    "structs": [{"x": 1, "y": "one"}, {"x": 2, "y": "two"}],
    "maybe": None,
    "color": "RED",
    "inner": {"a": -1, "deep": {"b": 0.5}},
}


@pytest.mark.parametrize("cpus", [1, 3])
def test_values_come_back(tmp_path: pathlib.Path, cpus: int) -> None:
    env = {"hostname": "vm", "number": 7}
    with lttv.Writer(tmp_path / "t", TYPES, env=env) as out:
        for number in range(30):
            values = {**VALUES, "maybe": "x" if number % 2 else None}
            out.write("all", 1_000 + number, values, cpu=number % cpus)
        out.write("none", 5_000)
    trace = lttv.open(tmp_path / "t")
    assert trace.traces[0].format == "ctf2"
    assert trace.traces[0].env == env and trace.traces[0].hostname == "vm"
    events = list(trace)
    assert [event.ts for event in events] == [*range(1_000, 1_030), 5_000]
    for number, event in enumerate(events[:30]):
        assert event.cpu == number % cpus
        for name, value in VALUES.items():
            assert event[name] == (("x" if number % 2 else None) if name == "maybe" else value)
    assert events[-1].fields == {}


def test_wrong_values_are_refused(tmp_path: pathlib.Path) -> None:
    out = lttv.Writer(tmp_path / "t", {"e": {"n": "uint8", "t": "str"}})
    with pytest.raises(OverflowError, match="n: 256 is not from 0 to 255"):
        out.write("e", 1, {"n": 256, "t": ""})
    with pytest.raises(TypeError, match="t: expected str, not int"):
        out.write("e", 1, {"n": 1, "t": 1})
    with pytest.raises(KeyError, match="the field t is missing"):
        out.write("e", 1, {"n": 1})
    with pytest.raises(KeyError, match="there is no field x"):
        out.write("e", 1, {"n": 1, "t": "", "x": 1})
    with pytest.raises(KeyError, match="there is no event type f"):
        out.write("f", 1)
    out.write("e", 5, {"n": 1, "t": ""})
    with pytest.raises(ValueError, match="is before 5"):
        out.write("e", 4, {"n": 1, "t": ""})
    assert not (tmp_path / "t").exists()
    out.close()
    out.close()
    assert sum(1 for _ in lttv.open(tmp_path / "t")) == 1
    with pytest.raises(ValueError, match="closed"):
        out.write("e", 6, {"n": 1, "t": ""})
    with pytest.raises(ValueError, match="no type of a field"):
        lttv.Writer(tmp_path / "u", {"e": {"n": "int7"}})


def test_nothing_is_left_after_an_exception(tmp_path: pathlib.Path) -> None:
    with pytest.raises(RuntimeError):
        with lttv.Writer(tmp_path / "t", {"e": {}}) as out:
            out.write("e", 1)
            raise RuntimeError
    assert list(tmp_path.iterdir()) == []


class Color(enum.IntEnum):
    RED = 3


def test_numbers_of_other_types(tmp_path: pathlib.Path) -> None:
    with lttv.Writer(tmp_path / "t", {"e": {"n": "int32"}}) as out:
        out.write("e", 1, {"n": Color.RED})
    assert next(iter(lttv.open(tmp_path / "t")))["n"] == 3


def test_tables_come_back(kernel: lttv.Trace, tmp_path: pathlib.Path) -> None:
    table = kernel.table("sched_switch")
    lttv.write_tables(tmp_path / "t", {"sched_switch": table})
    again = lttv.open(tmp_path / "t").table("sched_switch")
    left_out = {"timestamp", "trace", "stream"}
    names = [n for n in table.columns if n not in left_out and not n.startswith("ctx_")]
    before = table.select(*names).to_dicts()
    assert sorted(again.select(*names).to_dicts(), key=repr) == sorted(before, key=repr)


def test_frames_become_traces(tmp_path: pathlib.Path) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "ts": [1, 2, 3],
            "kind": pl.Series(["a", None, "a"], dtype=pl.Categorical),
            "list": [[1], [], [2, 3]],
            "when": pl.Series([None, 5, 6], dtype=pl.Datetime("ns")),
        }
    )
    lttv.write_tables(tmp_path / "t", {"e": frame, "empty": frame.clear()}, env={"a": "b"})
    events = list(lttv.open(tmp_path / "t"))
    assert [event["kind"] for event in events] == ["a", None, "a"]
    assert [event["list"] for event in events] == [[1], [], [2, 3]]
    assert [event["when"] for event in events] == [None, 5, 6]
    with pytest.raises(ValueError, match="sorted by time"):
        lttv.write_tables(tmp_path / "u", {"e": frame.reverse()})
    with pytest.raises(KeyError, match="no column ts"):
        lttv.write_tables(tmp_path / "v", {"e": frame.drop("ts")})
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        lttv.write_tables(tmp_path / "w", {"e": [1]})
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
