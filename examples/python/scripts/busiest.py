"""Prints the five threads that ran longest, as the example of the documentation of babeltrace."""

import collections
import sys

import lttv

times: collections.Counter[tuple[int, str]] = collections.Counter()
since: dict[int, int] = {}
switches = lttv.open(sys.argv[1]).events("sched_switch")
for ts, cpu, prev, comm, tid in switches.as_tuples("ts", "cpu", "prev_tid", "prev_comm", "next_tid"):
    if prev and cpu in since:
        times[prev, comm] += ts - since[cpu]
    since[cpu] = ts
for (tid, comm), time in sorted(times.items(), key=lambda of: (-of[1], of[0]))[:5]:
    print(tid, comm, time)
