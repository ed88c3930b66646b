"""Speed and memory, with a large recording: the variable KBIG is its path. Figures are printed."""

from __future__ import annotations

import pathlib
import resource
import time
from collections.abc import Callable

import pytest

import lttv


def cpu(work: Callable[[], object]) -> float:
    """Returns the CPU time of the better of two runs, in seconds."""
    return min(measured(work, time.process_time) for _ in range(2))


def measured(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Returns the time of a run, in seconds of a clock."""
    began = clock()
    work()
    return clock() - began


def report(what: str, value: float, unit: str, aim: float) -> None:
    print(f"{what:45} {value:9.3f} {unit} (aim {aim})")


def test_speed(large: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = lttv.open(large)
    count = sum(1 for _ in trace)

    def iterate() -> None:
        for _ in trace:
            pass

    def names_and_times() -> None:
        for event in trace:
            event.name, event.ts

    def fields() -> None:
        for event in trace:
            event.fields

    with capsys.disabled():
        print()
        for what, work, aim in (
            ("iterate", iterate, 130),
            ("name and time", names_and_times, 180),
            ("all fields as a dictionary", fields, 450),
        ):
            report(what, cpu(work) / count * 1e9, "ns/event", aim)
        switches = trace.table("sched_switch")
        columns = [c for c in switches.columns if c not in ("trace", "stream")][:9]
        nine = switches.select(*columns)
        report("sched_switch, 9 columns, polars", cpu(nine.to_polars), "s", 0.15)
        calls = trace.spans(family="syscall")
        # The import of pandas takes longer than some of what is measured.
        rows = len(calls.to_pandas())
        report(f"{rows} system calls, pandas (elapsed)", measured(calls.to_pandas, time.perf_counter), "s", 0.8)
        report(f"{rows} system calls, pandas", cpu(calls.to_pandas), "s", 0.8)
        few = calls.select("begin", "duration", "name", "tid", "result")
        report("the same, 5 columns", cpu(few.to_pandas), "s", 0.8)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report("peak memory", peak, "MiB", 0)
    assert rows > 100_000


def test_memory_is_that_of_batches(large: pathlib.Path) -> None:
    trace = lttv.open(large, access="map")
    table = trace.table("sched_switch")
    sizes = [len(batch) for batch in table.batches()]
    assert max(sizes) <= 1 << 16 and sum(sizes) > 300_000
