"""Prints time, CPU and name of the events of the scheduler."""

import sys

import lttv

for ts, cpu, name in lttv.open(sys.argv[1]).events("sched_*").as_tuples("ts", "cpu", "name"):
    print(ts, cpu, name)
