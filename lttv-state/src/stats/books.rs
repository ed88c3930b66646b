//! The books of a collector: where it keeps times and events by leaf.

use ltt_read::schema::EventTypeId;

use super::kinds::Kind;
use super::leaf::LeafKey;
use super::ledger::{LeafIx, Ledger};
use super::rows::Row;
use crate::kernel::{Ended, Request, Transfer};

/// The times and events of the leaves that CPUs are on. CPUs are counted as in the state.
pub(super) trait Books {
    /// Returns the key of the leaf that a CPU is on; `None` if the CPU is not in the books.
    fn key(&self, place: usize) -> Option<&LeafKey>;

    /// Adds a CPU, whose time counts from a time on.
    fn open(&mut self, key: LeafKey, since: i64);

    /// Charges the current leaf of a CPU up to a time, and changes to another one.
    fn move_to(&mut self, place: usize, key: &LeafKey, time: i64);

    /// Adds a frame that ended to a leaf of the process on a CPU.
    fn ended(&mut self, place: usize, left: &LeafKey, ended: &Ended);

    /// Adds the time that a process waited to the leaf that a CPU is on.
    fn waited(&mut self, place: usize, time: u64);

    /// Charges the current leaf of a CPU up to `lost_since`, and the time since then to the leaf of
    /// an unknown process, if there is one.
    fn lost(&mut self, place: usize, lost_since: i64, unknown: Option<LeafKey>, time: i64);

    /// Counts an event that was applied to the state, for the leaf that its CPU is on after it.
    fn count(&mut self, place: usize, event_type: EventTypeId);

    /// Counts an event that changes no state.
    fn count_other(&mut self, place: usize, event_type: EventTypeId);

    /// Notes that an event counts elsewhere: its CPU is not in the books.
    fn skip(&mut self) {}

    /// Adds bytes that a process on a CPU moved to a leaf, or to the one that the CPU is on.
    fn transferred(&mut self, place: usize, left: Option<&LeafKey>, transfer: Transfer, bytes: u64);

    /// Adds a step of a request to the leaf that a CPU is on.
    fn request(&mut self, place: usize, request: &Request);
}

/// The books with a ledger.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    pub(super) ledger: Ledger,
    /// The current leaf of each CPU, by index in the state.
    pub(super) cpus: Vec<OnCpu>,
}

/// The current leaf of a CPU, and the time from which on its time has not been counted yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnCpu {
    pub(super) key: LeafKey,
    row: Row,
    pub(super) leaf: LeafIx,
    kind: Kind,
    pub(super) since: i64,
}

impl OnCpu {
    /// Creates the entry of a CPU whose current leaf is that of a key.
    fn new(ledger: &mut Ledger, key: LeafKey, since: i64) -> Self {
        let row = ledger.row(key.process, key.cpu);
        let (leaf, kind) = ledger.find_or_add_in_row(row, &key);
        OnCpu { key, row, leaf, kind, since }
    }

    /// Adds the time since the last charge to the current leaf. Charging at each event
    /// would lead to the same sum.
    #[inline]
    fn charge(&mut self, ledger: &mut Ledger, time: i64) {
        ledger.charge(self.leaf, self.since, time);
        self.since = time;
    }

    /// Charges the current leaf and changes to another one.
    #[inline(always)] // called for a third of all events
    pub(super) fn move_to(&mut self, ledger: &mut Ledger, key: &LeafKey, time: i64) {
        self.charge(ledger, time);
        if key.process != self.key.process {
            self.row = ledger.row(key.process, key.cpu);
        }
        self.key = *key;
        (self.leaf, self.kind) = ledger.find_or_add_in_row(self.row, key);
    }

    /// Returns the index of a leaf of the process that was last on the CPU, if it is so.
    #[inline]
    pub(super) fn find_or_add(&self, ledger: &mut Ledger, key: &LeafKey) -> LeafIx {
        if key.eq_branchless(&self.key) {
            return self.leaf;
        }
        match key.process == self.key.process {
            true => ledger.find_or_add_in_row(self.row, key).0,
            false => ledger.find_or_add(key),
        }
    }

    /// Counts an event.
    #[inline]
    pub(super) fn count(&self, ledger: &mut Ledger, event_type: EventTypeId) {
        ledger.count(self.leaf, self.kind, event_type);
    }
}

impl Accounts {
    /// Creates the books with a ledger.
    pub(super) fn new(ledger: Ledger) -> Self {
        Accounts { ledger, cpus: Vec::new() }
    }

    /// Adds a frame that ended, with its elapsed and CPU time, to a leaf of the process on a CPU.
    #[inline]
    pub(super) fn ended_at(&mut self, place: usize, left: &LeafKey, (elapsed, cpu): (u64, u64)) {
        if let Some(of) = self.cpus.get(place) {
            let leaf = of.find_or_add(&mut self.ledger, left);
            self.ledger.ended(leaf, elapsed, cpu);
        }
    }

    /// Sets the CPUs to other leaves, whose time has not been counted since a time, without any
    /// charge.
    pub(super) fn set_cpus(&mut self, cpus: &[(LeafKey, i64)]) {
        self.cpus.clear();
        for (key, since) in cpus {
            self.open(*key, *since);
        }
    }
}

impl Books for Accounts {
    #[inline]
    fn key(&self, place: usize) -> Option<&LeafKey> {
        Some(&self.cpus.get(place)?.key)
    }

    fn open(&mut self, key: LeafKey, since: i64) {
        self.cpus.push(OnCpu::new(&mut self.ledger, key, since));
    }

    #[inline(always)]
    fn move_to(&mut self, place: usize, key: &LeafKey, time: i64) {
        if let Some(of) = self.cpus.get_mut(place) {
            of.move_to(&mut self.ledger, key, time);
        }
    }

    #[inline]
    fn ended(&mut self, place: usize, left: &LeafKey, ended: &Ended) {
        self.ended_at(place, left, (ended.elapsed, ended.cpu_time));
    }

    #[inline]
    fn waited(&mut self, place: usize, time: u64) {
        if let Some(of) = self.cpus.get(place) {
            self.ledger.waited(of.leaf, time);
        }
    }

    #[cold]
    fn lost(&mut self, place: usize, lost_since: i64, unknown: Option<LeafKey>, time: i64) {
        let Some(of) = self.cpus.get_mut(place) else { return };
        of.charge(&mut self.ledger, lost_since);
        if let Some(unknown) = unknown {
            let leaf = self.ledger.find_or_add(&unknown);
            self.ledger.charge(leaf, lost_since, time);
            of.since = time;
        }
    }

    #[inline]
    fn count(&mut self, place: usize, event_type: EventTypeId) {
        if let Some(of) = self.cpus.get(place) {
            of.count(&mut self.ledger, event_type);
        }
    }

    #[inline]
    fn count_other(&mut self, place: usize, event_type: EventTypeId) {
        self.count(place, event_type);
    }

    #[cold]
    fn transferred(
        &mut self,
        place: usize,
        left: Option<&LeafKey>,
        transfer: Transfer,
        bytes: u64,
    ) {
        let Some(of) = self.cpus.get(place) else { return };
        let leaf = match left {
            Some(left) => self.ledger.find_or_add(left),
            None => of.leaf,
        };
        self.ledger.extra_mut(leaf).transfer(transfer, bytes);
    }

    #[cold]
    fn request(&mut self, place: usize, request: &Request) {
        let Some(of) = self.cpus.get(place) else { return };
        // The state limits the number of devices.
        let device = request.device.map(|at| at as u32);
        self.ledger.extra_mut(of.leaf).requests_to(device).count(request);
    }
}
