"""Prints what is known of traces: host, tracer and clock."""

import sys

import lttv

for trace in lttv.open(sys.argv[1]).traces:
    (clock,) = trace.clocks
    offset = clock.offset_seconds + clock.offset_cycles // clock.frequency
    print(trace.hostname, trace.env["tracer_name"], clock.name, clock.frequency, offset)
