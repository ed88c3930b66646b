"""Counts events by name."""

import collections
import sys

import bt2

counts = collections.Counter()
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is bt2._EventMessageConst:
        counts[message.event.name] += 1
for name, count in sorted(counts.items()):
    print(name, count)
