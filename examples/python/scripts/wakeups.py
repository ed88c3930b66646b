"""Prints how long threads waited for a CPU after a wake-up: number and longest."""

import sys

import lttv

woken: dict[int, int] = {}
count, longest = 0, 0
names = ["sched_waking", "sched_switch"]
for event in lttv.open(sys.argv[1]).events(names):
    assert event.ts is not None
    if event.name == "sched_waking":
        woken.setdefault(event["tid"], event.ts)
    elif (since := woken.pop(event["next_tid"], None)) is not None:
        count, longest = count + 1, max(longest, event.ts - since)
print(count, longest)
