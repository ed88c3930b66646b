//! What each processor, interrupt, exception and block device was doing, column by
//! column.

use ltt_read::Timestamp;
use lttv_context::EventCall;
use lttv_examples::palette::Paint;
use lttv_state::kernel::{KernelState, SourceKind, TraceState, Transition};

use super::axis::Axis;
use super::chart::Chart;
use super::strip::Strip;

/// What a row is of: the order of these is that of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// A processor, by number.
    Cpu(u32),
    /// An interrupt or exception.
    Source(SourceKind, u32),
    /// A block device, by its index in the state.
    Device(u32),
}

/// A row.
#[derive(Debug, Clone)]
pub struct ResourceRow {
    /// The trace.
    pub trace: usize,
    /// Of what.
    pub resource: Resource,
    /// What it is called.
    pub label: String,
    /// What it was doing.
    pub strip: Strip,
}

/// Rows for all resources of a time window.
#[derive(Debug)]
pub struct Resources {
    bounds: Vec<i64>,
    traces: Vec<TraceRows>,
}

/// Rows of a trace, by number.
#[derive(Debug, Default)]
struct TraceRows {
    cpus: Vec<Option<ResourceRow>>,
    sources: [Vec<Option<ResourceRow>>; 4],
    devices: Vec<Option<ResourceRow>>,
    /// Soft interrupts that are pending, by CPU, a bit each.
    pending: Vec<u32>,
}

impl Chart for Resources {
    fn new(axis: Axis) -> Self {
        Resources { bounds: axis.bounds(), traces: Vec::new() }
    }

    fn begin(&mut self, kernel: &KernelState) {
        for (trace, state) in kernel.traces().enumerate() {
            self.look_at_all(trace, state, self.bounds[0]);
        }
    }

    #[inline]
    fn event(&mut self, kernel: &KernelState, call: &EventCall<'_, '_>) {
        let trace = call.trace.index();
        let Some(transition) = kernel.transition(trace, call.event.type_id()) else { return };
        let (Some(state), Some(cpu)) = (kernel.trace(trace), kernel.cpu_of(call)) else { return };
        self.transition(trace, state, transition, cpu, call.time().ns());
    }

    fn advance(&mut self, time: Timestamp) {
        for trace in &mut self.traces {
            let sources = trace.sources.iter_mut().flatten();
            let rows = trace.cpus.iter_mut().chain(sources).chain(&mut trace.devices);
            rows.flatten().for_each(|row| row.strip.advance(&self.bounds, time.ns()));
        }
    }
}

impl Resources {
    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &ResourceRow> {
        self.traces.iter().flat_map(|trace| {
            let sources = trace.sources.iter().flatten();
            trace.cpus.iter().chain(sources).chain(&trace.devices).flatten()
        })
    }

    fn transition(
        &mut self,
        trace: usize,
        state: &TraceState,
        transition: Transition,
        cpu: u32,
        time: i64,
    ) {
        use Transition::*;
        let kind = match transition {
            _ if state.effect().lost_since().is_some() => None,
            DumpEnd => None,
            IrqEntry | IrqExit | IrqName => Some(SourceKind::Irq),
            VectorEntry | VectorExit => Some(SourceKind::Vector),
            SoftirqRaise | SoftirqEntry | SoftirqExit => Some(SourceKind::Softirq),
            TrapEntry | TrapExit | UserPageFault | KernelPageFault => Some(SourceKind::Trap),
            BlockIssue | BlockComplete => {
                if let Some(request) = state.effect().request() {
                    self.device(trace, state, request.device as u32, time);
                }
                return;
            }
            SyscallEntry | SyscallExit | Switch => {
                self.cpu(trace, state, cpu, time);
                // A page fault whose end is not told ends with what comes next.
                Some(SourceKind::Trap)
            }
            _ => return,
        };
        self.cpu(trace, state, cpu, time);
        match kind {
            Some(kind) => self.sources(trace, state, kind, cpu, time),
            None => self.look_at_all(trace, state, time),
        }
    }

