"""Analyses: the tables of the program."""

from __future__ import annotations

import csv
import io
import json
import pathlib
import pickle
import subprocess
import threading

import pytest

import lttv


def tables_of(program: str, *words: str) -> dict[str, list[dict[str, object]]]:
    command = [program, "--no-config", *words, "--format", "json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)


def unquoted(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Texts of histories are in quotes in the output of the program."""
    return [{**row, "value": str(row["value"]).strip('"')} for row in rows]


CASES = [
    ("latency", {}, ["latency"]),
    ("latency", {"family": "syscall", "by": "thread", "top": 5}, ["latency", "--family", "syscall", "--by", "thread", "--top", "5"]),
    ("latency", {"family": ["irq", "softirq"], "every": "10ms"}, ["latency", "--family", "irq,softirq", "--every", "10ms"]),
    ("latency", {"family": "syscall", "min": 1000}, ["latency", "--family", "syscall", "--min", "1us"]),
    ("wait", {"limit": 0}, ["wait", "--limit", "0"]),
    ("critical_path", {"comm": "*"}, ["critical-path", "--comm", "*"]),
    ("usage", {"every": 100_000_000}, ["usage", "--every", "100ms"]),
    ("irq", {}, ["irq"]),
    ("disk", {}, ["disk"]),
    ("statistics", {"table": ["processes", "cpus", "traces"]}, ["stats", "--table", "processes,cpus,traces"]),
    ("state", {"at": "+200ms"}, ["state", "--at", "+200ms"]),
]


@pytest.mark.parametrize("name, options, words", CASES)
def test_tables_are_those_of_the_program(
    program: str, kernel: lttv.Trace, traces: pathlib.Path, name: str, options: dict[str, object], words: list[str]
) -> None:
    found = getattr(kernel, name)(**options)
    expected = tables_of(program, *words, str(traces / "kernel"))
    assert {key: table.to_dicts() for key, table in found.items()} == expected
    for key, rows in expected.items():
        if rows:
            assert found[key].columns == list(rows[0])


def test_spans_are_those_of_the_program(program: str, kernel: lttv.Trace, traces: pathlib.Path) -> None:
    for options, words in [
        ({}, []),
        ({"family": "syscall", "comm": "*"}, ["--family", "syscall", "--comm", "*"]),
        ({"sort": "duration", "limit": 20, "family": "syscall"}, ["--sort", "duration", "--limit", "20", "--family", "syscall"]),
        ({"where": "duration > 100us"}, ["-e", "duration > 100us"]),
    ]:
        command = [program, "--no-config", "spans", *words, "--format", "csv", str(traces / "kernel")]
        text = subprocess.run(command, capture_output=True, text=True).stdout
        expected = list(csv.DictReader(io.StringIO(text)))
        rows = kernel.spans(**options).to_dicts()
        assert len(rows) == len(expected) > 0
        assert list(rows[0]) == list(expected[0])
        for row, wanted in zip(rows, expected):
            texts = {key: "" if value is None else str(value) for key, value in row.items()}
            assert texts == {key: value.removeprefix("'") for key, value in wanted.items()}


def test_periods(program: str, kernel: lttv.Trace, traces: pathlib.Path) -> None:
    table = kernel.periods(
        "irq_softirq_entry", "irq_softirq_exit", on="vec", name="softirq", capture="vec"
    )
    rows = table.to_dicts()
    command = [
        program, "--no-config", "spans", "--format", "csv", "--family", "period",
        "--period", "softirq : irq_softirq_entry : irq_softirq_exit",
        "--period-key", "softirq : vec", "--period-captures", "softirq : vec", str(traces / "kernel"),
    ]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    expected = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(expected) > 10
    assert [str(row["begin"]) for row in rows] == [row["begin"] for row in expected]
    assert [row["softirq.vec"] for row in rows] == [row["softirq.vec"] for row in expected]
    # Columns that are not wanted are not computed, with the same rows.
    assert len(table.select("duration")) == len(rows)


def test_wrong_options_are_explained(kernel: lttv.Trace) -> None:
    with pytest.raises(lttv.OptionError, match="--familly"):
        kernel.latency(familly="syscall")
    with pytest.raises(lttv.OptionError, match="invalid value 'nothing'"):
        kernel.latency(family="nothing")
    with pytest.raises(lttv.OptionError, match="--tid"):
        kernel.critical_path(tid="nonsense")
    with pytest.raises(lttv.OptionError):
        kernel.spans(where="duration >")


def test_what_a_trace_lacks_is_an_error(traces: pathlib.Path) -> None:
    with pytest.raises(lttv.TraceError, match="sched_switch"):
        lttv.open(traces / "ust").usage()


def test_analyses_run_on_any_thread(kernel: lttv.Trace) -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(len(kernel.irq()["statistics"]) if "statistics" in kernel.irq() else 0)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and len(set(found)) == 1


def test_histories(kernel: lttv.Trace, program: str, traces: pathlib.Path, tmp_path: pathlib.Path) -> None:
    history = kernel.history()
    stored = kernel.history(tmp_path / "kernel.history")
    again = lttv.open_history(tmp_path / "kernel.history")
    again.verify()
    assert history.intervals == stored.intervals == again.intervals > 1000
    time = kernel.begin + 20_000_000
    rows = history.at(time, "0/CPUs/*").to_dicts()
    command = [program, "--no-config", "history", "at", str(tmp_path / "kernel.history"), "+20ms", "0/CPUs/*", "--format", "json"]
    expected = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)["intervals"]
    keys = ("start_ns", "end_ns", "path", "value")
    shown = [{key: row[key] for key in keys} for row in rows]
    assert shown == unquoted(expected)
    command = [program, "--no-config", "history", "range", str(tmp_path / "kernel.history"), "0/CPUs/**", "--format", "json"]
    expected = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)["intervals"]
    rows = again.between(pattern="0/CPUs/**").to_dicts()
    shown = [{key: "null" if row[key] is None else row[key] for key in keys} for row in rows]
    assert shown == unquoted(expected)
    (path,) = history.attributes("0/CPUs/0")
    assert history.value(path, time) == rows[0]["value"] or history.value(path, time) is not None
    with pytest.raises(ValueError):
        history.at(history.start - 1)
    with pytest.raises(ValueError):
        history.between(history.end, history.start)


def test_conversion(kernel: lttv.Trace, tmp_path: pathlib.Path) -> None:
    part = kernel.convert(tmp_path / "part", to="ctf2", events="sched_*", begin="+100ms", end="+300ms")
    trimmed = lttv.open(part)
    assert trimmed.traces[0].format == "ctf2"
    wanted = list(kernel.events("sched_*", begin="+100ms", end="+300ms").as_dicts())
    assert list(trimmed.events().as_dicts()) == wanted
    export = kernel.convert(tmp_path / "trace.json", to="perfetto")
    assert json.loads(pathlib.Path(export).read_text())
    with pytest.raises(lttv.TraceError):
        kernel.convert(tmp_path / "part")
