//! Requests to disks.

use std::collections::VecDeque;

use hashbrown::HashMap;

use super::Machine;
use crate::kernel::{DeviceNumber, RequestOperation, TraceState};
use crate::spans::action::{RequestFields, Step, number};
use crate::spans::family::Family;
use crate::spans::inputs::RecordedEvent;
use crate::spans::outcome::{Addition, At, Ending, Log, Outcome};
use crate::spans::place::Begin;
use crate::spans::threads::{NEVER, ThreadId};

/// The maximum number of disks that are told apart.
const MAX_DISKS: usize = 1 << 10;
/// The maximum number of requests in all queues, and in all disks.
const MAX_REQUESTS: usize = 1 << 16;

/// The requests to all disks of a trace.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Disks {
    pub(crate) states: Vec<DiskState>,
    /// The requests in queues, by disk and first sector, with their insertion.
    queued: HashMap<(u32, u64), Begin>,
    /// The requests in disks.
    issued: HashMap<(u32, u64), Issued>,
    /// The flushes in disks, in the order of their issue. They have no sectors that tell them apart:
    /// the kernel issues them at sector 0 and completes them at sector 2⁶⁴−1.
    flushes: HashMap<u32, VecDeque<Issued>>,
    /// The number of all `flushes`.
    flushing: usize,
}

/// A disk.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct DiskState {
    pub(crate) number: DeviceNumber,
    /// The number of requests in it.
    pub(crate) depth: u32,
    /// The time of the last change of `depth`, in ns.
    pub(crate) changed: i64,
}

/// A request in a disk.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
struct Issued {
    begin: Begin,
    /// The sectors that have not been completed.
    sectors: u64,
    /// The sectors that have been completed.
    completed: u64,
    operation: RequestOperation,
    thread: ThreadId,
}

impl Disks {
    /// Returns `true` if all numbers are those of disks, and the number of flushes is right.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn is_valid(&self) -> bool {
        let is_known = |disk: u32| (disk as usize) < self.states.len();
        let of_requests = self.queued.keys().chain(self.issued.keys()).map(|(disk, _)| *disk);
        self.states.len() <= MAX_DISKS
            && of_requests.chain(self.flushes.keys().copied()).all(is_known)
            && self.flushes.values().map(VecDeque::len).sum::<usize>() == self.flushing
    }

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

    /// Iterates over all requests that have begun, in queues and in disks.
    pub(super) fn begun(&self) -> impl Iterator<Item = Ending> {
        let queued = self.queued.iter().map(|((disk, _), begin)| {
            let subject = subject(*disk, RequestOperation::of(None));
            Ending::new(Family::DiskQueue, ThreadId::NONE, subject, *begin)
        });
        let flushes = self.flushes.iter().flat_map(|(disk, all)| all.iter().map(|of| (*disk, of)));
        let issued = self.issued.iter().map(|((disk, _), request)| (*disk, request));
        let issued = issued.chain(flushes).map(|(disk, request)| {
            let subject = subject(disk, request.operation);
            Ending::new(Family::DiskDevice, request.thread, subject, request.begin)
        });
        queued.chain(issued)
    }

    pub(super) fn bytes(&self) -> usize {
        self.queued.len() * size_of::<(u32, u64, i64)>()
            + (self.issued.len() + self.flushing) * size_of::<(u32, u64, Issued)>()
    }
}

/// Returns the subject of requests of a kind to a disk.
fn subject(disk: u32, operation: RequestOperation) -> u32 {
    disk << 2 | operation as u32
}

/// Returns the disk and the kind of requests that a subject stands for.
pub(crate) fn kind_of_subject(subject: u32) -> (u32, RequestOperation) {
    (subject >> 2, RequestOperation::ALL[(subject & 3) as usize])
}

