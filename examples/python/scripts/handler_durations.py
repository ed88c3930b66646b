"""Prints the durations of handlers by interrupt: count, sum and longest."""

import collections
import sys

import lttv

spans = lttv.open(sys.argv[1]).periods(
    "irq_handler_entry", "irq_handler_exit", on="irq", name="handler", capture="irq"
)
durations: dict[str, list[int]] = collections.defaultdict(list)
for row in spans.select("handler.irq", "duration").to_dicts():
    if row["duration"] is not None:
        durations[row["handler.irq"]].append(row["duration"])
for irq, all_of_it in sorted(durations.items()):
    print(irq, len(all_of_it), sum(all_of_it), max(all_of_it))
