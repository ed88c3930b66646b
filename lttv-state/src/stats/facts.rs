//! What is known of processes and devices in the end.

use std::sync::Arc;

use ltt_read::Timestamp;

use super::durations::Durations;
use crate::kernel::{DeviceNumber, ProcessType, Request, RequestKind, RequestStep, Tid};

/// A process, as it was last. Times are in ns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ProcessFacts {
    /// Its id; `None` for a CPU's time of which it is not known who ran.
    pub tid: Option<Tid>,
    /// The id of its thread group.
    pub pid: Option<Tid>,
    /// The id of its parent.
    pub parent: Option<Tid>,
    /// Its last name.
    pub name: Arc<str>,
    /// Its names before, in order: of what it executed, or what it called itself.
    pub former_names: Vec<Arc<str>>,
    /// Whether it is part of the kernel.
    pub kind: Option<ProcessType>,
    /// When it was born, if that was seen.
    pub start: Option<Timestamp>,
    /// When it began to exit, if that was seen.
    pub end: Option<Timestamp>,
    /// How long it waited for something.
    pub blocked_time: u64,
    /// How long it waited for a CPU.
    pub ready_time: u64,
    /// Bytes that its system calls read.
    pub bytes_read: u64,
    /// Bytes that its system calls wrote.
    pub bytes_written: u64,
    /// Bytes that were asked of block devices while it ran. (Who causes requests and
    /// who issues them are often different processes.)
    pub blocks_read: u64,
    /// Bytes that block devices were asked to write while it ran.
    pub blocks_written: u64,
    /// How often a CPU went over to it.
    pub times_scheduled: u64,
    /// How often it was moved to another CPU.
    pub migrations: u64,
    /// How long it took from each time it was woken up until it ran.
    pub wakeup_latency: Durations,
    /// Whether there is anything here.
    pub(super) seen: bool,
}

impl ProcessFacts {
    /// Adds those of a later part of the trace.
    pub(super) fn add(&mut self, later: &ProcessFacts) {
        let sums = [
            (&mut self.blocked_time, later.blocked_time),
            (&mut self.ready_time, later.ready_time),
            (&mut self.bytes_read, later.bytes_read),
            (&mut self.bytes_written, later.bytes_written),
            (&mut self.blocks_read, later.blocks_read),
            (&mut self.blocks_written, later.blocks_written),
            (&mut self.times_scheduled, later.times_scheduled),
            (&mut self.migrations, later.migrations),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
        self.wakeup_latency.add(&later.wakeup_latency);
        if !later.seen {
            return;
        }
        self.seen = true;
        self.tid = later.tid.or(self.tid);
        self.pid = later.pid.or(self.pid);
        self.parent = later.parent.or(self.parent);
        self.kind = later.kind.or(self.kind);
        self.start = self.start.or(later.start);
        self.end = later.end.or(self.end);
        for name in later.former_names.iter().chain([&later.name]) {
            self.rename(name);
        }
    }

    pub(super) fn rename(&mut self, name: &str) {
        if *self.name == *name || name.is_empty() {
            return;
        }
        let former = std::mem::replace(&mut self.name, name.into());
        if !former.is_empty() && self.former_names.len() < MAX_NAMES {
            self.former_names.push(former);
        }
    }
}

/// So many former names are kept.
const MAX_NAMES: usize = 64;

/// A block device. Times are in ns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceFacts {
    /// Its number.
    pub number: DeviceNumber,
    /// Its name, empty if not known.
    pub name: Arc<str>,
    /// Requests completed that read.
    pub reads: u64,
    /// Requests completed that wrote.
    pub writes: u64,
    /// Requests completed that did neither.
    pub others: u64,
    /// Bytes of completed requests that read.
    pub bytes_read: u64,
    /// Bytes of completed requests that wrote.
    pub bytes_written: u64,
    /// How long it had requests.
    pub busy_time: u64,
    /// The sum, over all requests, of how long each was in the device.
    pub queue_time: u64,
    pub(super) in_flight: u32,
    pub(super) since: i64,
}

impl DeviceFacts {
    pub(super) fn new(number: DeviceNumber, since: i64, in_flight: u32) -> Self {
        DeviceFacts {
            number,
            name: "".into(),
            reads: 0,
            writes: 0,
            others: 0,
            bytes_read: 0,
            bytes_written: 0,
            busy_time: 0,
            queue_time: 0,
            in_flight,
            since,
        }
    }

    /// How many requests it had on average, over a time in ns.
    pub fn average_queue_length(&self, time: u64) -> f64 {
        if time == 0 { 0.0 } else { self.queue_time as f64 / time as f64 }
    }

    pub(super) fn until(&mut self, time: i64) {
        let passed = time.saturating_sub(self.since).max(0) as u64;
        self.since = time;
        if self.in_flight > 0 {
            self.busy_time = self.busy_time.saturating_add(passed);
            let queued = passed.saturating_mul(self.in_flight.into());
            self.queue_time = self.queue_time.saturating_add(queued);
        }
    }

    pub(super) fn request(&mut self, request: Request, in_flight: u32, time: i64) {
        self.until(time);
        self.in_flight = in_flight;
        if request.step == RequestStep::Completed {
            match request.kind {
                RequestKind::Read => {
                    self.reads += 1;
                    self.bytes_read = self.bytes_read.saturating_add(request.bytes);
                }
                RequestKind::Write => {
                    self.writes += 1;
                    self.bytes_written = self.bytes_written.saturating_add(request.bytes);
                }
                RequestKind::Other => self.others += 1,
            }
        }
    }

    pub(super) fn add(&mut self, later: &DeviceFacts) {
        let sums = [
            (&mut self.reads, later.reads),
            (&mut self.writes, later.writes),
            (&mut self.others, later.others),
            (&mut self.bytes_read, later.bytes_read),
            (&mut self.bytes_written, later.bytes_written),
            (&mut self.busy_time, later.busy_time),
            (&mut self.queue_time, later.queue_time),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
        if !later.name.is_empty() {
            self.name = later.name.clone();
        }
        (self.in_flight, self.since) = (later.in_flight, later.since);
    }
}
