//! The history of kernel states: every state in a trace, for queries at any time.
//!
//! [`KernelHistory`] follows a [`KernelState`](crate::kernel::KernelState) while a context
//! is read, and stores changes in a [history](crate::history). [`record`] does this for a
//! whole traceset; if the traceset has grown since, it extends the stored history. A
//! [`Snapshot`] is the state of a machine at one time: one taken from a history equals one
//! taken from a [`TraceState`](crate::kernel::TraceState) at that time.
//!
//! ```
//! use ltt_read::{Timestamp, TraceIndex};
//! use lttv_context::Traceset;
//! use lttv_state::kernel_history::{HistoryTarget, Snapshot, record};
//! use std::ops::ControlFlow;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let traceset = Traceset::open(path)?;
//! let recorded = record(&traceset, HistoryTarget::Memory, |_| ControlFlow::Continue(()))?;
//! let history = recorded.history;
//!
//! // Print the running processes at half time.
//! let t = Timestamp::from_ns(history.start().as_ns().midpoint(history.end().as_ns()));
//! for cpu in history.state_matching("0/CPUs/*/Thread", t)? {
//!     println!("{}: {}", history.tree().path(cpu.quark), cpu.value);
//! }
//! // Print the idle time of each CPU.
//! for cpu in history.tree().matching(lttv_state::tree::Quark::ROOT, "0/CPUs/*")? {
//!     let modes = history.durations(cpu, history.start()..history.end())?;
//!     let idle = modes.iter().find(|mode| mode.value == "idle".into());
//!     println!("{} {}", history.tree().path(cpu), idle.map_or(0, |mode| mode.time));
//! }
//! let snapshot = Snapshot::from_history(&history, TraceIndex(0), t)?;
//! assert!(snapshot.cpus.iter().any(|cpu| cpu.thread.is_some()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Attributes
//!
//! The attributes of a trace are below its number in the traceset, such as `0`:
//!
//! | attribute | value |
//! |---|---|
//! | `CPUs/<n>` | text: the CPU's activity, a [`CpuMode`](crate::kernel::CpuMode) |
//! | `CPUs/<n>/Thread` | i32: id of the running process; null while that is unknown |
//! | `CPUs/<n>/Frequency` | u64: clock frequency in Hz |
//! | `CPUs/<n>/Pending` | i64: softirqs raised and not started, one bit each; null if none |
//! | `Threads/<tid>` | text: a [`ProcessStatus`](crate::kernel::ProcessStatus), empty if unknown; null while there is no such thread |
//! | `Threads/<tid>/Mode` | text: the [`ExecutionMode`](crate::kernel::ExecutionMode) |
//! | `Threads/<tid>/Submode` | text: name of the system call, interrupt or exception |
//! | `Threads/<tid>/Name` | text: name of the thread |
//! | `Threads/<tid>/PID`, `PPID` | i32: id of the thread group, and of the parent |
//! | `Threads/<tid>/CPU` | i32: CPU that it runs on, waits for, or last ran on; i64 for larger numbers |
//! | `Threads/<tid>/Kind` | text: a [`ProcessType`](crate::kernel::ProcessType) |
//! | `Threads/<tid>/Brand` | text: the name that it gave itself (LTTng 0.x) |
//! | `Threads/<tid>/Executable` | text: the path of the file that it executes |
//! | `Threads/<tid>/Function` | u64: address of its current function (LTTng 0.x) |
//! | `IRQs/<n>`, `Vectors/<n>`, `Softirqs/<n>`, `Traps/<n>` | i32: number of running handlers; null before its first occurrence |
//! | `IRQs/<n>/Name` and so on | text: name of the source |
//! | `Devices/<major>,<minor>` | text: a [`BlockDeviceMode`](crate::kernel::BlockDeviceMode) |
//! | `Devices/<major>,<minor>/Name` | text: name of the device |
//! | `Devices/<major>,<minor>/Requests` | i32: requests issued to it and not completed |
//! | `Anomalies/<name>` | u64: number so far of one of the [`Anomalies`](crate::kernel::Anomalies); null for none |
//!
//! The idle thread of CPU *n* is `Threads/0_<n>`. When a thread is gone, all its attributes
//! are null; a later thread with the same id uses the same attributes. Attributes are added
//! with their first value. Attributes without a value of their own, such as `Threads`, are
//! null.
//!
//! # Times
//!
//! A change is valid from the time of its event on. The history starts 1 ns before the
//! first packet, with the state before the first event, and ends 1 ns after the last
//! event or packet. Events without a time are stored at the start.

mod extend;
mod field;
mod machine;
mod node;
mod record;
mod slices;
mod snapshot;
mod snapshot_read;
mod writer;

pub use record::{HistoryTarget, Recorded, open, record, record_live, record_on};
pub use snapshot::{CpuState, DeviceState, Snapshot, SourceState, ThreadState};
pub use writer::KernelHistory;
