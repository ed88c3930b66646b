"""Prints the durations of handlers by interrupt: count, sum and longest."""

import collections
import sys

import bt2

begun = {}
durations = collections.defaultdict(list)
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is not bt2._EventMessageConst:
        continue
    event = message.event
    if event.name not in ("irq_handler_entry", "irq_handler_exit"):
        continue
    key = int(event["irq"])
    time = message.default_clock_snapshot.ns_from_origin
    if event.name == "irq_handler_entry":
        begun[key] = time
    elif key in begun:
        durations[str(key)].append(time - begun.pop(key))
for irq, all_of_it in sorted(durations.items()):
    print(irq, len(all_of_it), sum(all_of_it), max(all_of_it))
