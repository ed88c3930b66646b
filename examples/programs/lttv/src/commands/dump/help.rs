//! The long help of `lttv dump`.

use lttv_common::time::HELP as TIMES;

/// Returns the text after the options.
pub(super) fn long() -> String {
    format!("{EXAMPLES}\n\n{TIMES}\n{OUTPUT}")
}

const EXAMPLES: &str = "\
Examples:
  lttv dump TRACE --timerange +1..+1.02 -e sched_switch
  lttv dump TRACE --format csv --columns time,tid,comm,name,ret -o events.csv
  lttv dump TRACE --columns thread_delta,time,tid,name --top 5    the longest gaps of threads
  lttv dump TRACE --format babeltrace --names=all                 as babeltrace2 prints it";

/// The windows, columns, lines, filters, JSON, escapes and the exit status.
const OUTPUT: &str = "\
Events without a time are omitted if a begin or an end is given. A window outside of the traces
prints nothing, with a warning that contains the range of the traces.

Columns:
  time           of the event; in CSV in nanoseconds, unless an option such as --clock-date is given
  delta          since the previous event that is printed, in seconds; in CSV in nanoseconds
  thread_delta   since the previous event of the same thread that is printed, likewise
  cpu            the CPU
  tid, pid       thread and thread group: the event's own context (tid, vtid, …), or else the state
                 of a kernel trace after the event
  comm           the command, from the same sources
  channel, name  of the event
  trace          the path of the trace
  fields         all fields of the payload
Other names are those of fields of the payload or of contexts, also a.b and a[0].
An empty cell means that the event does not have it.

With --process, lines of kernel traces contain the process that runs on the CPU after the event:
tid, thread group, name, brand, parent, function and mode; what is unknown is ? or empty. Lines of
LTTng 0.x traces always contain it, in the form of LTTV: what is unknown is 0.

Filters select events by name, and compare words and fields with values, such as
  sched_switch && next_tid != 0
  syscall_* && !(ret >= 0) && cpu in (0, 1)
  tid == 212 || comm =~ \"kworker*\"
  event.time >= 03:02:07.5 && exists(event.context.vpid)
with ==, !=, <, <=, >, >=, =~ (a pattern), in; combined by &&, ||, ^, ! and parentheses. The words
tid, pid (thread group), comm, cpu and name are those of the event: its context if recorded, or else
the process that runs, in kernel traces. Fields are named alone, or by event.fields.EVENT.FIELD,
event.fields.*.FIELD, event.context.FIELD, packet.context.FIELD. Other names are event.category,
event.time, event.loglevel, channel.name, tracefile.name, trace.name, trace.env.NAME; and for kernel
traces state.tid, state.pid, state.process_name, state.execution_mode and others.

JSON objects contain `timestamp` (nanoseconds, null without a clock), `cycles`, `trace`,
`tracefile`, `cpu`, `name`, `id`, and `packet_context`, `common_context`, `specific_context` and
`fields` if the event has them. Integers have all their digits, also beyond 2^53. Enumerations are
{\"value\":4,\"labels\":[\"RANGE\"]}, bit maps {\"value\":5,\"flags\":[\"a\"]}, variants
{\"option\":\"name\",\"value\":…}; blobs are strings of hexadecimal digits, absent options null;
NaN and infinities are the strings \"nan\", \"inf\" and \"-inf\".

Control characters in names and texts, controls of bidirectional text, and bytes that are not
UTF-8 are printed as escapes: \\n, \\x1b, \\u{202e}; in JSON, as \\u202e. Only --format=babeltrace
writes them unchanged to files and pipes, as babeltrace2 does; to a terminal it escapes them.

Exit status: 0 if everything was read and written; 1 if something could not be read or written, or a
stream ended with an error (everything before it and all other streams are printed); 2 for a wrong
command line: options, times, filters, columns, or an output that would replace a file of a trace.";
