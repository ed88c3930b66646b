//! The answer as a JSON object, exact, with times and durations in ns.

use std::io::{self, Write};

use lttv_common::text::output::Output;
use lttv_state::waits::TimelineId;
use serde_json::{Value, json};

use super::answer::{Answer, Wait};

/// Writes an answer, with at most a number of elements of each list.
pub(super) fn write(answer: &Answer, limit: usize, mut out: Output) -> io::Result<()> {
    let thread = |thread: Option<TimelineId>| {
        thread.map_or(Value::Null, |thread| {
            let (tid, comm) = answer.thread(thread);
            json!({ "tid": tid, "comm": Some(comm).filter(|comm| !comm.is_empty()) })
        })
    };
    let parts = answer.parts.iter().map(
        |part| json!({ "state": part.state.label(), "time_ns": part.time, "count": part.count }),
    );
    let instead = answer.instead.iter().map(|of| {
        json!({
            "state": of.state.label(),
            "cpu": of.cpu,
            "thread": thread(of.thread),
            "time_ns": of.time,
            "count": of.count,
        })
    });
    let waits = answer.waits.iter().map(|Wait { interval, waker_call }| {
        json!({
            "begin": interval.start.as_ns(),
            "end": interval.end.as_ns(),
            "duration": interval.time(),
            "cause": interval.state.cause().map(|cause| cause.label()),
            "call": answer.call(interval.call),
            "source": answer.source(interval.source),
            "waker": thread(interval.link.map(|link| link.from)),
            "waker_call": waker_call.as_ref().map(|of| &of.object),
        })
    });
    let handlers = answer.handlers.iter().map(|of| {
        json!({
            "family": of.family.key(),
            "name": of.name,
            "cpu": of.cpu,
            "time_ns": of.time,
            "count": of.count,
        })
    });
    let chain = answer.chain.iter().take(limit).map(|of| {
        json!({
            "begin": of.start.as_ns(),
            "end": of.end.as_ns(),
            "duration": of.time(),
            "depth": of.depth,
            "thread": thread(Some(of.thread)),
            "state": of.kind.label(),
            "cpu": of.cpu,
            "call": answer.call(of.call),
            "source": answer.source(of.source),
        })
    });
    let object = json!({
        "span": answer.span.object,
        "duration_ns": answer.duration(),
        "parts": parts.collect::<Vec<_>>(),
        "instead": instead.take(limit).collect::<Vec<_>>(),
        "waits": waits.collect::<Vec<_>>(),
        "wait_count": answer.wait_count,
        "interrupts": handlers.take(limit).collect::<Vec<_>>(),
        "nested": answer.nested.iter().map(|of| &of.object).collect::<Vec<_>>(),
        "nested_count": answer.nested_count,
        "chain": chain.collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut out, &object)?;
    out.write_all(b"\n")?;
    out.finish()
}
