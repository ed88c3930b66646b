"""Counts the rows of the columns of each event type."""

import collections
import sys

import bt2

columns = collections.defaultdict(list)
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is bt2._EventMessageConst:
        columns[message.event.name].append(message.default_clock_snapshot.ns_from_origin)
for name, times in sorted(columns.items()):
    print(name, len(times))
