//! Recordings of the kernel's tracer *ftrace*, as `trace-cmd record` writes them: files named
//! `trace.dat`, of versions 6 and 7 of the format.
//!
//! Such a file is opened by its path, or by that of a directory that contains it, like any other
//! trace: by [`Trace::open`](crate::Trace::open), which returns the main buffer, or by
//! [`open_all`](crate::open_all), which returns a trace for each buffer. Files are recognised by
//! their content. The [`Schema::format`] is [`Format::Ftrace`].
//!
//! | ftrace | here |
//! |---|---|
//! | buffer (`trace-cmd record -B NAME`) | a trace with a clock of its own; the channel of its tracefiles is `NAME`, or `main` |
//! | CPU | a tracefile, `cpu3` or `NAME/cpu3` |
//! | page of the ring buffer | a packet, which declares its start |
//! | event | an event type named `SYSTEM:NAME`; its own fields are the payload |
//! | `common_flags`, `common_preempt_count`, `common_pid` | the common context |
//! | `__data_loc`, `__rel_loc` | the text or array itself |
//! | events lost before a page | [`NoticeKind::DiscardedEvents`], with the number if it is known |
//!
//! * **Times** are nanoseconds of the [clock](crate::schema::Schema::clocks), which has the name of
//!   the trace clock. They count from the Unix epoch if the recording contains a date (`--date`).
//!   The values of the clocks `counter` and `x86-tsc` are shown as if they were nanoseconds, unless
//!   the recording contains the frequency.
//! * **Events without a description** have the event type `unknown`, with the id and the bytes.
//! * **Fields outside of their record**, which only damage causes, are empty.
//! * **Compressed recordings** (version 7) are decompressed in parts while they are read, with the
//!   feature `compression`.
//! * **Files grow** only at the end of recording, when trace-cmd writes them. Until then it keeps the pages of each CPU in
//!   a file of its own, `trace.dat.cpu3`, whose events nothing describes. A [`Follower`](crate::Follower) reads the recording
//!   when it is complete.
//! * **Files that were cut** are read up to the cut. If the description of the buffers at the end of
//!   version 7 is lost, pages are found by their form; a [warning](crate::Trace::warnings) says so,
//!   and the numbers of CPUs are guesses.
//!
//! [`Format::Ftrace`]: crate::schema::Format::Ftrace
//! [`NoticeKind::DiscardedEvents`]: crate::NoticeKind::DiscardedEvents
//! [`Schema::format`]: crate::schema::Schema::format

mod buffer;
pub(crate) mod chunk;
mod compression;
pub(crate) mod decode;
#[cfg(feature = "writer")]
pub(crate) mod lengths;
mod open;
mod options;
mod recover;
mod sections;

pub use open::from_memory;
pub(crate) use open::{assemble, is_complete, is_recording, open, recording_in};