impl Machine {
    /// Applies a step of a request.
    pub(super) fn request(
        &mut self,
        state: &TraceState,
        step: Step,
        fields: &RequestFields,
        event: &RecordedEvent<'_>,
        at: &At,
        log: &mut Log,
    ) {
        let (Some(device), Some(sector)) =
            (number(event, &fields.device), event.integer(&fields.sector))
        else {
            return;
        };
        let Some(disk) = self.disks.disk(DeviceNumber::from_kernel(device)) else {
            log.count(|of| &mut of.dropped);
            return;
        };
        let recorded = fields.sectors.as_ref().and_then(|field| event.integer(field));
        let sectors = recorded.unwrap_or(0);
        let operation = |fields: &RequestFields| event.operation(fields.kind.as_ref());
        let key = (disk, sector);
        match step {
            Step::Insert => {
                if self.disks.queued.len() < MAX_REQUESTS {
                    self.disks.queued.entry(key).or_insert(at.begin());
                } else {
                    log.count(|of| &mut of.dropped);
                }
            }
            Step::Issue => {
                let operation = operation(fields);
                let thread = self.caller(state, fields.thread.as_ref(), event, at);
                let thread = thread.unwrap_or(ThreadId::NONE);
                if let Some(inserted) = self.disks.queued.remove(&key) {
                    let subject = subject(disk, operation);
                    log.ended(Ending::new(Family::DiskQueue, thread, subject, inserted), at);
                }
                let (begin, completed) = (at.begin(), 0);
                let request = Issued { begin, sectors, completed, operation, thread };
                if recorded == Some(0) && operation == RequestOperation::Flush {
                    self.issue_flush(disk, request, at, log);
                } else {
                    self.issue(key, request, at, log);
                }
            }
            Step::Complete if recorded == Some(0) => match operation(fields) {
                RequestOperation::Flush => self.complete_flush(disk, at, log),
                // A write that flushes the disk's cache is completed twice: first its data, then,
                // with no sectors remaining, the whole request.
                RequestOperation::Read | RequestOperation::Write => {}
                RequestOperation::Discard => self.complete(key, 0, at, log),
            },
            Step::Complete => self.complete(key, sectors, at, log),
        }
    }

    fn issue_flush(&mut self, disk: u32, flush: Issued, at: &At, log: &mut Log) {
        if self.disks.flushing >= MAX_REQUESTS {
            log.count(|of| &mut of.dropped);
            return;
        }
        self.disks.flushes.entry(disk).or_default().push_back(flush);
        self.disks.flushing += 1;
        self.change_depth(disk, 1, at.time, log);
    }

    fn complete_flush(&mut self, disk: u32, at: &At, log: &mut Log) {
        let flushes = self.disks.flushes.get_mut(&disk);
        let Some(flush) = flushes.and_then(VecDeque::pop_front) else {
            log.count(|of| &mut of.completions_without_issue);
            return;
        };
        self.disks.flushing -= 1;
        self.finish(disk, &flush, 0, at, log);
    }

    fn issue(&mut self, key: (u32, u64), request: Issued, at: &At, log: &mut Log) {
        if self.disks.issued.len() >= MAX_REQUESTS {
            log.count(|of| &mut of.dropped);
            return;
        }
        if self.disks.issued.insert(key, request).is_some() {
            log.count(|of| &mut of.issues_over_issue);
        } else {
            self.change_depth(key.0, 1, at.time, log);
        }
    }

    fn complete(&mut self, key: (u32, u64), sectors: u64, at: &At, log: &mut Log) {
        let Some(request) = self.disks.issued.remove(&key) else {
            log.count(|of| &mut of.completions_without_issue);
            return;
        };
        let (disk, sector) = key;
        let rest = request.sectors.saturating_sub(sectors);
        if sectors > 0 && rest > 0 {
            // The rest is completed later.
            let completed = request.completed.saturating_add(sectors);
            let rest = Issued { sectors: rest, completed, ..request };
            let next = (disk, sector.wrapping_add(sectors));
            if self.disks.issued.insert(next, rest).is_some() {
                log.count(|of| &mut of.issues_over_issue);
                self.change_depth(disk, -1, at.time, log);
            }
            return;
        }
        self.finish(disk, &request, sectors, at, log);
    }

    /// Ends a request with the completion of its last sectors.
    fn finish(&mut self, disk: u32, request: &Issued, sectors: u64, at: &At, log: &mut Log) {
        let subject = subject(disk, request.operation);
        self.change_depth(disk, -1, at.time, log);
        let ending = Ending::new(Family::DiskDevice, request.thread, subject, request.begin);
        let more = Addition::Request { sectors: request.completed.saturating_add(sectors) };
        log.ended(Ending { more, ..ending }, at);
    }

    /// Changes the number of requests in a disk by one.
    fn change_depth(&mut self, disk: u32, by: i32, time: i64, log: &mut Log) {
        let state = &mut self.disks.states[disk as usize];
        log.put(Outcome::DiskPassed { disk, number: state.depth, since: state.changed, time });
        state.depth = state.depth.saturating_add_signed(by);
        state.changed = time;
        log.put(Outcome::DiskHas { disk, number: state.depth });
    }
}
