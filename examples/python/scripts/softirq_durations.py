"""Prints the durations of softirqs by their number: count, sum and longest."""

import collections
import sys

import lttv

spans = lttv.open(sys.argv[1]).periods(
    "irq_softirq_entry", "irq_softirq_exit", on=["vec", "tid"], name="softirq", capture="vec"
)
durations = collections.defaultdict(list)
for row in spans.select("softirq.vec", "duration").to_dicts():
    if row["duration"] is not None:
        durations[row["softirq.vec"]].append(row["duration"])
for vec, all_of_it in sorted(durations.items()):
    print(vec, len(all_of_it), sum(all_of_it), max(all_of_it))
