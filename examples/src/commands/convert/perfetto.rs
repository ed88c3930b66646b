//! States and events as JSON for the Perfetto UI.
//!
//! The format is the JSON of Chrome's trace viewer: an object with a list of trace events.
//! Each CPU is a thread of process 0 with slices of the processes that it runs. Each thread has
//! slices of its system calls, and a mark for each event.

use std::cell::RefCell;
use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ltt_read::schema::Scope;
use ltt_read::{Event, TraceIndex, Value};
use lttv_context::{EndReason, EventCall, Handle, Subscription, TracesetContext};
use lttv_hooks::Flow;
use lttv_state::kernel::{KernelState, Transition};

use super::Conversion;
use crate::kernel_hooks::{AFTER_STATE, kernel_state};
use crate::progress::Progress;
use crate::report::Report;
use crate::time::Window;

/// The number of events between two looks for an interrupt.
const BATCH: u64 = 1 << 14;
/// The distance of the process ids of two traces, so that those of several hosts differ.
const HOST: i64 = 10_000_000;

/// Writes the window of all traces to a file, which appears when it is complete.
pub(super) fn write(
    conversion: &Conversion<'_>,
    path: &Path,
    window: Window,
    report: &mut Report,
) -> Result<u64, Box<dyn Error>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    let (out, file) = file.into_parts();
    let json = RefCell::new(Json { out: BufWriter::new(out), count: 0, failed: None });
    json.borrow_mut().raw(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    read(conversion, &json, window, report)?;
    let mut json = json.into_inner();
    json.raw(b"\n]}\n");
    if let Some(error) = json.failed.take() {
        return Err(error.into());
    }
    let out = json.out.into_inner().map_err(io::IntoInnerError::into_error)?;
    out.sync_all()?;
    file.persist(path)?;
    Ok(json.count)
}

fn read(
    conversion: &Conversion<'_>,
    json: &RefCell<Json>,
    window: Window,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let running = RefCell::new(Running::default());
    let mut context = TracesetContext::new(&conversion.traceset);
    let kernel = context.attach(kernel_state(conversion.traces()));
    if let Some(begin) = window.begin {
        context.seek_time_with_state(begin);
    }
    let running = &running;
    context.on_event(
        Subscription::to_every_event().priority(AFTER_STATE),
        move |call: &mut EventCall<'_, '_>| {
            if window.contains(call.event.timestamp()) && conversion.wants(call, kernel) {
                event(call, kernel, &mut json.borrow_mut(), &mut running.borrow_mut());
            }
            match json.borrow().failed {
                Some(_) => Flow::Break(()),
                None => Flow::Continue(()),
            }
        },
    );
    let bounds = window.bounds();
    let bounds = window.begin.map_or(bounds.clone(), |begin| bounds.since(begin));
    let bounds = bounds.max_examined(BATCH);
    let mut progress = Progress::new(false);
    loop {
        let end = context.read(&bounds)?;
        progress.update(context.progress());
        conversion.check(json.borrow().count)?;
        if json.borrow().failed.is_some()
            || !matches!(end.reason, EndReason::EventCount | EndReason::ExaminedCount)
        {
            break;
        }
    }
    report.errors(&context.take_errors(), context.errors_omitted());
    names(&context, kernel, &mut json.borrow_mut());
    Ok(())
}

/// The processes that run, by trace and CPU: thread id, name and start in ns.
#[derive(Debug, Default)]
struct Running(std::collections::HashMap<(usize, u32), (i32, String, i64)>);

/// Writes what an event says.
fn event(
    call: &EventCall<'_, '_>,
    kernel: Handle<KernelState>,
    json: &mut Json,
    running: &mut Running,
) {
    let Some(time) = call.event.timestamp().map(|time| time.as_ns()) else { return };
    let TraceIndex(trace) = call.event.trace_index();
    let host = trace as i64 * HOST;
    let state = call.extensions.get(kernel);
    let cpu = state.and_then(|state| state.cpu_of(call)).unwrap_or(0);
    let process = state.and_then(|state| state.running_at(call));
    let tid = process.and_then(|process| process.tid()).unwrap_or(0);
    let pid = process.and_then(|process| process.pid()).unwrap_or(tid);
    let transition =
        state.and_then(|state| state.transition(call.event.trace_index(), call.event.type_id()));
    let name = call.event.event_type().name();
    let (pid, thread) = (host + i64::from(pid), host + i64::from(tid));
    match transition {
        Some(Transition::Switch) => {
            let names = state.and_then(|state| state.trace(call.event.trace_index()));
            let of = process.and_then(|process| Some(names?.name(process.name())));
            let now = (tid, of.unwrap_or_default().to_owned(), time);
            if let Some((tid, name, since)) = running.0.insert((trace, cpu), now) {
                let shown = if tid == 0 { "idle".to_owned() } else { format!("{name} ({tid})") };
                json.slice(&shown, host, i64::from(cpu), since, time);
            }
        }
        Some(Transition::SyscallEntry) => {
            json.mark('B', name, pid, thread, time, Some(&call.event));
        }
        Some(Transition::SyscallExit) => json.mark('E', name, pid, thread, time, None),
        _ => json.mark('i', name, pid, thread, time, Some(&call.event)),
    }
}

