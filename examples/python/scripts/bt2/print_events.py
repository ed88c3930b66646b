"""Prints time, CPU and name of the events of the scheduler."""

import sys

import bt2

for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is not bt2._EventMessageConst:
        continue
    event = message.event
    if event.name.startswith("sched_"):
        cpu = int(event.packet.context_field["cpu_id"])
        print(message.default_clock_snapshot.ns_from_origin, cpu, event.name)
