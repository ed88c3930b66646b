//! A chart of CPUs, interrupts and block devices.

use ltt_read::TraceIndex;
use lttv_state::kernel::{
    Anomalies, BlockDeviceMode, CpuMode, DeviceNumber, IrqMode, LossOnCpu, NameId, SourceKind,
    TraceState, Transition,
};

use super::chart::{ChartData, HasRows, KernelChart, KernelKey, KernelRows, Snapshot};
use super::row::SegmentState;

/// A chart of the states of CPUs, interrupts and block devices in a time window, with one
/// row per resource.
///
/// ```
/// use lttv_context::{Traceset, TracesetContext};
/// use lttv_requests::{Budget, Owner, Scheduler};
/// use lttv_requests::views::{Resources, TimeWindow};
/// use lttv_state::kernel::KernelState;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let state = context.attach(KernelState::new());
/// let all = TimeWindow::covering(context.contexts().time_span().expect("some events"));
/// let mut scheduler = Scheduler::new(context);
///
/// let view = Resources::new(all, all.width() / 1000);
/// scheduler.submit(view.request(Owner::unique(), state))?;
/// while scheduler.service_chunk(Budget::default()).has_more() {}
/// assert!(view.labels().iter().any(|label| label == "CPU 0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Resources = KernelChart<ResourceKey>;

/// The key of a resource's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceKey {
    /// The index of the resource's trace.
    pub trace: TraceIndex,
    /// The resource of the traced machine.
    pub resource: Resource,
}

/// A resource that processes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// A CPU, by its number.
    Cpu(u32),
    /// An interrupt, soft interrupt or exception, by its kind and number.
    Source(SourceKind, u32),
    /// A block device, by its number.
    Block(DeviceNumber),
}

/// The state of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceState {
    /// The state of a CPU.
    Cpu(CpuMode),
    /// The state of an interrupt.
    Irq(IrqMode),
    /// The state of a soft interrupt.
    Softirq(SoftirqMode),
    /// The state of an exception.
    Trap(IrqMode),
    /// The state of a block device.
    Block(BlockDeviceMode),
}

/// The state of a soft interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SoftirqMode {
    /// The soft interrupt has not occurred yet.
    Unknown,
    /// The handler does not run on any CPU, and the soft interrupt is not raised.
    Idle,
    /// The soft interrupt is raised on a CPU, and its handler runs on none.
    Pending,
    /// The handler runs on a CPU.
    Busy,
}

impl ResourceState {
    /// Returns the current state of an interrupt, soft interrupt or exception. `None` if
    /// the number is not known.
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

    /// Returns `true` if the interrupt or exception has not occurred yet.
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
        match self {
            ResourceState::Cpu(mode) => !matches!(mode, CpuMode::Unknown | CpuMode::Idle),
            ResourceState::Irq(mode) | ResourceState::Trap(mode) => mode == IrqMode::Busy,
            ResourceState::Softirq(mode) => mode == SoftirqMode::Busy,
            ResourceState::Block(mode) => {
                matches!(mode, BlockDeviceMode::BusyReading | BlockDeviceMode::BusyWriting)
            }
        }
    }
}

/// The rows of resources, by trace.
#[derive(Debug, Default)]
pub struct ResourceRows(Vec<TraceRows>);

/// The rows of the resources of a trace.
#[derive(Debug, Default)]
struct TraceRows {
    cpus: Vec<Option<ResourceRow>>,
    /// The interrupts, soft interrupts and exceptions, by kind and number.
    sources: [Vec<Option<ResourceRow>>; SourceKind::ALL.len()],
    /// The block devices, by their index in the kernel state.
    devices: Vec<Option<ResourceRow>>,
    /// The raised soft interrupts by CPU, one bit each.
    pending: Vec<u32>,
    /// The anomalies at the last update of all rows.
    anomalies: Anomalies,
}

/// A resource that has a row.
#[derive(Debug, Clone, Copy)]
struct ResourceRow {
    row: usize,
    /// The name in its label.
    name: NameId,
}

impl KernelKey for ResourceKey {
    type State = ResourceState;
    type Label = String;
}

impl HasRows for ResourceKey {
    type Rows = ResourceRows;
}

impl KernelRows for ResourceRows {
    type Key = ResourceKey;

    fn update_all(&mut self, data: &mut ChartData<'_, ResourceKey>, at: Snapshot<'_>) {
        if self.0.len() <= at.trace.0 {
            self.0.resize_with(at.trace.0 + 1, TraceRows::default);
        }
        let rows = &mut self.0[at.trace.0];
        rows.anomalies = *at.state.anomalies();
        rows.update_all(data, at);
    }

    fn update_after(
        &mut self,
        data: &mut ChartData<'_, ResourceKey>,
        at: Snapshot<'_>,
        transition: Transition,
    ) {
        let effect = at.state.effect();
        let Some(cpu) = effect.cpu() else { return };
        let Some(rows) = self.0.get_mut(at.trace.0) else { return };
        if rows.anomalies != *at.state.anomalies() || !effect.losses().is_empty() {
            return self.update_all(data, at);
        }
        rows.update_cpu(data, at, cpu);
        match rows_changed_by(transition) {
            ChangedRows::Cpu => {}
            ChangedRows::Softirqs => {
                rows.update_pending(at, cpu);
                rows.update_sources(data, at, SourceKind::Softirq);
            }
            ChangedRows::Source(kind) => rows.update_sources(data, at, kind),
            ChangedRows::Devices => rows.update_devices(data, at),
            ChangedRows::All => rows.update_all(data, at),
        }
    }

