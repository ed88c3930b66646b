//! The appearance of states of processes, processors and devices.

use std::fmt;

use lttv_requests::views::{ProcessState, ResourceState, SoftirqMode};
use lttv_state::kernel::{
    BlockDeviceMode, CpuMode, ExecutionMode, IrqMode, ProcessStatus, SourceKind,
};

/// A drawable state of a row of a chart, with LTTV's colour, a sign for displays without
/// colours, and a label for legends.
///
/// ```
/// use lttv_common::paint::{Color, Paint};
///
/// for paint in Paint::OF_PROCESSES {
///     println!("{} {}", paint.sign(), paint.label());
/// }
/// assert_eq!(Paint::Syscall.color(), Color(0x01, 0x9e, 0xff));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Paint {
    /// The state is unknown.
    Unknown,
    /// A process runs, in an unknown mode: its own code or that of the kernel.
    Running,
    /// A process runs its own code.
    User,
    /// A process is in a system call.
    Syscall,
    /// An exception is handled.
    Trap,
    /// An interrupt is handled.
    Irq,
    /// A soft interrupt is handled.
    Softirq,
    /// A process waits for something.
    Wait,
    /// A process waits for a processor.
    WaitCpu,
    /// A process has been forked, and did not run yet.
    WaitFork,
    /// A process is exiting.
    Exit,
    /// A process has exited, and its parent has not waited for it yet.
    Zombie,
    /// A process no longer exists.
    Dead,
    /// A processor or device has nothing to do.
    Idle,
    /// A processor runs a process.
    Busy,
    /// A soft interrupt was raised, and is not handled yet.
    Pending,
    /// A device reads.
    Reading,
    /// A device writes.
    Writing,
}

/// A colour of red, green and blue components. It is formatted like `#019eff`, the
/// notation of CSS and SVG.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Color(pub u8, pub u8, pub u8);

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Color(red, green, blue) = self;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl From<ProcessState> for Paint {
    fn from(state: ProcessState) -> Self {
        Paint::of_process(state.status, state.mode)
    }
}

impl Paint {
    /// All variants, in order.
    pub const ALL: [Paint; 18] = [
        Paint::Unknown,
        Paint::Running,
        Paint::User,
        Paint::Syscall,
        Paint::Trap,
        Paint::Irq,
        Paint::Softirq,
        Paint::Wait,
        Paint::WaitCpu,
        Paint::WaitFork,
        Paint::Exit,
        Paint::Zombie,
        Paint::Dead,
        Paint::Idle,
        Paint::Busy,
        Paint::Pending,
        Paint::Reading,
        Paint::Writing,
    ];

    /// The variants that rows of processes show, in the order of a legend.
    pub const OF_PROCESSES: [Paint; 13] = [
        Paint::User,
        Paint::Syscall,
        Paint::Trap,
        Paint::Irq,
        Paint::Softirq,
        Paint::WaitCpu,
        Paint::Wait,
        Paint::WaitFork,
        Paint::Exit,
        Paint::Zombie,
        Paint::Dead,
        Paint::Running,
        Paint::Unknown,
    ];

    /// The variants that rows of processors and devices show, in the order of a legend.
    pub const OF_RESOURCES: [Paint; 8] = [
        Paint::Busy,
        Paint::Irq,
        Paint::Softirq,
        Paint::Trap,
        Paint::Idle,
        Paint::Pending,
        Paint::Reading,
        Paint::Writing,
    ];

    /// Returns the paint of a process. Any status except running takes precedence over
    /// the mode.
    pub fn of_process(status: ProcessStatus, mode: ExecutionMode) -> Self {
        match (status, mode) {
            (ProcessStatus::WaitFork, _) => Paint::WaitFork,
            (ProcessStatus::WaitCpu, _) => Paint::WaitCpu,
            (ProcessStatus::Exit, _) => Paint::Exit,
            (ProcessStatus::Zombie, _) => Paint::Zombie,
            (ProcessStatus::Wait, _) => Paint::Wait,
            (ProcessStatus::Dead, _) => Paint::Dead,
            (ProcessStatus::Unknown, _) => Paint::Unknown,
            (ProcessStatus::Run, ExecutionMode::Unknown) => Paint::Running,
            (ProcessStatus::Run, ExecutionMode::User) => Paint::User,
            (ProcessStatus::Run, ExecutionMode::Syscall) => Paint::Syscall,
            (ProcessStatus::Run, ExecutionMode::Trap) => Paint::Trap,
            (ProcessStatus::Run, ExecutionMode::Irq) => Paint::Irq,
            (ProcessStatus::Run, ExecutionMode::Softirq) => Paint::Softirq,
        }
    }

