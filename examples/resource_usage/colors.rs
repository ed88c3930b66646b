//! The colours that LTTV's viewers gave to what CPUs and processes do.

use lttv_state::kernel::{CpuMode, ExecutionMode, Process, ProcessStatus};

/// A colour and what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color {
    pub(crate) rgb: &'static str,
    pub(crate) meaning: &'static str,
}

const fn color(rgb: &'static str, meaning: &'static str) -> Color {
    Color { rgb, meaning }
}

/// Those of processes, the ones that a column is drawn in first if it has several
/// for equally long.
pub(crate) const PROCESS: &[Color] = &[
    color("#00ff00", "user mode"),
    color("#019eff", "system call"),
    color("#ffff01", "trap"),
    color("#ff5e00", "interrupt"),
    color("#ff9496", "soft interrupt"),
    color("#777700", "waits for a CPU"),
    color("#660000", "waits"),
    color("#076400", "just forked"),
    color("#890084", "exiting"),
    color("#64005d", "zombie"),
    color("#000000", "dead or not there"),
    color("#ffffff", "not known"),
];

/// Index of [`PROCESS`] for a process that is not there.
pub(crate) const ABSENT: u8 = 10;

/// Those of CPUs.
pub(crate) const CPU: &[Color] = &[
    color("#ffffff", "busy"),
    color("#ff5e00", "interrupt"),
    color("#ff9496", "soft interrupt"),
    color("#ffff01", "trap"),
    color("#bbbbbb", "idle"),
    color("#000000", "not known"),
];

/// Which of [`PROCESS`] a process has.
pub(crate) fn of_process(process: &Process) -> u8 {
    match (process.status(), process.mode()) {
        (ProcessStatus::WaitCpu, _) => 5,
        (ProcessStatus::Wait, _) => 6,
        (ProcessStatus::WaitFork, _) => 7,
        (ProcessStatus::Exit, _) => 8,
        (ProcessStatus::Zombie, _) => 9,
        (ProcessStatus::Dead, _) => ABSENT,
        (ProcessStatus::Unnamed, _) | (_, ExecutionMode::Unknown) => 11,
        (ProcessStatus::Run, ExecutionMode::User) => 0,
        (ProcessStatus::Run, ExecutionMode::Syscall) => 1,
        (ProcessStatus::Run, ExecutionMode::Trap) => 2,
        (ProcessStatus::Run, ExecutionMode::Irq) => 3,
        (ProcessStatus::Run, ExecutionMode::Softirq) => 4,
    }
}

/// Which of [`CPU`] a CPU has.
pub(crate) fn of_cpu(mode: CpuMode) -> u8 {
    match mode {
        CpuMode::Busy => 0,
        CpuMode::Irq => 1,
        CpuMode::Softirq => 2,
        CpuMode::Trap => 3,
        CpuMode::Idle => 4,
        CpuMode::Unknown => 5,
    }
}