    fn lose(&mut self, data: &mut ChartData<'_, ResourceKey>, trace: TraceIndex, loss: &LossOnCpu) {
        let cpus = self.0.get(trace.0).map(|rows| &rows.cpus);
        if let Some(Some(shown)) = cpus.and_then(|cpus| cpus.get(loss.cpu_index())) {
            let unknown = ResourceState::Cpu(CpuMode::Unknown);
            data.timeline.change(shown.row, loss.since(), Some(unknown));
        }
    }

    fn order(key: &ResourceKey, _: &String) -> impl Ord {
        *key
    }
}

impl TraceRows {
    fn update_all(&mut self, data: &mut ChartData<'_, ResourceKey>, at: Snapshot<'_>) {
        for (number, _) in at.state.cpus() {
            self.update_cpu(data, at, number);
            self.update_pending(at, number);
        }
        for kind in SourceKind::ALL {
            self.update_sources(data, at, kind);
        }
        self.update_devices(data, at);
    }

    fn update_cpu(&mut self, data: &mut ChartData<'_, ResourceKey>, at: Snapshot<'_>, number: u32) {
        // CPU numbers can be sparse, indices are dense.
        let Some(place) = at.state.cpu_index(number) else { return };
        let mode = ResourceState::Cpu(at.state.cpu_mode(number));
        let what = (Resource::Cpu(number), NameId::NONE);
        set(&mut self.cpus, place, data, at, what, mode);
    }

    fn update_pending(&mut self, at: Snapshot<'_>, cpu: u32) {
        let Some(index) = at.state.cpu_index(cpu) else { return };
        if self.pending.len() <= index {
            self.pending.resize(index + 1, 0);
        }
        self.pending[index] = at.state.cpu(cpu).map_or(0, |of| of.pending_softirqs());
    }

    fn update_sources(
        &mut self,
        data: &mut ChartData<'_, ResourceKey>,
        at: Snapshot<'_>,
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
                continue; // no row before the first occurrence
            }
            let what = (Resource::Source(kind, number), source.name());
            set(rows, number as usize, data, at, what, mode);
        }
    }

    fn update_devices(&mut self, data: &mut ChartData<'_, ResourceKey>, at: Snapshot<'_>) {
        for (place, device) in at.state.devices().iter().enumerate() {
            let what = (Resource::Block(device.number()), device.name());
            let mode = ResourceState::Block(device.mode());
            set(&mut self.devices, place, data, at, what, mode);
        }
    }
}

/// Updates the row of a resource, given its index among resources of its kind.
fn set(
    rows: &mut Vec<Option<ResourceRow>>,
    place: usize,
    data: &mut ChartData<'_, ResourceKey>,
    at: Snapshot<'_>,
    (resource, name): (Resource, NameId),
    mode: ResourceState,
) {
    if let Some(Some(shown)) = rows.get(place)
        && shown.name == name
    {
        return data.timeline.change(shown.row, at.time, Some(mode));
    }
    if rows.len() <= place {
        rows.resize(place + 1, None);
    }
    let row = data.timeline.row_index(ResourceKey { trace: at.trace, resource });
    rows[place] = Some(ResourceRow { row, name });
    data.timeline.change(row, at.time, Some(mode));
    let label = label(resource, at.state.name(name));
    match data.labels.get_mut(row) {
        Some(known) => *known = label,
        None => data.labels.push(label),
    }
}

/// Returns the label in the notation of LTTV.
fn label(resource: Resource, name: &str) -> String {
    let of = match resource {
        Resource::Cpu(number) => return format!("CPU {number}"),
        Resource::Source(kind, number) => format!("{} {number}", kind.label().to_uppercase()),
        Resource::Block(number) => format!("Block ({number})"),
    };
    if name.is_empty() { of } else { format!("{of} [{name}]") }
}

/// The rows that an event changes besides that of its CPU.
enum ChangedRows {
    Cpu,
    Softirqs,
    Source(SourceKind),
    Devices,
    All,
}

fn rows_changed_by(transition: Transition) -> ChangedRows {
    use Transition::*;
    match transition {
        IrqEntry | IrqExit => ChangedRows::Source(SourceKind::Irq),
        VectorEntry | VectorExit => ChangedRows::Source(SourceKind::Vector),
        SoftirqRaise | SoftirqEntry | SoftirqExit => ChangedRows::Softirqs,
        TrapEntry | TrapExit | UserPageFault | KernelPageFault => {
            ChangedRows::Source(SourceKind::Trap)
        }
        BlockIssue | BlockComplete | DeviceName => ChangedRows::Devices,
        Exit | Free | Exec | DumpEnd | ProcessState => ChangedRows::All,
        _ => ChangedRows::Cpu,
    }
}
