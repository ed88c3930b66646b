"""Counts the rows of the columns of each event type."""

import sys

import lttv

for name, table in lttv.open(sys.argv[1]).tables().items():
    print(name, len(table))
