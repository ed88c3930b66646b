"""Prints the durations of softirqs by their number: count, sum and longest."""

import collections
import sys

import bt2

begun = {}
durations = collections.defaultdict(list)
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is not bt2._EventMessageConst:
        continue
    event = message.event
    if event.name not in ("irq_softirq_entry", "irq_softirq_exit"):
        continue
    key = int(event["vec"]), int(event.common_context_field["tid"])
    time = message.default_clock_snapshot.ns_from_origin
    if event.name == "irq_softirq_entry":
        begun[key] = time
    elif key in begun:
        durations[str(key[0])].append(time - begun.pop(key))
for vec, all_of_it in sorted(durations.items()):
    print(vec, len(all_of_it), sum(all_of_it), max(all_of_it))
