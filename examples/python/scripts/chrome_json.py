"""Writes softirqs as events of Chrome's format, as whippet's ctf_to_json.py does for phases."""

import json
import sys

import lttv

names = {"irq_softirq_entry": "B", "irq_softirq_exit": "E"}
events = lttv.open(sys.argv[1]).events(list(names)).as_tuples("ts", "name", "cpu", "vec")
rows = [{"name": str(vec), "ph": names[name], "ts": ts / 1000, "tid": cpu, "pid": 0} for ts, name, cpu, vec in events]
print(json.dumps(rows))
