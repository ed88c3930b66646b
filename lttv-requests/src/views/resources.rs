//! What CPUs, interrupts and block devices did.

use lttv_state::kernel::{
    Anomalies, BlockDeviceMode, CpuMode, DeviceNumber, IrqMode, NameId, SourceKind, TraceState,
    Transition,
};

use super::chart::{Drawn, KernelChart, KernelRows, Place};
use super::paint::Paint;
use super::row::SegmentState;

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
pub type Resources = KernelChart<ResourceRows>;

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
    /// How it is drawn; `None` if there is nothing to be drawn.
    pub fn paint(self) -> Option<Paint> {
        match self {
            ResourceState::Cpu(mode) => Paint::of_cpu(mode),
            ResourceState::Irq(mode) => Paint::of_source(SourceKind::Irq, mode, false),
            ResourceState::Trap(mode) => Paint::of_source(SourceKind::Trap, mode, false),
            ResourceState::Softirq(SoftirqMode::Busy) => Some(Paint::Softirq),
            ResourceState::Softirq(SoftirqMode::Pending) => Some(Paint::Pending),
            ResourceState::Softirq(SoftirqMode::Unknown | SoftirqMode::Idle) => None,
            ResourceState::Block(mode) => Paint::of_device(mode),
        }
    }

    /// What a source of interrupts or exceptions is doing; `None` if there is none
    /// of this number.
    pub fn of_source(state: &TraceState, kind: SourceKind, number: u32) -> Option<Self> {
        let source = state.sources(kind).get(number as usize)?;
        let is_pending = |number| state.cpus().any(|(_, cpu)| cpu.is_softirq_pending(number));
        let is_pending = kind == SourceKind::Softirq && is_pending(number);
        Some(ResourceState::of(kind, source.mode(), is_pending))
    }

    fn of(kind: SourceKind, mode: IrqMode, is_pending: bool) -> Self {
        match kind {
            SourceKind::Irq | SourceKind::Vector => ResourceState::Irq(mode),
            SourceKind::Trap => ResourceState::Trap(mode),
            SourceKind::Softirq => ResourceState::Softirq(match mode {
                IrqMode::Busy => SoftirqMode::Busy,
                _ if is_pending => SoftirqMode::Pending,
                IrqMode::Idle => SoftirqMode::Idle,
                IrqMode::Unknown => SoftirqMode::Unknown,
            }),
        }
    }

    /// Whether it is not known: it has not come yet.
    fn is_unknown(self) -> bool {
        matches!(
            self,
            ResourceState::Irq(IrqMode::Unknown)
                | ResourceState::Trap(IrqMode::Unknown)
                | ResourceState::Softirq(SoftirqMode::Unknown)
        )
    }
}

impl SegmentState for ResourceState {
    fn is_active(self) -> bool {
        self.paint().is_some_and(Paint::is_active)
    }
}

/// Rows of resources: of each trace, those of its machine.
#[derive(Debug, Default)]
pub struct ResourceRows(Vec<Machine>);

/// Which row each resource of a machine has, by number.
#[derive(Debug, Default)]
struct Machine {
    cpus: Vec<Option<Shown>>,
    /// By kind.
    sources: [Vec<Option<Shown>>; SourceKind::ALL.len()],
    /// By their places in the state.
    devices: Vec<Option<Shown>>,
    /// Soft interrupts that were raised, by CPU, a bit each.
    pending: Vec<u32>,
    /// What was odd when all of it was looked at last.
    anomalies: Anomalies,
}

/// A resource that has a row.
#[derive(Debug, Clone, Copy)]
struct Shown {
    row: usize,
    /// What its label says.
    name: NameId,
}

impl KernelRows for ResourceRows {
    type Key = ResourceKey;
    type State = ResourceState;
    type Label = String;

    fn look_at_all(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>) {
        if self.0.len() <= at.trace {
            self.0.resize_with(at.trace + 1, Machine::default);
        }
        let machine = &mut self.0[at.trace];
        machine.anomalies = *at.state.anomalies();
        machine.look_at_all(drawn, at);
    }

    fn follow(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>, what: Transition) {
        let effect = at.state.effect();
        let Some(cpu) = effect.cpu() else { return };
        let Some(machine) = self.0.get_mut(at.trace) else { return };
        if machine.anomalies != *at.state.anomalies() || effect.lost_since().is_some() {
            return self.look_at_all(drawn, at);
        }
        machine.look_at_cpu(drawn, at, cpu);
        match kind_of(what) {
            Touched::Cpu => {}
            Touched::Softirqs => {
                machine.look_at_pending(at, cpu);
                machine.look_at_sources(drawn, at, SourceKind::Softirq);
            }
            Touched::Source(kind) => machine.look_at_sources(drawn, at, kind),
            Touched::Devices => machine.look_at_devices(drawn, at),
            Touched::All => machine.look_at_all(drawn, at),
        }
    }