    /// Returns the paint of a processor. `None`, which is drawn black, if its state is
    /// unknown.
    pub fn of_cpu(mode: CpuMode) -> Option<Self> {
        match mode {
            CpuMode::Unknown => None,
            CpuMode::Idle => Some(Paint::Idle),
            CpuMode::Busy => Some(Paint::Busy),
            CpuMode::Irq => Some(Paint::Irq),
            CpuMode::Softirq => Some(Paint::Softirq),
            CpuMode::Trap => Some(Paint::Trap),
        }
    }

    /// Returns the paint of an interrupt or exception. `None`, which is drawn black, if
    /// there is nothing to show.
    pub fn of_source(kind: SourceKind, mode: IrqMode, is_pending: bool) -> Option<Self> {
        match (kind, mode) {
            (_, IrqMode::Busy) => match kind {
                SourceKind::Irq | SourceKind::Vector => Some(Paint::Irq),
                SourceKind::Softirq => Some(Paint::Softirq),
                SourceKind::Trap => Some(Paint::Trap),
            },
            (SourceKind::Softirq, _) if is_pending => Some(Paint::Pending),
            (SourceKind::Irq | SourceKind::Vector, IrqMode::Idle) => Some(Paint::Idle),
            _ => None,
        }
    }

    /// Returns the paint of a block device. `None`, which is drawn black, if its state is
    /// unknown.
    pub fn of_device(mode: BlockDeviceMode) -> Option<Self> {
        match mode {
            BlockDeviceMode::Unknown => None,
            BlockDeviceMode::Idle => Some(Paint::Idle),
            BlockDeviceMode::BusyReading => Some(Paint::Reading),
            BlockDeviceMode::BusyWriting => Some(Paint::Writing),
        }
    }

    /// Returns the paint of a resource. `None` if nothing is drawn.
    pub fn of_resource(state: ResourceState) -> Option<Self> {
        match state {
            ResourceState::Cpu(mode) => Paint::of_cpu(mode),
            ResourceState::Irq(mode) => Paint::of_source(SourceKind::Irq, mode, false),
            ResourceState::Trap(mode) => Paint::of_source(SourceKind::Trap, mode, false),
            ResourceState::Softirq(SoftirqMode::Busy) => Some(Paint::Softirq),
            ResourceState::Softirq(SoftirqMode::Pending) => Some(Paint::Pending),
            ResourceState::Softirq(SoftirqMode::Unknown | SoftirqMode::Idle) => None,
            ResourceState::Block(mode) => Paint::of_device(mode),
        }
    }

    /// Returns the index of the variant in [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns `true` for states of activity, and `false` for those of waiting, idling or
    /// having ended.
    pub const fn is_active(self) -> bool {
        matches!(
            self,
            Paint::Running
                | Paint::User
                | Paint::Syscall
                | Paint::Trap
                | Paint::Irq
                | Paint::Softirq
                | Paint::Exit
                | Paint::Busy
                | Paint::Reading
                | Paint::Writing
        )
    }

    /// Returns LTTV's colour, for a black background.
    pub const fn color(self) -> Color {
        let (red, green, blue) = match self {
            Paint::Unknown => (0xff, 0xff, 0xff),
            Paint::Running => (0x9c, 0xe8, 0x9c),
            Paint::User => (0x00, 0xff, 0x00),
            Paint::Syscall => (0x01, 0x9e, 0xff),
            Paint::Trap => (0xff, 0xff, 0x01),
            Paint::Irq => (0xff, 0x5e, 0x00),
            Paint::Softirq => (0xff, 0x94, 0x96),
            Paint::Wait => (0x66, 0x00, 0x00),
            Paint::WaitCpu => (0x77, 0x77, 0x00),
            Paint::WaitFork => (0x07, 0x64, 0x00),
            Paint::Exit => (0x89, 0x00, 0x84),
            Paint::Zombie => (0x64, 0x00, 0x5d),
            Paint::Dead => (0x00, 0x00, 0x00),
            Paint::Idle => (0xbb, 0xbb, 0xbb),
            Paint::Busy => (0xff, 0xff, 0xff),
            Paint::Pending => (0xff, 0xd4, 0xd4),
            Paint::Reading => (0x00, 0x00, 0xff),
            Paint::Writing => (0xff, 0x00, 0x00),
        };
        Color(red, green, blue)
    }

