//! The history of kernel state: every state that a trace tells of, to be asked in
//! any order.
//!
//! [`KernelHistory`] follows a [`KernelState`](crate::kernel::KernelState) while a
//! context is read, and stores what changes in a [history](crate::history).
//! [`record`] does all of that for a whole traceset, and adds what is new to the history
//! of one that has grown. A [`Snapshot`] is the state of
//! a machine at one time: taken from a history it is the same as taken from a
//! [`TraceState`](crate::kernel::TraceState) that was brought to that time.
//!
//! ```
//! use lttv_context::Traceset;
//! use lttv_state::kernel_history::{Snapshot, Target, record};
//! use std::ops::ControlFlow;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let traceset = Traceset::open(path)?;
//! let recorded = record(&traceset, Target::Memory, |_| ControlFlow::Continue(()))?;
//! let history = recorded.history;
//!
//! // Who was running, half-way through?
//! let t = history.start().midpoint(history.end());
//! for cpu in history.matching_at("0/CPUs/*/Thread", t)? {
//!     println!("{}: {}", history.tree().path(cpu.quark), cpu.value);
//! }
//! // For how long was each CPU idle?
//! for cpu in history.tree().matching(lttv_state::tree::Quark::ROOT, "0/CPUs/*")? {
//!     let modes = history.durations(cpu, history.start()..=history.end())?;
//!     let idle = modes.iter().find(|mode| mode.value == "idle".into());
//!     println!("{} {}", history.tree().path(cpu), idle.map_or(0, |mode| mode.time));
//! }
//! let snapshot = Snapshot::read(&history, 0, t)?;
//! assert!(snapshot.cpus.iter().any(|cpu| cpu.thread.is_some()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Attributes
//!
//! Below each trace's number in its traceset, such as `0`:
//!
//! | attribute | value |
//! |---|---|
//! | `CPUs/<n>` | text: what it is busy with, a [`CpuMode`](crate::kernel::CpuMode) |
//! | `CPUs/<n>/Thread` | i32: id of who runs there; null while that is not known |
//! | `CPUs/<n>/Frequency` | u64: Hz |
//! | `CPUs/<n>/Pending` | i64: soft interrupts raised and not begun, a bit each; null if none |
//! | `Threads/<tid>` | text: a [`ProcessStatus`](crate::kernel::ProcessStatus), empty if not known; null while there is no such thread |
//! | `Threads/<tid>/Mode` | text: the [`ExecutionMode`](crate::kernel::ExecutionMode) that it is in |
//! | `Threads/<tid>/Submode` | text: which system call, interrupt or exception |
//! | `Threads/<tid>/Name` | text |
//! | `Threads/<tid>/PID`, `PPID` | i32: id of its thread group, and of its parent |
//! | `Threads/<tid>/CPU` | i32: where it runs, waits to run, or ran last; i64 for numbers beyond |
//! | `Threads/<tid>/Kind` | text: a [`ProcessType`](crate::kernel::ProcessType) |
//! | `Threads/<tid>/Brand` | text: the name it gave itself (LTTng 0.x) |
//! | `Threads/<tid>/Function` | u64: address of the function that it is in (LTTng 0.x) |
//! | `IRQs/<n>`, `Vectors/<n>`, `Softirqs/<n>`, `Traps/<n>` | i32: how many handlers of it run now; null before it first came |
//! | `IRQs/<n>/Name` and so on | text |
//! | `Devices/<major>,<minor>` | text: a [`BlockDeviceMode`](crate::kernel::BlockDeviceMode) |
//! | `Devices/<major>,<minor>/Name` | text |
//! | `Devices/<major>,<minor>/Requests` | i32: given to it and not completed |
//! | `Anomalies/<name>` | u64: how many so far, of those in [`Anomalies`](crate::kernel::Anomalies); null for none |
//!
//! The idle thread of CPU *n* is `Threads/0_<n>`. When a thread is gone, all its
//! attributes are null; another one with the same id goes on in the same place. An
//! attribute is there from its first value on. Attributes without a value of their
//! own, such as `Threads`, are null.
//!
//! # Times
//!
//! A change is valid from the time of its event on. The history begins 1 ns before
//! the first packet, with what is known in advance, and ends at the last event or
//! packet. Events without a time are taken to happen at the begin.

mod field;
mod grown;
mod machine;
mod node;
mod record;
mod snapshot;
mod snapshot_read;
mod writer;

pub use lttv_context::fingerprint;
pub use record::{Recorded, Target, open, record};
pub use snapshot::{CpuState, DeviceState, Snapshot, SourceState, ThreadState};
pub use writer::KernelHistory;
