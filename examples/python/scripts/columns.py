"""Counts the rows of the columns of each event type."""

import sys

import lttv

trace = lttv.open(sys.argv[1])
for name in trace.table_names:
    count = len(trace.table(name))
    if count:
        print(name, count)
