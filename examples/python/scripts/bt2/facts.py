"""Prints what is known of traces: host, tracer and clock."""

import sys

import bt2

seen = set()
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is bt2._StreamBeginningMessageConst:
        stream = message.stream
        trace = stream.trace
        key = str(trace.name)
        if key in seen:
            continue
        seen.add(key)
        env, clock = trace.environment, stream.cls.default_clock_class
        offset = clock.offset.seconds
        print(env["hostname"], env["tracer_name"], clock.name, clock.frequency, offset)