/// Writes the names of processes, threads and CPUs.
fn names(context: &TracesetContext<'_>, kernel: Handle<KernelState>, json: &mut Json) {
    let states = context.extensions()[kernel].traces();
    for (trace, state) in states.enumerate() {
        let host = trace as i64 * HOST;
        json.name("process_name", host, host, "CPUs");
        for (cpu, _) in state.cpus() {
            json.name("thread_name", host, i64::from(cpu), &format!("CPU {cpu}"));
        }
        for (_, process) in state.processes() {
            let Some(tid) = process.tid().filter(|tid| *tid != 0) else { continue };
            let name = state.name(process.name());
            let pid = host + i64::from(process.pid().unwrap_or(tid));
            let tid = host + i64::from(tid);
            json.name("thread_name", pid, tid, name);
            if pid == tid {
                json.name("process_name", pid, tid, name);
            }
        }
    }
}

/// A writer of trace events.
struct Json {
    out: BufWriter<std::fs::File>,
    count: u64,
    failed: Option<io::Error>,
}

impl Json {
    fn raw(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
        }
    }

    fn object(&mut self, object: &serde_json::Value) {
        let before: &[u8] = if self.count == 0 { b"\n" } else { b",\n" };
        self.raw(before);
        self.count += 1;
        self.raw(object.to_string().as_bytes());
    }

    fn slice(&mut self, name: &str, pid: i64, tid: i64, from: i64, to: i64) {
        let duration = microseconds(to.saturating_sub(from));
        self.object(&serde_json::json!({
            "ph": "X", "name": name, "pid": pid, "tid": tid, "ts": microseconds(from),
            "dur": duration,
        }));
    }

    fn mark(
        &mut self,
        kind: char,
        name: &str,
        pid: i64,
        tid: i64,
        time: i64,
        event: Option<&Event<'_>>,
    ) {
        let mut object = serde_json::json!({
            "ph": kind.to_string(), "name": name, "pid": pid, "tid": tid, "ts": microseconds(time),
        });
        if kind == 'i' {
            object["s"] = "t".into();
        }
        let payload = event.and_then(|event| event.scope(Scope::Payload));
        let members = payload.iter().flat_map(|payload| payload.members());
        let args: serde_json::Map<_, _> = members
            .map(|(info, value)| (info.name().unwrap_or_default().to_owned(), argument(&value)))
            .collect();
        if !args.is_empty() {
            object["args"] = args.into();
        }
        self.object(&object);
    }

    fn name(&mut self, what: &str, pid: i64, tid: i64, name: &str) {
        self.object(&serde_json::json!({
            "ph": "M", "name": what, "pid": pid, "tid": tid, "args": { "name": name },
        }));
    }
}

/// Returns a field as an argument. Numbers that JSON readers would round are text.
fn argument(value: &Value<'_>) -> serde_json::Value {
    const EXACT: u64 = 1 << 53;
    match value {
        Value::Uint(number) if *number < EXACT => (*number).into(),
        Value::Sint(number) if number.unsigned_abs() < EXACT => (*number).into(),
        Value::Bool(value) => (*value).into(),
        Value::Float(number) => (*number).into(),
        Value::Str(text) => text.to_str_lossy().into(),
        other => other.to_string().into(),
    }
}

/// Returns a time in microseconds, the unit of the format, exact to the nanosecond.
fn microseconds(ns: i64) -> serde_json::Value {
    let exact = format!(
        "{}{}.{:03}",
        if ns < 0 { "-" } else { "" },
        ns.unsigned_abs() / 1000,
        ns.unsigned_abs() % 1000
    );
    serde_json::from_str(&exact).unwrap_or_default()
}
