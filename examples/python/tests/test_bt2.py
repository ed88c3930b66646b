"""Values of bt2, where it reads the trace."""

from __future__ import annotations

import collections
import json
import pathlib
import subprocess
from typing import Any

import pytest

import lttv

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


def key(of: dict[str, Any]) -> str:
    return json.dumps(of, sort_keys=True)


def compare(bt2: str, path: pathlib.Path) -> tuple[int, str | None]:
    done = subprocess.run([bt2, str(SCRIPT), str(path)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0 or not done.stdout:
        return 0, None
    expected = [json.loads(line) for line in done.stdout.splitlines()]
    found = [
        {"ts": e.ts, "name": e.name, "fields": plain(e.fields), "context": plain(e.context)}
        for e in lttv.open(path).events(errors="ignore")
    ]
    if len(found) != len(expected):
        return len(found), f"{len(found)} events, not {len(expected)}"
    # The order of events at one time is that of each reader.
    groups = collections.defaultdict(list)
    for event in expected:
        groups[event["ts"], event["name"]].append(event)
    for event in found:
        group = groups[event["ts"], event["name"]]
        same = next((at for at, other in enumerate(group) if is_same(event, other)), None)
        if same is None:
            return len(found), f"{key(event)} is not {key(group[0]) if group else None}"
        del group[same]
    return len(found), None


def test_the_bundled_trace(bt2: str, traces: pathlib.Path) -> None:
    count, problem = compare(bt2, traces / "kernel")
    assert problem is None and count > 0


#: What Debian's bt2 2.0.4 reads otherwise, with the reason.
OTHERWISE: dict[str, str] = {}


def test_all_traces_that_bt2_reads(bt2: str, shared: pathlib.Path) -> None:
    problems, total, read = [], 0, 0
    for path in sorted((shared / "ctf").iterdir()):
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        if size > 2_000_000 or path.name in OTHERWISE:
            continue
        count, problem = compare(bt2, path)
        total += count
        read += count > 0
        if problem:
            problems.append(f"{path.name}: {problem[:400]}")
    assert not problems, f"{len(problems)} of {read}:\n" + "\n".join(problems)
    assert read > 50 and total > 1000
