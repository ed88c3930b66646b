//! The state of a machine, rebuilt from the events of its kernel trace.
//!
//! Attach a [`KernelState`] to a context. Hooks with a priority after
//! [`Priority::STATE`](lttv_hooks::Priority::STATE) see the state after their event,
//! earlier hooks the state before it: the process that runs on each CPU, the execution
//! stack of each [`Process`] ([`Frame`]s of mode and submode), the interrupts that are
//! being handled and the block devices that are busy.
//!
//! # Tracers
//!
//! Events of LTTng 2.x, perf (its CTF export) and LTTng 0.x are supported. One table maps
//! event names to [`Transition`]s. It is searched once for each event type; afterwards the
//! number of an event's type selects the transition.
//!
//! # Memory maps
//!
//! The memory maps of processes are not a part of this state, so that no analysis pays for
//! them without need. Attach [`MemoryMaps`] as well to follow them.
//!
//! # Incomplete information
//!
//! * **Start of the trace.** The first switch of a CPU names the process that ran there
//!   before; it is searched for in advance. The mode of a process is
//!   [`ExecutionMode::Unknown`] until its next system call, or until LTTng's state dump
//!   ends.
//! * **Lost events.** The running process of the CPU is unknown until the CPU's next
//!   switch, and so are the states of the other processes that ran last on this CPU or wait
//!   for it. A loss begins after the last event of a packet, and is told with the next event of any CPU: see
//!   [`Effect::losses`]. In a growing trace it is found only at the next event of its CPU.
//! * **Contradictions.** If an event contradicts the state, the event wins.
//!   [`TraceState::anomalies`] counts such cases.
//!
//! # Differences from LTTV
//!
//! Modes, statuses, submodes and their spelling are LTTV's. Its rules apply, with these
//! exceptions:
//!
//! * LTTV ignores the process that a switch event names as switched out. Here it is
//!   compared with the process that ran as far as known, and the state is corrected.
//! * LTTV ignores an exit that does not match the innermost frame. Here the frames within
//!   the one that exits are dropped, because their exits were lost.
//! * A wake-up of a running process does not change its status.
//! * A process that is exiting gets the status that the switch event reports when it is
//!   switched out, because it may run again. Its status is [`ProcessStatus::Exit`] whenever
//!   it runs.
//! * A fork with the id of a known process creates another process; LTTV aborts.
//! * Block devices are identified by major *and* minor number.
//!
//! # Limits
//!
//! Process ids are below 2²², as in Linux; events with larger ids are counted as anomalies
//! and ignored. Interrupts with numbers of 2¹⁶ and above share one entry. CPUs may have any
//! numbers; if there are more than 2¹⁴ CPUs, the last ones to appear share one entry with
//! the number 2³² − 1. Memory grows with the number of CPUs, of processes that live at one
//! time, and of names.

mod anomalies;
mod apply;
mod cpu;
mod cpu_index;
mod effect;
mod extension;
mod fields;
mod growth;
mod initial;
mod initial_running;
mod initial_threads;
mod journal;
mod known_threads;
mod losses;
mod machine;
mod memory;
mod modes;
mod name_cache;
mod names;
pub mod needs;
mod own_states;
mod packets;
mod process;
mod recorded;
mod resources;
mod rule;
mod saved_bytes;
mod saved_names;
mod saved_states;
#[cfg(feature = "checkpoint-files")]
mod stored;
mod switched_out;
mod syscall_names;
mod syscall_tables;
mod syscalls;
mod table;
mod tid_map;
mod transition;
#[cfg(feature = "checkpoint-files")]
mod validate;

pub use anomalies::Anomalies;
pub use cpu::Cpu;
pub(crate) use cpu::MAX_CPUS;
pub(crate) use effect::LostWait;
pub use effect::{Effect, Ended, LossOnCpu, Request, RequestStep, Wait};
pub use extension::KernelState;
pub(crate) use extension::SavedKernelState;
pub(crate) use machine::Changed;
pub use machine::TraceState;
pub use memory::{Backing, Mapping, MemoryMaps};
pub use modes::{
    BlockDeviceMode, CpuMode, ExecutionMode, IrqMode, ParseModeError, ProcessStatus, ProcessType,
};
pub use names::NameId;
pub(crate) use names::Names;
pub use needs::NEEDS;
pub use own_states::OwnStates;
#[cfg(feature = "analyses")]
pub(crate) use process::TID_END;
pub use process::{Frame, OpenFile, Process, Serial, Tid};
pub(crate) use recorded::{
    Follower, FollowerObserver, Marks, RecordedEvent, RecordedEvents, Recorder,
};
pub use recorded::{OtherEvent, StateChange};
pub use resources::{BlockDevice, DeviceNumber, RequestKind, RequestOperation, Source, SourceKind};
#[cfg(feature = "analyses")]
pub(crate) use rule::{Rule, has_events, thread_of_event};
pub use saved_states::SavedStates;
#[cfg(feature = "analyses")]
pub(crate) use switched_out::SwitchedOut;
#[cfg(feature = "analyses")]
pub(crate) use syscall_names::SyscallNames;
pub use syscalls::Transfer;
#[cfg(feature = "analyses")]
pub(crate) use syscalls::transfer_of;
pub use table::ProcessIndex;
#[cfg(feature = "analyses")]
pub(crate) use tid_map::TidMap;
pub use transition::Transition;

/// The version of the rules that compute states: increased whenever a trace leads to other
/// states than before, so that stored states are computed again.
pub(crate) const VERSION: u32 = 15;
