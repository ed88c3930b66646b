"""Prints what is known of traces: host, tracer and clock."""

import sys

import lttv

for trace in lttv.open(sys.argv[1]).traces:
    (clock,) = trace.clocks
    print(trace.hostname, trace.env["tracer_name"], clock.name, clock.frequency, clock.offset_seconds)
