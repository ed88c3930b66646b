"""Collects events as dictionaries, as tracetools_read does."""

import sys

import bt2


def native(field):
    if isinstance(field, bt2._IntegerFieldConst):
        return int(field)
    if isinstance(field, bt2._StringFieldConst):
        return str(field)
    if isinstance(field, bt2._RealFieldConst):
        return float(field)
    if isinstance(field, bt2._ArrayFieldConst):
        return [native(item) for item in field]
    if isinstance(field, bt2._StructureFieldConst):
        return {key: native(item) for key, item in field.items()}
    return str(field)


rows = []
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is not bt2._EventMessageConst or message.event.name != "sched_switch":
        continue
    event = message.event
    row = {"_name": event.name, "_timestamp": message.default_clock_snapshot.ns_from_origin}
    row["_cpu"] = int(event.packet.context_field["cpu_id"])
    for scope in (event.common_context_field, event.specific_context_field, event.payload_field):
        if scope is not None:
            row.update((key, native(value)) for key, value in scope.items())
    rows.append(row)
print(len(rows), rows[0]["_timestamp"], sum(row["next_tid"] for row in rows))
