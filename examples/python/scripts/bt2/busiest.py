"""Prints the five threads that ran longest, as the example of the documentation of babeltrace."""

import collections
import sys

import bt2

times, since = collections.Counter(), {}
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is not bt2._EventMessageConst or message.event.name != "sched_switch":
        continue
    event = message.event
    ts = message.default_clock_snapshot.ns_from_origin
    cpu = int(event.packet.context_field["cpu_id"])
    prev, comm = int(event.payload_field["prev_tid"]), str(event.payload_field["prev_comm"])
    if prev and cpu in since:
        times[prev, comm] += ts - since[cpu]
    since[cpu] = ts
for (tid, comm), time in sorted(times.items(), key=lambda of: (-of[1], of[0]))[:5]:
    print(tid, comm, time)
