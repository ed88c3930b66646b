"""Writes softirqs as events of Chrome's format, as whippet's ctf_to_json.py does for phases."""

import json
import sys

import bt2

names = {"irq_softirq_entry": "B", "irq_softirq_exit": "E"}
rows = []
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is not bt2._EventMessageConst or message.event.name not in names:
        continue
    event = message.event
    ts = message.default_clock_snapshot.ns_from_origin
    cpu = int(event.packet.context_field["cpu_id"])
    vec = str(int(event.payload_field["vec"]))
    rows.append({"name": vec, "ph": names[event.name], "ts": ts / 1000, "tid": cpu, "pid": 0})
print(json.dumps(rows))
