//! What CPUs, interrupts and block devices did.

use std::cell::{Ref, RefCell};
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{Handle, Level};
use lttv_state::kernel::{
    Anomalies, BlockDeviceMode, CpuMode, DeviceNumber, IrqMode, KernelState, SourceKind,
    TraceState, Transition,
};

use super::color::Color;
use super::timeline::Timeline;
use crate::finish::FinishReason;
use crate::identity::Owner;
use crate::request::EventsRequest;
use crate::window::TimeWindow;

/// What CPUs, interrupts and block devices did in a time window: a row each.
///
/// ```
/// use lttv_context::{Traceset, TracesetContext};
/// use lttv_requests::{Budget, Owner, Scheduler, TimeWindow};
/// use lttv_requests::views::Resources;
/// use lttv_state::kernel::KernelState;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let state = context.attach(KernelState::new());
/// let all = TimeWindow::of(context.contexts().time_span().expect("some events"));
/// let mut scheduler = Scheduler::new(context);
///
/// let view = Resources::new(all, all.width() / 1000);
/// scheduler.submit(view.request(Owner::fresh(), state))?;
/// while scheduler.service_chunk(Budget::default()).has_more() {}
/// assert!(view.labels().iter().any(|label| label == "CPU 0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Resources {
    inner: Rc<RefCell<Inner>>,
}

/// Which resource a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceKey {
    /// The index of its trace.
    pub trace: usize,
    /// Which of the machine's.
    pub resource: Resource,
}

/// What serves all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// The CPU of a number.
    Cpu(u32),
    /// An interrupt, soft interrupt or exception.
    Source(SourceKind, u32),
    /// A block device.
    Block(DeviceNumber),
}

/// What a resource is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceState {
    /// A CPU.
    Cpu(CpuMode),
    /// An interrupt.
    Irq(IrqMode),
    /// A soft interrupt.
    Softirq(SoftirqMode),
    /// An exception.
    Trap(IrqMode),
    /// A block device.
    Block(BlockDeviceMode),
}

/// What a soft interrupt is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SoftirqMode {
    /// It has not come yet.
    Unknown,
    /// Its handler runs nowhere, and is not asked for.
    Idle,
    /// It was raised on some CPU, and runs on none.
    Pending,
    /// Its handler runs.
    Busy,
}

impl ResourceState {
    /// The colour that LTTV gives it.
    pub const fn color(self) -> Color {
        Color::rgb(match self {
            ResourceState::Cpu(CpuMode::Idle)
            | ResourceState::Irq(IrqMode::Idle)
            | ResourceState::Block(BlockDeviceMode::Idle) => 0xbbbbbb,
            ResourceState::Cpu(CpuMode::Busy) => 0xffffff,
            ResourceState::Cpu(CpuMode::Irq) | ResourceState::Irq(IrqMode::Busy) => 0xff5e00,
            ResourceState::Cpu(CpuMode::Softirq) | ResourceState::Softirq(SoftirqMode::Busy) => {
                0xff9496
            }
            ResourceState::Cpu(CpuMode::Trap) | ResourceState::Trap(IrqMode::Busy) => 0xffff01,
            ResourceState::Softirq(SoftirqMode::Pending) => 0xffd4d4,
            ResourceState::Block(BlockDeviceMode::BusyReading) => 0x0000ff,
            ResourceState::Block(BlockDeviceMode::BusyWriting) => 0xff0000,
            ResourceState::Cpu(CpuMode::Unknown)
            | ResourceState::Irq(IrqMode::Unknown)
            | ResourceState::Softirq(SoftirqMode::Unknown | SoftirqMode::Idle)
            | ResourceState::Trap(IrqMode::Unknown | IrqMode::Idle)
            | ResourceState::Block(BlockDeviceMode::Unknown) => 0x000000,
        })
    }

