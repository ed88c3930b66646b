//! Facts about processes and devices, as known at the end.

use std::sync::Arc;

use ltt_read::Timestamp;

use crate::durations::Durations;
use crate::kernel::{DeviceNumber, ProcessType, Request, RequestKind, RequestStep, Tid};

/// The facts about a process, as known at the end. Times are in ns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ProcessFacts {
    /// The id of the process; `None` for the time of a CPU during which the running process
    /// is unknown.
    pub tid: Option<Tid>,
    /// The id of the thread group; `None` if unknown.
    pub pid: Option<Tid>,
    /// The id of the parent; `None` if unknown.
    pub parent: Option<Tid>,
    /// The last name of the process; empty if unknown.
    pub name: Arc<str>,
    /// The previous names in order, from executed programs or given by the process itself;
    /// the first 64 of them.
    pub former_names: Vec<Arc<str>>,
    /// The type: user or kernel thread; `None` if unknown.
    pub kind: Option<ProcessType>,
    /// The time of the fork; `None` if the fork is not in the trace.
    pub start: Option<Timestamp>,
    /// The time at which the process started to exit; `None` if that is not in the trace.
    pub end: Option<Timestamp>,
    /// The time spent waiting for something to happen, in ns.
    pub blocked_time: u64,
    /// The time spent waiting for a CPU, in ns.
    pub ready_time: u64,
    /// The number of bytes that its system calls read.
    pub bytes_read: u64,
    /// The number of bytes that its system calls wrote.
    pub bytes_written: u64,
    /// The number of bytes in read requests issued to block devices while the process ran.
    /// (The process that causes a request and the process that issues it often differ.)
    pub blocks_read: u64,
    /// The number of bytes in write requests issued to block devices while the process ran.
    pub blocks_written: u64,
    /// The number of times that a CPU switched to the process.
    pub times_scheduled: u64,
    /// The number of migrations to another CPU.
    pub migrations: u64,
    /// The times from each wake-up to the switch-in.
    pub wakeup_latency: Durations,
    /// True if facts about the process have been noted.
    pub(super) seen: bool,
}

impl ProcessFacts {
    /// Returns `true` for the idle process of a CPU.
    pub(crate) fn is_idle(&self) -> bool {
        self.tid == Some(0)
    }

    /// Adds the facts of a later part of the trace.
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

    /// Sets the name, and keeps the previous one as a former name.
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

/// The maximum number of former names.
const MAX_NAMES: usize = 64;

/// The statistics of a block device. Times are in ns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceFacts {
    /// The major and minor number of the device.
    pub number: DeviceNumber,
    /// The name of the device; empty if unknown.
    pub name: Arc<str>,
    /// The number of requests added to the queue.
    pub inserted: u64,
    /// The number of times that data, or a whole request, became a part of a request in the
    /// queue.
    pub merged: u64,
    /// The number of requests issued.
    pub issued: u64,
    /// The number of completed requests that read.
    pub reads: u64,
    /// The number of completed requests that wrote.
    pub writes: u64,
    /// The number of completed requests that did neither, such as flushes.
    pub others: u64,
    /// The number of bytes in completed requests that read.
    pub bytes_read: u64,
    /// The number of bytes in completed requests that wrote.
    pub bytes_written: u64,
    /// The time during which the device had requests, in ns.
    pub busy_time: u64,
    /// The sum over all requests of the time that each spent in the device, in ns.
    pub queue_time: u64,
    pub(super) in_flight: u32,
    pub(super) since: i64,
}

impl DeviceFacts {
    /// Creates the statistics of a device that start at a time, in ns.
    pub(super) fn new(number: DeviceNumber, since: i64, in_flight: u32) -> Self {
        DeviceFacts {
            number,
            name: "".into(),
            inserted: 0,
            merged: 0,
            issued: 0,
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

    /// Returns the number of completed requests of all kinds.
    pub fn completed(&self) -> u64 {
        self.reads.saturating_add(self.writes).saturating_add(self.others)
    }

    /// Returns the average number of requests in the device during a time in ns; 0 if that
    /// is 0.
    pub fn average_queue_length(&self, time: u64) -> f64 {
        if time == 0 { 0.0 } else { self.queue_time as f64 / time as f64 }
    }

    /// Adds the busy time and the queue time up to a time.
    pub(super) fn advance_to(&mut self, time: i64) {
        let passed = time.saturating_sub(self.since).max(0) as u64;
        self.since = time;
        if self.in_flight > 0 {
            self.busy_time = self.busy_time.saturating_add(passed);
            let queued = passed.saturating_mul(self.in_flight.into());
            self.queue_time = self.queue_time.saturating_add(queued);
        }
    }

    /// Counts a step of a request, with the number in flight after it.
    pub(super) fn request(&mut self, request: Request, in_flight: u32, time: i64) {
        self.advance_to(time);
        self.in_flight = in_flight;
        match (request.step, request.kind) {
            (RequestStep::Inserted, _) => self.inserted += 1,
            (RequestStep::Merged, _) => self.merged += 1,
            (RequestStep::Issued, _) => self.issued += 1,
            (RequestStep::Completed, RequestKind::Read) => {
                self.reads += 1;
                self.bytes_read = self.bytes_read.saturating_add(request.bytes);
            }
            (RequestStep::Completed, RequestKind::Write) => {
                self.writes += 1;
                self.bytes_written = self.bytes_written.saturating_add(request.bytes);
            }
            (RequestStep::Completed, RequestKind::Other) => self.others += 1,
        }
    }

    /// Adds the statistics of a later part of the trace.
    pub(super) fn add(&mut self, later: &DeviceFacts) {
        let sums = [
            (&mut self.inserted, later.inserted),
            (&mut self.merged, later.merged),
            (&mut self.issued, later.issued),
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
