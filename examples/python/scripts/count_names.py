"""Counts events by name."""

import collections
import sys

import lttv

for name, count in sorted(collections.Counter(e.name for e in lttv.open(sys.argv[1])).items()):
    print(name, count)
