//! Requests to disks.

use hashbrown::HashMap;
use ltt_read::Event;

use super::Machine;
use crate::kernel::{DeviceNumber, RequestOperation};
use crate::latency::action::{RequestFields, Step, number};
use crate::latency::collector::{At, Collector};
use crate::latency::family::Family;
use crate::latency::threads::{NEVER, ThreadId};

/// The maximum number of disks that are told apart.
const MAX_DISKS: usize = 1 << 10;
/// The maximum number of requests in all queues, and in all disks.
const MAX_REQUESTS: usize = 1 << 16;

/// The requests to all disks of a trace.
#[derive(Debug, Clone, Default)]
pub(in crate::latency) struct Disks {
    pub(in crate::latency) states: Vec<DiskState>,
    /// The requests in queues, by disk and first sector, with the time of their insertion.
    queued: HashMap<(u32, u64), i64>,
    /// The requests in disks.
    issued: HashMap<(u32, u64), Issued>,
}

/// A disk.
#[derive(Debug, Clone)]
pub(in crate::latency) struct DiskState {
    pub(in crate::latency) number: DeviceNumber,
    /// The number of requests in it.
    pub(in crate::latency) depth: u32,
    /// The time of the last change of `depth`, in ns.
    pub(in crate::latency) changed: i64,
}

/// A request in a disk.
#[derive(Debug, Clone, Copy)]
struct Issued {
    time: i64,
    /// The sectors that have not been completed.
    sectors: u64,
    operation: RequestOperation,
    thread: ThreadId,
}

impl Disks {
    /// Returns the number of a disk, which is added if it is new; `None` if there are too many.
    fn disk(&mut self, number: DeviceNumber) -> Option<u32> {
        if let Some(at) = self.states.iter().position(|of| of.number == number) {
            return Some(at as u32);
        }
        if self.states.len() >= MAX_DISKS {
            return None;
        }
        self.states.push(DiskState { number, depth: 0, changed: NEVER });
        Some(self.states.len() as u32 - 1)
    }

    /// Iterates over the requests in disks: disk, subject and time of the issue.
    pub(in crate::latency) fn open(&self) -> impl Iterator<Item = (u32, ThreadId, i64)> {
        self.issued.iter().map(|((disk, _), request)| (*disk, request.thread, request.time))
    }

    pub(super) fn bytes(&self) -> usize {
        self.queued.len() * size_of::<(u32, u64, i64)>()
            + self.issued.len() * size_of::<(u32, u64, Issued)>()
    }
}

/// Returns the subject of requests of a kind to a disk.
fn subject(disk: u32, operation: RequestOperation) -> u32 {
    disk << 2 | operation as u32
}

/// Returns the disk and the kind of requests that a subject stands for.
pub(in crate::latency) fn kind_of_subject(subject: u32) -> (u32, RequestOperation) {
    (subject >> 2, RequestOperation::ALL[(subject & 3) as usize])
}

impl Machine {
    /// Applies a step of a request.
    pub(super) fn request(
        &mut self,
        step: Step,
        fields: &RequestFields,
        event: &Event<'_>,
        at: &At,
        out: &mut Collector,
    ) {
        let (Some(device), Some(sector)) =
            (number(event, &fields.device), event.integer(&fields.sector))
        else {
            return;
        };
        let Some(disk) = self.disks.disk(DeviceNumber::from_kernel(device)) else {
            out.count(|of| &mut of.dropped);
            return;
        };
        let sectors = fields.sectors.as_ref().and_then(|field| event.integer(field)).unwrap_or(0);
        let key = (disk, sector);
        match step {
            Step::Insert => {
                if self.disks.queued.len() < MAX_REQUESTS {
                    self.disks.queued.entry(key).or_insert(at.time);
                } else {
                    out.count(|of| &mut of.dropped);
                }
            }
            Step::Issue => {
                let kind = fields.kind.as_ref().and_then(|field| event.get(field));
                let operation = RequestOperation::of(kind.as_ref());
                let thread = self.cpus[at.place].current;
                if let Some(inserted) = self.disks.queued.remove(&key) {
                    let subject = subject(disk, operation);
                    out.sample(Family::DiskQueue, thread, subject, inserted, at);
                }
                self.issue(key, Issued { time: at.time, sectors, operation, thread }, at, out);
            }
            Step::Complete => self.complete(key, sectors, at, out),
        }
    }

    fn issue(&mut self, key: (u32, u64), request: Issued, at: &At, out: &mut Collector) {
        if self.disks.issued.len() >= MAX_REQUESTS {
            out.count(|of| &mut of.dropped);
            return;
        }
        if self.disks.issued.insert(key, request).is_some() {
            out.count(|of| &mut of.issues_over_issue);
        } else {
            self.change_depth(key.0, 1, at.time, out);
        }
    }

    fn complete(&mut self, key: (u32, u64), sectors: u64, at: &At, out: &mut Collector) {
        let Some(request) = self.disks.issued.remove(&key) else {
            out.count(|of| &mut of.completions_without_issue);
            return;
        };
        let (disk, sector) = key;
        let Issued { time, operation, thread, .. } = request;
        let subject = subject(disk, operation);
        let rest = request.sectors.saturating_sub(sectors);
        if sectors > 0 && rest > 0 {
            out.completed(subject, thread, sectors);
            // The rest is completed later.
            let rest = Issued { sectors: rest, ..request };
            let next = (disk, sector.wrapping_add(sectors));
            if self.disks.issued.insert(next, rest).is_some() {
                out.count(|of| &mut of.issues_over_issue);
                self.change_depth(disk, -1, at.time, out);
            }
            return;
        }
        self.change_depth(disk, -1, at.time, out);
        out.sample(Family::DiskDevice, thread, subject, time, at);
        out.completed(subject, thread, sectors);
    }

    /// Changes the number of requests in a disk by one.
    fn change_depth(&mut self, disk: u32, by: i32, time: i64, out: &mut Collector) {
        let state = &mut self.disks.states[disk as usize];
        out.disk_passed(disk as usize, state.depth, state.changed, time);
        state.depth = state.depth.saturating_add_signed(by);
        state.changed = time;
        out.disk_has(disk as usize, state.depth);
    }
}

impl Collector {
    /// Adds sectors that a disk completed.
    fn completed(&mut self, subject: u32, thread: ThreadId, sectors: u64) {
        if let Some(figures) = self.figures(Family::DiskDevice, thread, subject) {
            let extra = figures.extra();
            extra.sectors = extra.sectors.saturating_add(sectors);
        }
    }
}
