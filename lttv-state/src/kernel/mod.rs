//! What a machine was doing, rebuilt from the events of its kernel trace.
//!
//! Attach a [`KernelState`] to a context. Hooks with a priority after
//! [`Priority::STATE`](lttv_hooks::Priority::STATE) find there the state after
//! their event, hooks before it that before their event: who runs on each CPU, what
//! each [`Process`] executes ([`Frame`]s of mode and submode), which interrupts are
//! being handled, which block devices are busy.
//!
//! # Tracers
//!
//! Events of LTTng 2.x, perf (its CTF export) and LTTng 0.x are understood, by one
//! table that says which [`Transition`] each is. It is looked at once for each
//! event type; afterwards an event finds what it changes by its type's number.
//!
//! # When a trace does not tell all
//!
//! * **It begins somewhere.** Who runs on a CPU at the begin, its first switch
//!   tells, which is looked for in advance. The mode of processes gets known by
//!   their next system call, by the state that LTTng dumps, or stays
//!   [`ExecutionMode::Unknown`].
//! * **Events were lost** on a CPU: what it runs is unknown until its next switch,
//!   and so is what became of processes that waited for it. (The loss shows at the
//!   CPU's next event, see [`Effect::lost_since`].)
//! * **Events contradict what was known**: the newer one counts.
//!   [`TraceState::anomalies`] counts such cases.
//!
//! # Where this differs from LTTV
//!
//! Modes, statuses, submodes and their spelling are LTTV's; its rules are, too,
//! but for these:
//!
//! * LTTV does not look at who is switched out; here that is compared with who
//!   ran, and put right.
//! * An exit that does not fit the innermost frame is ignored there. Here frames
//!   within the one that exits are dropped: their exits were lost.
//! * A process that is woken up while it runs goes on running.
//! * A process that is exiting when it is switched out is what the switch says: it
//!   may well come back. It has the status [`ProcessStatus::Exit`] whenever it runs.
//! * The birth of a process with a known id makes another process; LTTV aborts.
//! * Block devices are told apart by major *and* minor number.
//!
//! # Limits
//!
//! Process ids are below 2²², as in Linux; what is beyond is counted and left out.
//! Interrupts numbered 2¹⁶ and above are not told apart. CPUs may have any numbers; of
//! more than 2¹⁴ CPUs, those that appear last count as one, with the number 2³² − 1.
//! Memory grows with CPUs that appear, processes that live at one time, and names.

mod anomalies;
mod apply;
mod cpu;
mod cpu_index;
mod effect;
mod extension;
mod follower;
mod journal;
mod look_ahead;
mod machine;
mod modes;
mod names;
mod packets;
mod process;
mod resources;
mod rule;
mod saved_bytes;
mod saved_names;
#[cfg(feature = "checkpoint-files")]
mod sound;
#[cfg(feature = "checkpoint-files")]
mod stored;
mod switched_out;
mod syscalls;
mod table;
mod tid_map;
mod told_names;
mod transition;

pub use anomalies::Anomalies;
pub use cpu::Cpu;
pub use effect::{Effect, Ended, Request, RequestStep, Waited};
pub use extension::{KernelState, SavedKernelState};
pub(crate) use follower::Follower;
pub(crate) use machine::Changed;
pub use machine::TraceState;
pub use modes::{BlockDeviceMode, CpuMode, ExecutionMode, IrqMode, ProcessStatus, ProcessType};
pub use names::{NameId, Names};
pub use process::{Frame, Process, Serial, Tid};
pub use resources::{BlockDevice, DeviceNumber, RequestKind, Source, SourceKind};
pub use syscalls::Transfer;
pub use table::ProcessIx;
pub use transition::Transition;

/// Grows when the same trace comes to other states than before: what was stored of
/// them is made anew then.
pub(crate) const VERSION: u32 = 2;
