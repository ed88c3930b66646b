//! The accounts in which times and events are booked by leaf.

use ltt_read::schema::EventTypeId;

use super::kinds::Kind;
use super::leaf::LeafKey;
use super::ledger::{LeafIx, Ledger};
use super::rows::Row;
use crate::kernel::{Request, Transfer};

/// The accounts of the leaves that CPUs are on. CPUs are counted as in the state.
#[derive(Debug, Clone, Default)]
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
    /// Creates accounts with a ledger.
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

    /// Adds the current leaf of a CPU that is new, whose time has not been counted since a time.
    pub(super) fn open(&mut self, key: LeafKey, since: i64) {
        self.cpus.push(OnCpu::new(&mut self.ledger, key, since));
    }

    /// Changes the leaf of a CPU at a time.
    #[inline(always)]
    pub(super) fn move_to(&mut self, place: usize, key: &LeafKey, time: i64) {
        if let Some(of) = self.cpus.get_mut(place) {
            of.move_to(&mut self.ledger, key, time);
        }
    }

    /// Adds the time that the process on a CPU waited.
    #[inline]
    pub(super) fn waited(&mut self, place: usize, time: u64) {
        if let Some(of) = self.cpus.get(place) {
            self.ledger.waited(of.leaf, time);
        }
    }

    /// Counts an event on a CPU.
    #[inline]
    pub(super) fn count(&mut self, place: usize, event_type: EventTypeId) {
        if let Some(of) = self.cpus.get(place) {
            of.count(&mut self.ledger, event_type);
        }
    }

    /// Adds bytes that a process on a CPU moved to a leaf, or to the one that the CPU is on.
    #[cold]
    pub(super) fn transferred(
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

    /// Adds a step of a request to the leaf that a CPU is on.
    #[cold]
    pub(super) fn request(&mut self, place: usize, request: &Request) {
        let Some(of) = self.cpus.get(place) else { return };
        // The state limits the number of devices.
        let device = request.device.map(|at| at as u32);
        self.ledger.extra_mut(of.leaf).requests_to(device).count(request);
    }
}