    fn order(key: &ResourceKey, _: &String) -> impl Ord {
        *key
    }
}

impl Machine {
    fn look_at_all(&mut self, drawn: &mut Drawn<ResourceRows>, at: Place<'_>) {
        for (number, _) in at.state.cpus() {
            self.look_at_cpu(drawn, at, number);
            self.look_at_pending(at, number);
        }
        for kind in SourceKind::ALL {
            self.look_at_sources(drawn, at, kind);
        }
        self.look_at_devices(drawn, at);
    }

    fn look_at_cpu(&mut self, drawn: &mut Drawn<ResourceRows>, at: Place<'_>, number: u32) {
        // Numbers may be anything; places are dense.
        let Some(place) = at.state.cpu_index(number) else { return };
        let mode = ResourceState::Cpu(at.state.cpu_mode(number));
        let what = (Resource::Cpu(number), NameId::NONE);
        set(&mut self.cpus, place, drawn, at, what, mode);
    }

    fn look_at_pending(&mut self, at: Place<'_>, cpu: u32) {
        let Some(index) = at.state.cpu_index(cpu) else { return };
        if self.pending.len() <= index {
            self.pending.resize(index + 1, 0);
        }
        self.pending[index] = at.state.cpu(cpu).map_or(0, |of| of.pending_softirqs());
    }

    fn look_at_sources(
        &mut self,
        drawn: &mut Drawn<ResourceRows>,
        at: Place<'_>,
        kind: SourceKind,
    ) {
        let pending = match kind {
            SourceKind::Softirq => self.pending.iter().fold(0, |all, of| all | of),
            _ => 0,
        };
        let rows = &mut self.sources[kind as usize];
        for (number, source) in (0u32..).zip(at.state.sources(kind)) {
            let is_pending = 1u32.checked_shl(number).is_some_and(|bit| pending & bit != 0);
            let mode = ResourceState::of(kind, source.mode(), is_pending);
            if mode.is_unknown() {
                continue; // it has no row before it comes
            }
            let what = (Resource::Source(kind, number), source.name());
            set(rows, number as usize, drawn, at, what, mode);
        }
    }

    fn look_at_devices(&mut self, drawn: &mut Drawn<ResourceRows>, at: Place<'_>) {
        for (place, device) in at.state.devices().iter().enumerate() {
            let what = (Resource::Block(device.number()), device.name());
            let mode = ResourceState::Block(device.mode());
            set(&mut self.devices, place, drawn, at, what, mode);
        }
    }
}

/// Puts the row of a resource right, that is in a place among its like.
fn set(
    rows: &mut Vec<Option<Shown>>,
    place: usize,
    drawn: &mut Drawn<ResourceRows>,
    at: Place<'_>,
    (resource, name): (Resource, NameId),
    mode: ResourceState,
) {
    if let Some(Some(shown)) = rows.get(place)
        && shown.name == name
    {
        return drawn.timeline.change(shown.row, at.time, Some(mode));
    }
    if rows.len() <= place {
        rows.resize(place + 1, None);
    }
    let row = drawn.timeline.place(ResourceKey { trace: at.trace, resource });
    rows[place] = Some(Shown { row, name });
    drawn.timeline.change(row, at.time, Some(mode));
    let label = label(resource, at.state.name(name));
    match drawn.labels.get_mut(row) {
        Some(known) => *known = label,
        None => drawn.labels.push(label),
    }
}

/// As LTTV writes it.
fn label(resource: Resource, name: &str) -> String {
    let of = match resource {
        Resource::Cpu(number) => return format!("CPU {number}"),
        Resource::Source(kind, number) => format!("{} {number}", kind.label().to_uppercase()),
        Resource::Block(number) => format!("Block ({number})"),
    };
    if name.is_empty() { of } else { format!("{of} [{name}]") }
}

/// What besides its CPU an event changes.
enum Touched {
    Cpu,
    Softirqs,
    Source(SourceKind),
    Devices,
    All,
}

fn kind_of(transition: Transition) -> Touched {
    use Transition::*;
    match transition {
        IrqEntry | IrqExit => Touched::Source(SourceKind::Irq),
        VectorEntry | VectorExit => Touched::Source(SourceKind::Vector),
        SoftirqRaise | SoftirqEntry | SoftirqExit => Touched::Softirqs,
        TrapEntry | TrapExit | UserPageFault | KernelPageFault => Touched::Source(SourceKind::Trap),
        BlockIssue | BlockComplete | DeviceName => Touched::Devices,
        Exit | Free | Exec | DumpEnd | ProcessState => Touched::All,
        _ => Touched::Cpu,
    }
}
