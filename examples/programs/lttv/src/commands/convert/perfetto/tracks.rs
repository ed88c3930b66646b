//! The tracks of CPUs and threads.
//!
//! Each trace has a process of its CPUs: a track of the processes that run on a CPU, and one of
//! its interrupts. Each thread has a track of its system calls, with a mark for each other event.
//! Arrows lead from a wake-up to the process that runs then.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use ltt_read::{Timestamp, Trace, TraceIndex};
use lttv_common::time::Window;
use lttv_context::EventCall;
use lttv_state::kernel::{
    ExecutionMode, Frame, KernelState, NameId, Process, SourceKind, TraceState, Transition,
};

use super::json::{Json, Track};
use super::threads::Threads;

/// The distance of the process ids of two traces, so that those of several hosts differ.
pub(super) const HOST: i64 = 10_000_000;
/// The distance of the track of interrupts from that of the processes of a CPU.
const INTERRUPTS: i64 = 1_000_000;

/// The tracks of all traces.
pub(super) struct Tracks {
    window: Window,
    traces: Vec<OfTrace>,
    /// The number of arrows.
    arrows: u64,
    /// The time of the last event in the window, in ns.
    last: Option<i64>,
    /// The number of wanted events that cannot be shown, since they have no times.
    pub(super) untimed: u64,
}

/// The tracks of a trace.
struct OfTrace {
    host: i64,
    /// `true` if its events change the kernel state.
    is_kernel: bool,
    /// `true` if switches tell which process runs between events.
    has_switches: bool,
    threads: Threads,
    /// By the number of the CPU.
    running: HashMap<u32, Running>,
    /// The tracks of the threads that are in a system call.
    calls: HashMap<i32, Track>,
    /// The arrows from wake-ups to threads that do not run yet.
    woken: HashMap<i32, u64>,
}

/// A process that runs.
struct Running {
    tid: i32,
    name: String,
    since: i64,
    /// The arrow that leads to it.
    arrow: Option<u64>,
}

impl Tracks {
    pub(super) fn new(traces: &[Arc<Trace>], window: Window) -> Self {
        let traces = traces.iter().zip(0..).map(|(trace, number)| OfTrace {
            host: number * HOST,
            is_kernel: KernelState::follows(trace),
            has_switches: KernelState::kinds(trace).contains(&Transition::Switch),
            threads: Threads::of(trace, KernelState::follows(trace)),
            running: HashMap::new(),
            calls: HashMap::new(),
            woken: HashMap::new(),
        });
        Tracks { window, traces: traces.collect(), arrows: 0, last: None, untimed: 0 }
    }

    /// Starts with what is open at the begin of the window.
    pub(super) fn begin<W: Write>(
        &mut self,
        kernel: &KernelState,
        json: &mut Json<W>,
    ) -> io::Result<()> {
        let Some(begin) = self.window.begin.map(Timestamp::as_ns) else { return Ok(()) };
        for (tracks, state) in self.traces.iter_mut().zip(kernel.traces()) {
            for (cpu, _) in state.cpus() {
                tracks.runs(state, cpu, begin, json)?;
            }
            for (_, process) in state.processes() {
                let is_call = |frame: &&Frame| frame.mode() == ExecutionMode::Syscall;
                let call = process.stack().iter().rfind(is_call);
                if let (Some(call), Some(tid)) = (call, process.tid()) {
                    let name = match state.name(call.submode()) {
                        "" => "system call",
                        name => name,
                    };
                    let track = tracks.of_process(process, tid);
                    tracks.calls.insert(tid, track);
                    json.start(name, track, begin, None)?;
                }
            }
        }
        Ok(())
    }

