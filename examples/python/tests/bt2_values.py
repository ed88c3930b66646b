"""Prints the events of traces as bt2 reads them: a JSON object in each line.

A line with the path precedes the events of each trace, and one with `end` follows them if all were read.
Run by the interpreter that has bt2: `python3 bt2_values.py TRACE…`.
"""

import json
import sys

import bt2


def native(value):
    if value is None:
        return None
    name = type(value).__name__
    if "Variant" in name:
        return native(value.selected_option)
    if "Option" in name:
        return native(value.value) if value.has_value else None
    if "Enumeration" in name:
        try:
            labels = sorted(value.labels)
        except AssertionError:
            # Its answer for a number without labels.
            labels = []
        return {"value": int(value), "labels": labels}
    if "Bool" in name:
        return bool(value)
    if "Integer" in name or "BitArray" in name:
        return int(value)
    if "Real" in name or "SinglePrecision" in name or "DoublePrecision" in name:
        return {"float": float(value).hex()}
    if "String" in name:
        return str(value)
    if "Structure" in name:
        return {key: native(item) for key, item in value.items()}
    if "Array" in name:
        return [native(item) for item in value]
    raise TypeError(name)


def scope(of):
    return {} if of is None else native(of)


def events(path):
    for message in bt2.TraceCollectionMessageIterator(path):
        if type(message) is not bt2._EventMessageConst:
            continue
        event = message.event
        clock = message.default_clock_snapshot if message.event.stream.cls.default_clock_class else None
        context = {**scope(event.common_context_field), **scope(event.specific_context_field)}
        yield {
            "ts": clock.ns_from_origin if clock else None,
            "cycles": clock.value if clock else None,
            "name": event.name,
            "fields": scope(event.payload_field),
            "context": context,
        }


for path in sys.argv[1:]:
    # Some damaged traces end the process.
    print(json.dumps({"trace": path}), flush=True)
    try:
        for event in events(path):
            print(json.dumps(event))
        print(json.dumps({"end": True}))
    except Exception as error:
        print(json.dumps({"error": repr(error)}))