    /// What a source of interrupts or exceptions is doing; `None` if there is none
    /// of this number.
    pub fn of_source(state: &TraceState, kind: SourceKind, number: u32) -> Option<Self> {
        let mode = state.sources(kind).get(number as usize)?.mode();
        Some(match kind {
            SourceKind::Irq | SourceKind::Vector => ResourceState::Irq(mode),
            SourceKind::Trap => ResourceState::Trap(mode),
            SourceKind::Softirq => ResourceState::Softirq(match mode {
                IrqMode::Busy => SoftirqMode::Busy,
                _ if state.cpus().any(|(_, cpu)| cpu.is_softirq_pending(number)) => {
                    SoftirqMode::Pending
                }
                IrqMode::Idle => SoftirqMode::Idle,
                IrqMode::Unknown => SoftirqMode::Unknown,
            }),
        })
    }
}

#[derive(Debug)]
struct Inner {
    timeline: Timeline<ResourceKey, ResourceState>,
    labels: Vec<String>,
    anomalies: Vec<Anomalies>,
    latest: Timestamp,
    epoch: u64,
}

impl Resources {
    /// No rows yet. The resolution is in ns: the time that a pixel stands for.
    pub fn new(window: TimeWindow, resolution: u64) -> Self {
        let inner = Inner {
            timeline: Timeline::new(window, resolution),
            labels: Vec::new(),
            anomalies: Vec::new(),
            latest: window.begin(),
            epoch: 0,
        };
        Resources { inner: Rc::new(RefCell::new(inner)) }
    }

    /// Its rows. To be let go before the scheduler works again.
    pub fn timeline(&self) -> Ref<'_, Timeline<ResourceKey, ResourceState>> {
        Ref::map(self.inner.borrow(), |inner| &inner.timeline)
    }

    /// What is written beside the rows; as [`timeline`](Self::timeline).
    pub fn labels(&self) -> Ref<'_, [String]> {
        Ref::map(self.inner.borrow(), |inner| inner.labels.as_slice())
    }

    /// The rows in order: by trace, CPUs first.
    pub fn order(&self) -> Vec<usize> {
        let inner = self.inner.borrow();
        let mut rows: Vec<usize> = (0..inner.labels.len()).collect();
        rows.sort_by_key(|row| *inner.timeline.rows()[*row].key());
        rows
    }

    /// Shows another window. Requests of before stop.
    pub fn show(&self, window: TimeWindow, resolution: u64) {
        let mut inner = self.inner.borrow_mut();
        inner.timeline = Timeline::new(window, resolution);
        inner.labels.clear();
        inner.latest = window.begin();
        inner.epoch += 1;
    }

    /// The request that fills it, by the state that is attached to the scheduler's
    /// context.
    pub fn request<'h>(&self, owner: Owner, state: Handle<KernelState>) -> EventsRequest<'h> {
        let epoch = self.inner.borrow().epoch;
        let window = self.timeline().window();
        let [at_begin, at_event, at_chunk, at_end] = [(); 4].map(|()| self.inner.clone());
        EventsRequest::new(owner)
            .from(window.begin())
            .until(window.end())
            .before_request(move |call, _| {
                let (mut inner, state) = (at_begin.borrow_mut(), call.extensions.get(state));
                if inner.epoch != epoch {
                    return;
                }
                let Some(state) = state else { return };
                inner.anomalies = state.traces().map(|trace| *trace.anomalies()).collect();
                for (trace, machine) in state.traces().enumerate() {
                    inner.look_at_all(trace, machine, window.begin());
                }
            })
            .on_every_event(move |call, request| {
                let trace = call.trace.index();
                let Some(state) = call.extensions.get(state) else { return };
                let transition = state.transition(trace, call.event.type_id());
                let mut inner = at_event.borrow_mut();
                if inner.epoch != epoch {
                    return request.stop();
                }
                inner.latest = call.time();
                if let (Some(transition), Some(machine)) = (transition, state.trace(trace)) {
                    inner.follow(trace, machine, transition, call.time());
                }
            })
            .after_chunk(Level::Traceset, move |_, _| {
                let mut inner = at_chunk.borrow_mut();
                if inner.epoch == epoch {
                    let latest = inner.latest;
                    inner.timeline.know(latest);
                }
            })
            .after_request(move |_, _, reason| {
                let mut inner = at_end.borrow_mut();
                let is_all = matches!(reason, FinishReason::EndTime | FinishReason::EndOfTraceset);
                if is_all && inner.epoch == epoch {
                    inner.timeline.know(window.end());
                }
            })
    }
}