    /// Shows an event, and what it changes.
    pub(super) fn event<W: Write>(
        &mut self,
        call: &EventCall<'_, '_>,
        kernel: &KernelState,
        is_wanted: bool,
        json: &mut Json<W>,
    ) -> io::Result<()> {
        let event = &call.event;
        self.untimed += u64::from(is_wanted && event.timestamp().is_none());
        let Some(time) = event.timestamp().filter(|time| self.window.contains(Some(*time))) else {
            return Ok(());
        };
        let time = time.as_ns();
        self.last = self.last.max(Some(time));
        let TraceIndex(number) = event.trace_index();
        let tracks = &mut self.traces[number];
        let cpu = kernel.cpu_of(call).or_else(|| call.tracefile.tracefile().cpu()).unwrap_or(0);
        let Some(state) = kernel.trace(event.trace_index()).filter(|_| tracks.is_kernel) else {
            if is_wanted {
                let thread = tracks.threads.of_event(event);
                let track = thread.map_or(tracks.of_cpu(cpu), |ids| tracks.of_ids(ids));
                json.mark(event.event_type().name(), track, time, event)?;
            }
            return Ok(());
        };
        let transition = kernel.transition(event.trace_index(), event.type_id());
        if transition.is_some() {
            tracks.runs(state, cpu, time, json)?;
            let begin = self.window.begin.map_or(i64::MIN, Timestamp::as_ns);
            tracks.handled(state, cpu, time, begin, json)?;
        }
        let process = state.running(cpu);
        let mut tid = process.and_then(Process::tid);
        let mut track = tracks.of_cpu(cpu);
        if let (Some(process), Some(tid)) = (process, tid.filter(|tid| *tid != 0)) {
            track = tracks.of_process(process, tid);
        } else if tid.is_none()
            && let Some(ids) = tracks.threads.of_event(event)
            && ids.1 != 0
        {
            // Without scheduling events, the contexts tell the threads.
            (tid, track) = (i32::try_from(ids.1).ok(), tracks.of_ids(ids));
        }
        let tid = tid.filter(|tid| *tid != 0);
        let name = event.event_type().name();
        match (transition, tid) {
            (Some(Transition::SyscallEntry), Some(tid)) => {
                tracks.end_call(tid, time, json)?;
                if is_wanted {
                    tracks.calls.insert(tid, track);
                    json.start(name, track, time, Some(event))?;
                }
                return Ok(());
            }
            (Some(Transition::SyscallExit), Some(tid)) => return tracks.end_call(tid, time, json),
            (Some(Transition::Exit), _) => tracks.exits(state, time, json)?,
            (Some(Transition::Wakeup), _) => {
                tracks.wakes(state, cpu, time, &mut self.arrows, json)?;
            }
            _ => {}
        }
        match is_wanted && !is_shown_as_slice(transition) {
            true => json.mark(name, track, time, event),
            false => Ok(()),
        }
    }

    /// Ends what is open at the end of the window, and names all tracks. System calls stay open:
    /// they have not returned.
    pub(super) fn end<W: Write>(
        &mut self,
        kernel: &KernelState,
        json: &mut Json<W>,
    ) -> io::Result<()> {
        let begin = self.window.begin.map_or(i64::MIN, Timestamp::as_ns);
        for (tracks, state) in self.traces.iter_mut().zip(kernel.traces()) {
            for (what, track, name) in tracks.threads.names() {
                json.name(what, tracks.of_ids((track.pid, track.tid)), name)?;
            }
            if !tracks.is_kernel {
                continue;
            }
            json.name("process_name", Track { pid: tracks.host, tid: tracks.host }, "CPUs")?;
            for (cpu, _) in state.cpus() {
                if let Some(last) = self.last {
                    tracks.stops(cpu, last, json)?;
                    let stack = state.running(cpu).map_or(&[][..], |process| process.stack());
                    for frame in stack {
                        let Some((kind, _)) = frame.source() else { continue };
                        let track = tracks.of_source(state.running(cpu), cpu, kind);
                        let since = frame.entry().as_ns().max(begin);
                        json.slice(&label(state, frame.submode(), kind), track, since, last)?;
                    }
                }
                let of = tracks.of_cpu(cpu);
                json.name("thread_name", of, &format!("CPU {cpu}"))?;
                json.place(of, 2 * i64::from(cpu))?;
                let of = tracks.of_source(None, cpu, SourceKind::Irq);
                json.name("thread_name", of, &format!("CPU {cpu} interrupts"))?;
                json.place(of, 2 * i64::from(cpu) + 1)?;
            }
            for (_, process) in state.processes() {
                tracks.names(state, process, json)?;
            }
        }
        Ok(())
    }
}

impl OfTrace {
    /// Shows the process that runs on a CPU now, if it is another one than before.
    fn runs<W: Write>(
        &mut self,
        state: &TraceState,
        cpu: u32,
        time: i64,
        json: &mut Json<W>,
    ) -> io::Result<()> {
        if !self.has_switches {
            return Ok(());
        }
        let process = state.running(cpu);
        let tid = process.and_then(Process::tid);
        if self.running.get(&cpu).map(|running| running.tid) == tid {
            return Ok(());
        }
        self.stops(cpu, time, json)?;
        if let (Some(process), Some(tid)) = (process, tid) {
            let name = match tid {
                0 => "idle".to_owned(),
                tid => format!("{} ({tid})", state.name(process.name())),
            };
            let arrow = self.woken.remove(&tid);
            self.running.insert(cpu, Running { tid, name, since: time, arrow });
        }
        Ok(())
    }

