"""Counts events within the second tenth of a second."""

import sys

import lttv

print(sum(1 for _ in lttv.open(sys.argv[1]).events(begin="+100ms", end="+200ms")))
