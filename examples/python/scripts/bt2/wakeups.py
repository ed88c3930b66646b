"""Prints how long threads waited for a CPU after a wake-up: number and longest."""

import sys

import bt2

woken, count, longest = {}, 0, 0
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is not bt2._EventMessageConst:
        continue
    event = message.event
    if event.name == "sched_waking":
        woken.setdefault(int(event.payload_field["tid"]), message.default_clock_snapshot.ns_from_origin)
    elif event.name == "sched_switch":
        since = woken.pop(int(event.payload_field["next_tid"]), None)
        if since is not None:
            ts = message.default_clock_snapshot.ns_from_origin
            count, longest = count + 1, max(longest, ts - since)
print(count, longest)
