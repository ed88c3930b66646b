//! Recordings of *perf*, as `perf record` writes them: files named `perf.data`, and what
//! `perf record -o -` writes to a pipe.
//!
//! Such a file is opened by its path, or by that of a directory that contains it, like any other
//! trace. Files are recognised by their content. The [`Schema::format`] is [`Format::Perf`].
//!
//! | perf | here |
//! |---|---|
//! | file | a trace |
//! | CPU | a tracefile, `cpu3`; samples without a CPU are in `task` |
//! | records of a CPU that follow each other in the file | a packet, which declares its start |
//! | sample of a tracepoint | an event of the type `SYSTEM:NAME`, whose own fields are the payload |
//! | other sample | an event of a type with the name that perf gives it, such as `cpu-clock` |
//! | other record | an event of a type such as `perf:comm` |
//! | `pid`, `tid`, `cpu`, `period`, `ip`, `callchain` and others, and the common fields of tracepoints | the specific context |
//! | `LOST` | the event `perf:lost`, and [`NoticeKind::DiscardedEvents`] |
//!
//! * **Times** are nanoseconds of the [clock](crate::schema::Schema::clocks). They count from the Unix
//!   epoch if the recording contains a date (`-k`).
//! * **Records without a time**, such as those that describe the state before the recording, are events
//!   without a time in the tracefile `untimed`.
//! * **The order** is exact. Where records of a CPU are not in order of time, they are spread over several
//!   tracefiles, such as `cpu3` and `cpu3-2`.
//! * **`LOST_SAMPLES`** count the same losses as `LOST` once more, so they are only events.
//! * **Parts of samples that are not interpreted** are bytes: the branch stack, the user stack and AUX data.
//! * **Pipes and compressed recordings** (`-z`) are read as a whole when they are opened. The offsets in
//!   errors are then those of the decompressed records.
//! * **Directories** (`--threads`) are one trace: the events of all of their files.
//!
//! [`Format::Perf`]: crate::schema::Format::Perf
//! [`NoticeKind::DiscardedEvents`]: crate::NoticeKind::DiscardedEvents
//! [`Schema::format`]: crate::schema::Schema::format

pub(crate) mod arriving;
mod attributes;
pub(crate) mod decode;
mod features;
mod frames;
mod header;
mod index;
mod kinds;
mod open;
mod samples;
mod unpack;

pub(crate) use header::end_of_records;
pub use open::from_memory;
pub(crate) use open::{assemble, is_of_threads, is_recording, open, recording_in};
