//! What CPUs, interrupts and block devices did.

use std::cell::{Ref, RefCell};
use std::rc::Rc;

use lttv_context::Handle;
use lttv_state::kernel::{
    Anomalies, BlockDeviceMode, CpuMode, DeviceNumber, IrqMode, KernelState, SourceKind,
    TraceState, Transition,
};

use super::chart::{Chart, Drawn, Place, Rows};
use super::color::Color;
use super::timeline::Timeline;
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
    inner: Rc<RefCell<Chart<Machines>>>,
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

/// Of each trace, what was odd when all of it was looked at last.
#[derive(Debug, Default)]
struct Machines(Vec<Anomalies>);

impl Resources {
    /// No rows yet. The resolution is in ns: the time that a pixel stands for.
    pub fn new(window: TimeWindow, resolution: u64) -> Self {
        Resources { inner: Chart::new(window, resolution) }
    }

    /// Its rows. To be let go before the scheduler works again.
    pub fn timeline(&self) -> Ref<'_, Timeline<ResourceKey, ResourceState>> {
        Ref::map(self.inner.borrow(), |inner| &inner.drawn.timeline)
    }

    /// What is written beside the rows; as [`timeline`](Self::timeline).
    pub fn labels(&self) -> Ref<'_, [String]> {
        Ref::map(self.inner.borrow(), |inner| inner.drawn.labels.as_slice())
    }

    /// The rows in order: by trace, CPUs first.
    pub fn order(&self) -> Vec<usize> {
        let inner = &self.inner.borrow().drawn;
        let mut rows: Vec<usize> = (0..inner.labels.len()).collect();
        rows.sort_by_key(|row| *inner.timeline.rows()[*row].key());
        rows
    }

    /// Shows another window. Requests of before stop. If the resolution stays the
    /// same and the window moves by whole columns, what is known of it is kept:
    /// scrolling costs no more than what comes into sight.
    pub fn show(&self, window: TimeWindow, resolution: u64) {
        self.inner.borrow_mut().show(window, resolution);
    }

    /// The stretch of time that is not known: what a [`request`](Self::request)
    /// is for. `None` if all is known.
    pub fn missing(&self) -> Option<TimeWindow> {
        self.inner.borrow().drawn.timeline.missing()
    }

    /// The request that fills it, by the state that is attached to the scheduler's
    /// context.
    pub fn request<'h>(&self, owner: Owner, state: Handle<KernelState>) -> EventsRequest<'h> {
        Chart::request(&self.inner, owner, state)
    }
}

impl Rows for Machines {
    type Key = ResourceKey;
    type State = ResourceState;
    type Label = String;

    fn look_at_all(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>) {
        if self.0.len() <= at.trace {
            self.0.resize(at.trace + 1, Anomalies::default());
        }
        self.0[at.trace] = *at.state.anomalies();
        drawn.look_at_machine(at);
    }

    fn follow(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>, what: Transition) {
        let effect = at.state.effect();
        let Some(cpu) = effect.cpu() else { return };
        let Some(anomalies) = self.0.get(at.trace) else { return };
        if *anomalies != *at.state.anomalies() || effect.lost_since().is_some() {
            return self.look_at_all(drawn, at);
        }
        drawn.look_at_cpu(at, cpu);
        match kind_of(what) {
            Touched::Cpu => {}
            Touched::Source(kind) => drawn.look_at_sources(at, kind),
            Touched::Devices => drawn.look_at_devices(at),
            Touched::All => drawn.look_at_machine(at),
        }
    }
}

impl Drawn<Machines> {
    fn look_at_machine(&mut self, at: Place<'_>) {
        for (number, _) in at.state.cpus() {
            self.look_at_cpu(at, number);
        }
        for kind in SourceKind::ALL {
            self.look_at_sources(at, kind);
        }
        self.look_at_devices(at);
    }

    fn look_at_cpu(&mut self, at: Place<'_>, number: u32) {
        let mode = ResourceState::Cpu(at.state.cpu_mode(number));
        self.set(at, Resource::Cpu(number), mode, || format!("CPU {number}"));
    }

    fn look_at_sources(&mut self, at: Place<'_>, kind: SourceKind) {
        let state = at.state;
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
            self.set(at, Resource::Source(kind, number), mode, label);
        }
    }

    fn look_at_devices(&mut self, at: Place<'_>) {
        for device in at.state.devices() {
            let number = device.number();
            let label = || match at.state.name(device.name()) {
                "" => format!("Block {number}"),
                name => format!("Block {number} [{name}]"),
            };
            let mode = ResourceState::Block(device.mode());
            self.set(at, Resource::Block(number), mode, label);
        }
    }

    fn set(
        &mut self,
        at: Place<'_>,
        resource: Resource,
        state: ResourceState,
        label: impl FnOnce() -> String,
    ) {
        let row = self.timeline.place(ResourceKey { trace: at.trace, resource });
        self.timeline.set_at(row, at.time, state);
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
