//! The request for a recording.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::choice::Wish;
use crate::tracer::Tracer;

/// A recording to make.
#[derive(Debug, Clone)]
pub struct Request {
    /// The tracer; the first one that can be used if it is `None`.
    pub with: Option<Tracer>,
    /// The folder of the recording, which is created. It must be empty if it exists.
    pub output: PathBuf,
    /// The events.
    pub wishes: Vec<Wish>,
    /// `true` if calls of functions of programs are recorded, which only LTTng does.
    pub calls: bool,
    /// `true` if stacks are sampled, which only perf does.
    pub stacks: bool,
    /// The size of the buffer of each CPU, in KiB.
    pub buffer_kib: u64,
    /// The command to run; none if it is empty.
    pub command: Vec<OsString>,
    /// The time after which the recording ends, even if the command still runs.
    pub time: Option<Duration>,
}

impl Request {
    /// The size of the buffer of each CPU if none is given, in KiB.
    pub const BUFFER_KIB: u64 = 8192;

    /// Creates a request for a recording into a folder, until a signal ends it.
    pub fn new(output: impl Into<PathBuf>, wishes: Vec<Wish>) -> Request {
        Request {
            with: None,
            output: output.into(),
            wishes,
            calls: false,
            stacks: false,
            buffer_kib: Request::BUFFER_KIB,
            command: Vec::new(),
            time: None,
        }
    }
}
