//! The table of statistics: CPU time and events by thread, CPU and kind of code.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{Int32Builder, StringViewBuilder, UInt32Builder, UInt64Builder};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use ltt_read::Trace;
use lttv_common::trace_names::trace_names;
use lttv_state::stats::Statistics;

/// Returns the columns of the table of statistics. Each row is what one thread did on one CPU in
/// one kind of code.
///
/// | column | meaning |
/// |---|---|
/// | `trace` | the trace, named as in tables of events |
/// | `cpu` | the CPU |
/// | `tid`, `pid`, `process` | the thread, its process, its last name |
/// | `mode`, `submode` | the kind of code, and the system call, interrupt or exception |
/// | `cpu_time`, `wait_time` | the time on the CPU and the time without it, in ns |
/// | `events` | the number of events |
pub fn statistics_schema() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8View, false);
    let number = |name: &str| Field::new(name, DataType::UInt64, false);
    Arc::new(Schema::new(vec![
        text("trace"),
        Field::new("cpu", DataType::UInt32, false),
        Field::new("tid", DataType::Int32, true),
        Field::new("pid", DataType::Int32, true),
        text("process"),
        text("mode"),
        text("submode"),
        number("cpu_time"),
        number("wait_time"),
        number("events"),
    ]))
}

/// Returns the table of statistics.
///
/// # Errors
///
/// Never, unless the schema is wrong.
pub fn statistics_batch(
    statistics: &Statistics,
    traces: &[Arc<Trace>],
) -> Result<RecordBatch, ArrowError> {
    let names = trace_names(traces.iter().map(|trace| trace.path()));
    let (mut of_trace, mut processes) = (StringViewBuilder::new(), StringViewBuilder::new());
    let (mut modes, mut submodes) = (StringViewBuilder::new(), StringViewBuilder::new());
    let (mut cpus, mut events) = (UInt32Builder::new(), UInt64Builder::new());
    let (mut tids, mut pids) = (Int32Builder::new(), Int32Builder::new());
    let (mut cpu_times, mut wait_times) = (UInt64Builder::new(), UInt64Builder::new());
    for (trace, name) in statistics.traces().iter().zip(&names) {
        for (key, counts) in trace.leaves() {
            let process = trace.process_facts().get(key.process.0 as usize);
            of_trace.append_value(name);
            cpus.append_value(key.cpu);
            tids.append_option(process.and_then(|process| process.tid));
            pids.append_option(process.and_then(|process| process.pid));
            processes.append_value(process.map_or("", |process| &process.name));
            modes.append_value(key.mode.as_str());
            submodes.append_value(trace.name(key.submode));
            cpu_times.append_value(counts.cpu_time);
            wait_times.append_value(counts.wait_time);
            events.append_value(counts.events.total());
        }
    }
    RecordBatch::try_new(
        statistics_schema(),
        vec![
            Arc::new(of_trace.finish()),
            Arc::new(cpus.finish()),
            Arc::new(tids.finish()),
            Arc::new(pids.finish()),
            Arc::new(processes.finish()),
            Arc::new(modes.finish()),
            Arc::new(submodes.finish()),
            Arc::new(cpu_times.finish()),
            Arc::new(wait_times.finish()),
            Arc::new(events.finish()),
        ],
    )
}