    /// Ends the slice of the process that ran on a CPU.
    fn stops<W: Write>(&mut self, cpu: u32, time: i64, json: &mut Json<W>) -> io::Result<()> {
        let Some(Running { name, since, arrow, .. }) = self.running.remove(&cpu) else {
            return Ok(());
        };
        let track = self.of_cpu(cpu);
        json.slice(&name, track, since, time)?;
        // After the slice, which starts at the same time, so that the arrow leads into it.
        arrow.map_or(Ok(()), |number| json.arrow(false, number, track, since))
    }

    /// Shows the interrupts and exceptions that ended.
    fn handled<W: Write>(
        &self,
        state: &TraceState,
        cpu: u32,
        time: i64,
        begin: i64,
        json: &mut Json<W>,
    ) -> io::Result<()> {
        if let Some(ended) = state.effect().ended()
            && let Some((kind, _)) = ended.source
        {
            let track = self.of_source(state.process(ended.process), cpu, kind);
            let since = time.saturating_sub_unsigned(ended.elapsed).max(begin);
            json.slice(&label(state, ended.submode, kind), track, since, time)?;
        }
        Ok(())
    }

    /// Starts an arrow to the process that is woken up, if none leads to it yet.
    fn wakes<W: Write>(
        &mut self,
        state: &TraceState,
        cpu: u32,
        time: i64,
        arrows: &mut u64,
        json: &mut Json<W>,
    ) -> io::Result<()> {
        let woken = state.effect().subject().and_then(|woken| state.process(woken)?.tid());
        let Some(tid) = woken.filter(|tid| *tid != 0 && !self.woken.contains_key(tid)) else {
            return Ok(());
        };
        *arrows += 1;
        self.woken.insert(tid, *arrows);
        json.arrow(true, *arrows, self.of_cpu(cpu), time)
    }

    /// Ends the system call in which a process exits, and names the process.
    fn exits<W: Write>(
        &mut self,
        state: &TraceState,
        time: i64,
        json: &mut Json<W>,
    ) -> io::Result<()> {
        let process = state.effect().subject().and_then(|process| state.process(process));
        let Some((process, tid)) = process.and_then(|process| Some((process, process.tid()?)))
        else {
            return Ok(());
        };
        self.end_call(tid, time, json)?;
        self.names(state, process, json)
    }

    fn end_call<W: Write>(&mut self, tid: i32, time: i64, json: &mut Json<W>) -> io::Result<()> {
        self.calls.remove(&tid).map_or(Ok(()), |track| json.end(track, time))
    }

    fn names<W: Write>(
        &self,
        state: &TraceState,
        process: &Process,
        json: &mut Json<W>,
    ) -> io::Result<()> {
        let Some(tid) = process.tid().filter(|tid| *tid != 0) else { return Ok(()) };
        let (name, track) = (state.name(process.name()), self.of_process(process, tid));
        json.name("thread_name", track, name)?;
        match track.pid == track.tid {
            true => json.name("process_name", track, name),
            false => Ok(()),
        }
    }

    fn of_cpu(&self, cpu: u32) -> Track {
        Track { pid: self.host, tid: self.host + i64::from(cpu) }
    }

    fn of_ids(&self, (pid, tid): (i64, i64)) -> Track {
        Track { pid: self.host + pid, tid: self.host + tid }
    }

    fn of_process(&self, process: &Process, tid: i32) -> Track {
        let pid = process.pid().unwrap_or(tid);
        Track { pid: self.host + i64::from(pid), tid: self.host + i64::from(tid) }
    }

    /// Returns the track of an interrupt, or of an exception, in which a process can be switched
    /// out.
    fn of_source(&self, process: Option<&Process>, cpu: u32, kind: SourceKind) -> Track {
        let tid = process.and_then(Process::tid).filter(|tid| *tid != 0);
        match (kind, process, tid) {
            (SourceKind::Trap, Some(process), Some(tid)) => self.of_process(process, tid),
            _ => Track { pid: self.host, tid: self.host + INTERRUPTS + i64::from(cpu) },
        }
    }
}

/// Returns the name of an interrupt or exception, or of its kind.
fn label(state: &TraceState, name: NameId, kind: SourceKind) -> String {
    match state.name(name) {
        "" => kind.label().to_owned(),
        name => name.to_owned(),
    }
}

/// Returns `true` for events that are shown as the start or end of a slice.
fn is_shown_as_slice(transition: Option<Transition>) -> bool {
    use Transition::*;
    matches!(
        transition,
        Some(
            Switch
                | IrqEntry
                | IrqExit
                | VectorEntry
                | VectorExit
                | SoftirqEntry
                | SoftirqExit
                | TrapEntry
                | TrapExit
        )
    )
}
