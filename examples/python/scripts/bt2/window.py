"""Counts events within the second tenth of a second."""

import sys

import bt2

first, count = None, 0
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is not bt2._EventMessageConst:
        continue
    ts = message.default_clock_snapshot.ns_from_origin
    first = ts if first is None else first
    if first + 100_000_000 <= ts <= first + 200_000_000:
        count += 1
print(count)
