//! Spans: single things that took time, such as system calls, runs on CPUs, waits, interrupts and requests to disks.
//!
//! [`SpanAnalysis`] passes each [`Span`] to a [`SpanVisitor`]. A span refers to the events that begin and end it by
//! their [places](EventPlace), where an [`EventReader`] finds them again: [`write_arguments`] shows the arguments of a
//! system call, and [`SpanFilter`] tests fields. [`SpanSorter`] puts spans in the order of their begins or durations
//! with bounded memory. [Latencies](crate::latency) are sums of spans.
//!
//! # Rules
//!
//! * **Waits for CPUs.** A wake-up latency starts with the first wake-up of a thread that neither
//!   runs nor was preempted, as far as switches tell, and ends when it is switched in. A thread that is switched out while
//!   it is runnable waits from there. Their sum is the time in run queues.
//! * **System calls** belong to the thread that runs on the CPU according to the last switch, or
//!   that the context of the event names. An exit that names another call than the entry leads to
//!   no duration. A thread that exits ends its call, which then has no end: `exit` and `exit_group`, and calls in
//!   which a thread is killed. Such calls are not open afterwards.
//! * **Interrupt handlers** have a stack for each CPU. An exit ends the handlers above its entry.
//!   The net time of a handler is that without handlers that interrupted it.
//! * **Requests to disks** are identified by disk and first sector. A completion of fewer sectors
//!   leaves the rest open; the duration ends with the last one. Flushes have no sectors: those of a
//!   disk are paired in the order of their issues. The second completion of a write that flushes,
//!   also without sectors, is ignored.
//! * **Futexes** are identified by process and address; shared ones by the address alone.
//!   Waits for one of several futexes (`futex_waitv`) have one entry for each process.
//! * **Markers** are texts that programs write to the trace, `ftrace:print`, in the form of Android's `atrace`:
//!   `B|PID|NAME` begins a section of the writing thread and `E` or `E|PID` ends its innermost one; `S|PID|NAME|COOKIE` and
//!   `F|PID|NAME|COOKIE` begin and end one of a process, which belongs to the thread that began it. A thread that exits
//!   leaves its sections without an end. Other texts are ignored; those that lack a part are counted.
//! * **Runs and waits** last from one switch of a thread to the next one, or to its wake-up.
//! * What lost events or missing begins and ends cut is a span with its [`Completeness`]. What has not ended
//!   lasts up to the end of the window.
//!
//! # Memory
//!
//! In memory are the threads, what is open, and the names that occurred. Each of these has a limit, beyond which what
//! is new is dropped or shares one entry.

pub(crate) mod action;
mod analysis;
mod arguments;
pub(crate) mod counts;
pub(crate) mod events;
mod families;
pub(crate) mod family;
mod file_calls;
mod filter;
pub(crate) mod inputs;
pub(crate) mod lookup;
pub(crate) mod machine;
pub(crate) mod marker;
mod names;
mod needs;
pub(crate) mod outcome;
pub(crate) mod period;
mod period_values;
pub(crate) mod place;
mod reader;
mod settings;
mod sorter;
pub(crate) mod span;
mod stored;
pub(crate) mod subjects;
pub(crate) mod threads;

pub use analysis::{FoundSpans, SpanAnalysis, SpanVisitor};
pub use arguments::{
    call_of_number, error_name, error_number, write_arguments, write_new_arguments, write_result,
};
pub use counts::Unmatched;
pub use families::Families;
pub use family::Family;
pub use filter::SpanFilter;
pub use names::SpanNames;
pub use needs::NEEDS;
pub use period::{Period, PeriodError};
pub use period_values::PeriodValue;
pub use place::EventPlace;
pub use reader::{EventReader, path_of};
pub use settings::SpanSettings;
pub use sorter::{SpanOrder, SpanSorter};
pub use span::{Completeness, Span, SpanThread, Waker};
pub use threads::{ThreadFacts, ThreadId};
