"""Collects events as dictionaries, as tracetools_read does."""

import sys

import lttv

rows = list(lttv.open(sys.argv[1]).events("sched_switch").as_dicts())
print(len(rows), rows[0]["_timestamp"], sum(row["next_tid"] for row in rows))