    /// Returns the label for legends.
    pub const fn label(self) -> &'static str {
        match self {
            Paint::Unknown => "unknown",
            Paint::Running => "running",
            Paint::User => "user",
            Paint::Syscall => "syscall",
            Paint::Trap => "trap",
            Paint::Irq => "irq",
            Paint::Softirq => "softirq",
            Paint::Wait => "blocked",
            Paint::WaitCpu => "wait cpu",
            Paint::WaitFork => "wait fork",
            Paint::Exit => "exit",
            Paint::Zombie => "zombie",
            Paint::Dead => "dead",
            Paint::Idle => "idle",
            Paint::Busy => "busy",
            Paint::Pending => "pending",
            Paint::Reading => "reading",
            Paint::Writing => "writing",
        }
    }

    /// Returns a letter or sign for displays without colours.
    pub const fn sign(self) -> char {
        match self {
            Paint::Unknown => '?',
            Paint::Running => 'r',
            Paint::User => 'U',
            Paint::Syscall => 'S',
            Paint::Trap => 'T',
            Paint::Irq => 'I',
            Paint::Softirq => 's',
            Paint::Wait => '.',
            Paint::WaitCpu => ':',
            Paint::WaitFork => ',',
            Paint::Exit => 'X',
            Paint::Zombie => 'z',
            Paint::Dead => ' ',
            Paint::Idle => '-',
            Paint::Busy => '#',
            Paint::Pending => '!',
            Paint::Reading => 'R',
            Paint::Writing => 'W',
        }
    }
}

#[cfg(test)]
mod tests {
    use lttv_requests::views::SegmentState;
    use lttv_state::kernel::NameId;

    use super::*;

    #[test]
    fn all_is_in_the_order_of_indices() {
        assert!(Paint::ALL.iter().enumerate().all(|(at, paint)| paint.index() == at));
    }

    #[test]
    fn legends_contain_all_variants() {
        let legends = [&Paint::OF_PROCESSES[..], &Paint::OF_RESOURCES].concat();
        assert!(Paint::ALL.iter().all(|paint| legends.contains(paint)));
    }

    #[test]
    fn signs_differ_within_a_legend() {
        for legend in [&Paint::OF_PROCESSES[..], &Paint::OF_RESOURCES] {
            let mut signs: Vec<_> = legend.iter().map(|paint| paint.sign()).collect();
            signs.sort_unstable();
            signs.dedup();
            assert_eq!(signs.len(), legend.len());
        }
    }

    #[test]
    fn models_and_paints_agree_on_activity_and_looks() {
        let mut states = Vec::new();
        for status in ProcessStatus::ALL.iter().copied() {
            let state = |mode: &_| ProcessState { status, mode: *mode, submode: NameId::NONE };
            states.extend(ExecutionMode::ALL.iter().map(state));
        }
        for a in &states {
            assert_eq!(a.is_active(), Paint::from(*a).is_active(), "{a:?}");
            for b in &states {
                let is_same = Paint::from(*a) == Paint::from(*b);
                assert_eq!(a.looks_like(*b), is_same, "{a:?} {b:?}");
            }
        }
        let irqs =
            IrqMode::ALL.iter().flat_map(|m| [ResourceState::Irq(*m), ResourceState::Trap(*m)]);
        let cpus = CpuMode::ALL.iter().map(|mode| ResourceState::Cpu(*mode));
        let devices = BlockDeviceMode::ALL.iter().map(|mode| ResourceState::Block(*mode));
        let softirqs =
            [SoftirqMode::Unknown, SoftirqMode::Idle, SoftirqMode::Pending, SoftirqMode::Busy]
                .map(ResourceState::Softirq);
        for state in irqs.chain(cpus).chain(devices).chain(softirqs) {
            let paint = Paint::of_resource(state);
            assert_eq!(state.is_active(), paint.is_some_and(Paint::is_active), "{state:?}");
        }
    }
}