    fn look_at_all(&mut self, trace: usize, state: &TraceState, time: i64) {
        for (cpu, _) in state.cpus() {
            self.cpu(trace, state, cpu, time);
            self.sources(trace, state, SourceKind::Softirq, cpu, time);
        }
        for kind in [SourceKind::Irq, SourceKind::Vector, SourceKind::Trap] {
            self.sources(trace, state, kind, 0, time);
        }
        for device in 0..state.devices().len() {
            self.device(trace, state, device as u32, time);
        }
    }

    fn cpu(&mut self, trace: usize, state: &TraceState, cpu: u32, time: i64) {
        let rows = rows_of(&mut self.traces, trace);
        let label = || format!("CPU {cpu}");
        let row = row(&mut rows.cpus, trace, Resource::Cpu(cpu), cpu, label);
        paint(row, &self.bounds, time, Paint::of_cpu(state.cpu_mode(cpu)));
    }

    fn sources(&mut self, trace: usize, state: &TraceState, kind: SourceKind, cpu: u32, time: i64) {
        let rows = rows_of(&mut self.traces, trace);
        let pending =
            if kind == SourceKind::Softirq { rows.look_at_pending(state, cpu) } else { 0 };
        for (number, source) in (0..).zip(state.sources(kind)) {
            let is_pending = 1u32.checked_shl(number).is_some_and(|bit| pending & bit != 0);
            let now = Paint::of_source(kind, source.mode(), is_pending);
            if now.is_none() && source.entries() == 0 {
                continue;
            }
            let label = || label(kind, number, state.name(source.name()));
            let resource = Resource::Source(kind, number);
            let row = row(&mut rows.sources[kind as usize], trace, resource, number, label);
            paint(row, &self.bounds, time, now);
        }
    }

    fn device(&mut self, trace: usize, state: &TraceState, index: u32, time: i64) {
        let Some(device) = state.devices().get(index as usize) else { return };
        let rows = rows_of(&mut self.traces, trace);
        let label = || match state.name(device.name()) {
            "" => format!("Block ({})", device.number()),
            name => format!("Block ({}) {name}", device.number()),
        };
        let row = row(&mut rows.devices, trace, Resource::Device(index), index, label);
        paint(row, &self.bounds, time, Paint::of_device(device.mode()));
    }
}

impl TraceRows {
    /// Looks which soft interrupts are pending on a CPU, and tells which are on
    /// any.
    fn look_at_pending(&mut self, state: &TraceState, cpu: u32) -> u32 {
        if self.pending.len() <= cpu as usize {
            self.pending.resize(cpu as usize + 1, 0);
        }
        let sources = state.sources(SourceKind::Softirq).len().min(32) as u32;
        self.pending[cpu as usize] = state.cpu(cpu).map_or(0, |of| {
            (0..sources).filter(|n| of.is_softirq_pending(*n)).fold(0, |bits, n| bits | 1 << n)
        });
        self.pending.iter().fold(0, |all, bits| all | bits)
    }
}

fn label(kind: SourceKind, number: u32, name: &str) -> String {
    let of = match kind {
        SourceKind::Irq => "IRQ",
        SourceKind::Vector => "VECTOR",
        SourceKind::Softirq => "SOFTIRQ",
        SourceKind::Trap => "TRAP",
    };
    if name.is_empty() { format!("{of} {number}") } else { format!("{of} {number} {name}") }
}

fn rows_of(traces: &mut Vec<TraceRows>, trace: usize) -> &mut TraceRows {
    if traces.len() <= trace {
        traces.resize_with(trace + 1, TraceRows::default);
    }
    &mut traces[trace]
}

#[inline]
fn row(
    rows: &mut Vec<Option<ResourceRow>>,
    trace: usize,
    resource: Resource,
    number: u32,
    label: impl FnOnce() -> String,
) -> &mut ResourceRow {
    let number = number as usize;
    if rows.len() <= number {
        rows.resize_with(number + 1, || None);
    }
    rows[number].get_or_insert_with(|| ResourceRow {
        trace,
        resource,
        label: label(),
        strip: Strip::default(),
    })
}

#[inline]
fn paint(row: &mut ResourceRow, bounds: &[i64], time: i64, paint: Option<Paint>) {
    match paint {
        Some(paint) => row.strip.set(bounds, time, paint),
        None => row.strip.end(bounds, time),
    }
}
