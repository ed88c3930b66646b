"""Comparison of values with those of `lttv dump --format json`."""

from __future__ import annotations

import math
import struct
from typing import Any

import lttv

SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def is_same(value: Any, expected: Any) -> bool:
    """Returns `True` if a value is the one of the text, with its type."""
    if isinstance(expected, dict):
        if expected.keys() == {"value", "labels"} and isinstance(value, lttv.Label):
            labels = list(value.labels)
            return int(value) == expected["value"] and labels == expected["labels"]
        if expected.keys() == {"value", "flags"} and isinstance(value, lttv.Label):
            return int(value) == expected["value"] and list(value.labels) == expected["flags"]
        if expected.keys() == {"option", "value"}:
            is_struct = isinstance(value, dict) and value.keys() == {"option", "value"}
            if not is_struct:
                return is_same(value, expected["value"])
        return (
            isinstance(value, dict)
            and list(value) == list(expected)
            and all(is_same(value[name], expected[name]) for name in expected)
        )
    if isinstance(expected, list):
        if isinstance(value, bytes):
            return list(value) == expected
        return (
            isinstance(value, list)
            and len(value) == len(expected)
            and all(is_same(a, b) for a, b in zip(value, expected))
        )
    if isinstance(value, bytes):
        return value.hex() == expected
    if isinstance(value, float):
        if isinstance(expected, str):
            return repr(value) == repr(SPECIAL[expected])
        single = struct.unpack("f", struct.pack("f", expected))[0] if abs(expected) < 3e38 else None
        return value in (expected, single)
    if isinstance(value, str):
        replaced = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return replaced == expected
    return type(value) is type(expected) and value == expected


def difference(event: lttv.Event, expected: dict[str, Any]) -> str | None:
    """Returns what differs between an event and an object of the program."""
    context = {**expected.get("common_context", {}), **expected.get("specific_context", {})}
    pairs = {
        "timestamp": (event.ts, expected.get("timestamp")),
        "cycles": (event.cycles, expected.get("cycles")),
        "name": (event.name, expected["name"]),
        "cpu": (event.cpu, expected.get("cpu")),
        "tracefile": (event.stream, expected["tracefile"]),
        "fields": (event.fields, expected.get("fields", {})),
        "context": (event.context, context),
    }
    for name, (value, wanted) in pairs.items():
        if not is_same(value, wanted):
            return f"{name}: {value!r} is not {wanted!r}"
    return None
