"""Reads, analyses and writes traces of Linux: LTTng, CTF, ftrace, perf, LTTng 0.x.

>>> import lttv
>>> trace = lttv.open("examples/traces/kernel")
>>> switches = trace.events("sched_switch")
>>> event = next(switches)
>>> event.name, event["prev_comm"]
('sched_switch', 'swapper/4')
>>> 1 + sum(1 for event in switches)
497
"""

from . import _conversions as _conversions
from ._label import Label
from ._lttv import (
    Clock,
    DamageWarning,
    Event,
    Events,
    FilterError,
    History,
    LossWarning,
    OptionError,
    Rows,
    Stream,
    Table,
    Trace,
    TraceError,
    TraceInfo,
    TraceWarning,
    Writer,
    follow,
    open,
    open_history,
    write_tables,
)

__all__ = [
    "Clock",
    "DamageWarning",
    "Event",
    "Events",
    "FilterError",
    "History",
    "Label",
    "LossWarning",
    "OptionError",
    "Rows",
    "Stream",
    "Table",
    "Trace",
    "TraceError",
    "TraceInfo",
    "TraceWarning",
    "Writer",
    "follow",
    "open",
    "open_history",
    "write_tables",
]
