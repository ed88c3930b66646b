"""Values of bt2, where it reads the trace."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import lttv

#: The time that bt2 has for one trace, in seconds.
PATIENCE = 20.0

SCRIPT = pathlib.Path(__file__).with_name("bt2_values.py")


def plain(value: Any) -> Any:
    """Returns a value in the form of the script."""
    if isinstance(value, lttv.Label):
        return {"value": int(value), "labels": sorted(value.labels)}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def is_same(value: Any, other: Any) -> bool:
    """Compares values. In place of an empty text, bt2 2.0.4 returns an earlier one."""
    if value == "":
        return isinstance(other, str)
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(is_same(value[k], other[k]) for k in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(is_same, value, other))
    return bool(value == other)


def is_same_event(event: dict[str, Any], other: dict[str, Any]) -> bool:
    """Compares events. From cycles, bt2 computes times with numbers of 53 bits: some are 1 ns less."""
    ts, other_ts = event["ts"], other["ts"]
    same_time = ts == other_ts or None not in (ts, other_ts) and abs(ts - other_ts) <= 1
    return same_time and is_same({**event, "ts": other_ts}, other)


def key(of: dict[str, Any]) -> str:
    return json.dumps(of, sort_keys=True)


def read_by_bt2(bt2: str, paths: list[pathlib.Path]) -> Iterator[tuple[pathlib.Path, list[dict[str, Any]] | None]]:
    """Yields the events of each trace; `None` if bt2 does not read it."""
    rest = list(paths)
    while rest:
        command = [bt2, str(SCRIPT), *map(str, rest)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
            assert running.stdout is not None
            # It does not return from some damaged traces.
            patience = threading.Timer(PATIENCE, running.kill)
            patience.start()
            path: pathlib.Path | None = None
            events: list[dict[str, Any]] = []
            for line in running.stdout:
                if not line.endswith("\n"):
                    break
                value = json.loads(line)
                if "trace" in value:
                    path, events = rest.pop(0), []
                    patience.cancel()
                    patience = threading.Timer(PATIENCE, running.kill)
                    patience.start()
                    assert str(path) == value["trace"]
                elif "end" in value or "error" in value:
                    yield path, events if "end" in value else None
                    path = None
                else:
                    events.append(value)
            patience.cancel()
        # A damaged trace may end the process.
        assert path is not None or not rest
        if path is not None:
            yield path, None


def difference(path: pathlib.Path, expected: list[dict[str, Any]]) -> str | None:
    """Returns what differs between the events of a trace and those of bt2."""
    found = [
        {
            "ts": e.ts,
            "cycles": e.cycles,
            "name": e.name,
            "fields": plain(e.fields),
            "context": plain(e.context),
        }
        for e in lttv.open(path).events(errors="ignore")
    ]
    if len(found) != len(expected):
        return f"{len(found)} events, not {len(expected)}"
    # The order of events at one time is that of each reader.
    groups = collections.defaultdict(list)
    for event in expected:
        groups[event["cycles"], event["name"]].append(event)
    for event in found:
        group = groups[event["cycles"], event["name"]]
        same = next((at for at, other in enumerate(group) if is_same_event(event, other)), None)
        if same is None:
            return f"{key(event)} is not {key(group[0]) if group else None}"
        del group[same]
    return None


def test_the_bundled_traces(bt2: str, traces: pathlib.Path) -> None:
    paths = [traces / name for name in ("kernel", "ust", "ust-lost", "ust-threads")]
    for path, expected in read_by_bt2(bt2, paths):
        assert expected
        assert difference(path, expected) is None


#: The traces from which Debian's bt2 2.0.4 does not return.
ENDLESS = {"cts-stream-fail-event-empty", "gen-mut-k1-md-truncated"}


def test_all_traces_that_bt2_reads(bt2: str, shared: pathlib.Path) -> None:
    most = float("inf") if os.environ.get("LTTV_TEST_ALL") else 500_000
    paths = []
    for path in sorted((shared / "ctf").iterdir()):
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        if size <= most and path.name not in ENDLESS:
            paths.append(path)
    problems, total, read = [], 0, 0
    for path, expected in read_by_bt2(bt2, paths):
        # It also takes metadata that is wrong for a trace without events.
        if not expected:
            continue
        read += 1
        total += len(expected)
        if problem := difference(path, expected):
            problems.append(f"{path.name}: {problem[:400]}")
    print(f"{total} events of {read} traces of {len(paths)} are compared with bt2")
    assert not problems, f"{len(problems)} of {read}:\n" + "\n".join(problems)
    assert read > 50 and total > 1000