impl Inner {
    /// An event changed a machine's state.
    fn follow(&mut self, trace: usize, state: &TraceState, what: Transition, time: Timestamp) {
        let effect = state.effect();
        let Some(cpu) = effect.cpu() else { return };
        let Some(anomalies) = self.anomalies.get_mut(trace) else { return };
        if *anomalies != *state.anomalies() || effect.lost_since().is_some() {
            *anomalies = *state.anomalies();
            return self.look_at_all(trace, state, time);
        }
        self.look_at_cpu(trace, state, cpu, time);
        match kind_of(what) {
            Touched::Cpu => {}
            Touched::Source(kind) => self.look_at_sources(trace, state, kind, time),
            Touched::Devices => self.look_at_devices(trace, state, time),
            Touched::All => self.look_at_all(trace, state, time),
        }
    }

    fn look_at_all(&mut self, trace: usize, state: &TraceState, time: Timestamp) {
        for (number, _) in state.cpus() {
            self.look_at_cpu(trace, state, number, time);
        }
        for kind in SourceKind::ALL {
            self.look_at_sources(trace, state, kind, time);
        }
        self.look_at_devices(trace, state, time);
    }

    fn look_at_cpu(&mut self, trace: usize, state: &TraceState, number: u32, time: Timestamp) {
        let mode = ResourceState::Cpu(state.cpu_mode(number));
        self.set(trace, Resource::Cpu(number), time, mode, || format!("CPU {number}"));
    }

    fn look_at_sources(
        &mut self,
        trace: usize,
        state: &TraceState,
        kind: SourceKind,
        time: Timestamp,
    ) {
        for (number, source) in (0..).zip(state.sources(kind)) {
            let Some(mode) = ResourceState::of_source(state, kind, number) else { continue };
            let is_unknown = matches!(
                mode,
                ResourceState::Irq(IrqMode::Unknown)
                    | ResourceState::Trap(IrqMode::Unknown)
                    | ResourceState::Softirq(SoftirqMode::Unknown)
            );
            if is_unknown {
                continue; // it has no row before it comes
            }
            let label = || format!("{kind:?} {number} [{}]", state.name(source.name()));
            self.set(trace, Resource::Source(kind, number), time, mode, label);
        }
    }

    fn look_at_devices(&mut self, trace: usize, state: &TraceState, time: Timestamp) {
        for device in state.devices() {
            let number = device.number();
            let label = || match state.name(device.name()) {
                "" => format!("Block {number}"),
                name => format!("Block {number} [{name}]"),
            };
            let mode = ResourceState::Block(device.mode());
            self.set(trace, Resource::Block(number), time, mode, label);
        }
    }

    fn set(
        &mut self,
        trace: usize,
        resource: Resource,
        time: Timestamp,
        state: ResourceState,
        label: impl FnOnce() -> String,
    ) {
        let row = self.timeline.place(ResourceKey { trace, resource });
        self.timeline.set_at(row, time, state);
        if row == self.labels.len() {
            self.labels.push(label());
        }
    }
}

/// What besides its CPU an event changes.
enum Touched {
    Cpu,
    Source(SourceKind),
    Devices,
    All,
}

fn kind_of(transition: Transition) -> Touched {
    use Transition::*;
    match transition {
        IrqEntry | IrqExit => Touched::Source(SourceKind::Irq),
        VectorEntry | VectorExit => Touched::Source(SourceKind::Vector),
        SoftirqRaise | SoftirqEntry | SoftirqExit => Touched::Source(SourceKind::Softirq),
        TrapEntry | TrapExit | UserPageFault | KernelPageFault => Touched::Source(SourceKind::Trap),
        BlockIssue | BlockComplete | DeviceName => Touched::Devices,
        Exit | Free | Exec | DumpEnd | ProcessState => Touched::All,
        _ => Touched::Cpu,
    }
}
