//! What is counted while events go by, laid out so that an event touches little memory.
//!
//! There are many leaves, a few for each process and CPU, and each event may be about
//! another one than the last. So a leaf's time and its counters of events are side by
//! side, most of them in one line of the cache, and nothing is hashed to find it but when
//! a process comes to a CPU for the first time.

use hashbrown::HashMap;
use ltt_read::schema::EventTypeId;

use super::durations::Durations;
use super::kinds::{Kind, Kinds};
use super::leaf::{Counts, LeafKey, Quick};
use super::rows::{Row, Rows};
use super::tally::Tallies;
use crate::kernel::{Ended, Serial};

/// Place of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LeafIx(u32);

impl LeafIx {
    /// As an index into [all leaves](Ledger::leaves).
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is counted of a leaf. Most events are about what is in its first line of the
/// cache; the second one is for when a leaf ends, and for types of events that are rare.
#[derive(Debug, Clone)]
#[repr(C, align(128))]
struct Account {
    cpu_time: u64,
    wait_time: u64,
    /// Of the counters beyond these: where they begin, and how many they are.
    begin: u32,
    kind: Kind,
    len: u8,
    /// Those of the types that leaves of its kind met first.
    counters: [Counter; FIRST],
    cumulative_cpu_time: u64,
    durations: Durations,
}

const _: () = assert!(size_of::<Account>() == 128, "two lines of the cache");

/// What it has counted beyond that is in [`Ledger::more`].
type Counter = u16;

/// So many counters of a leaf are in its account.
const FIRST: usize = 32;

/// All leaves, while they are counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    kinds: Kinds,
    accounts: Vec<Account>,
    /// Of each leaf: its row, unless it is in none.
    rows_of: Vec<Row>,
    /// Of all leaves: those that have no place in their accounts.
    counters: Vec<Counter>,
    /// What does not go into the counters of leaves.
    more: HashMap<(LeafIx, u32), u64, Quick>,
    rows: Rows,
    /// By row: where each part of it begins in `leaves`, [`NOWHERE`] if it has no leaves.
    parts: Vec<[u32; PARTS]>,
    /// Parts of rows: by kind.
    leaves: Vec<LeafIx>,
    /// Those that are in no row.
    others: HashMap<LeafKey, LeafIx, Quick>,
}

/// So many kinds have their place in a row: the first that are met, in parts, since most
/// processes are in few of them.
const ROW: usize = PART * PARTS;
const PARTS: usize = 8;
const PART: usize = 16;
const NOWHERE: u32 = u32::MAX;

/// Adds the time from one point to another. If the other is before the one, it is taken
/// back.
#[inline]
pub(super) fn charge(time: &mut u64, from: i64, to: i64) {
    *time = time.wrapping_add(to.wrapping_sub(from) as u64);
}

impl Ledger {
    /// For a trace with so many event types and CPUs, as far as known.
    pub(super) fn new(types: usize, cpus: usize) -> Self {
        Ledger {
            kinds: Kinds::new(types),
            accounts: Vec::with_capacity(cpus.min(MANY_CPUS) * LEAVES_OF_CPU),
            rows: Rows::new(cpus),
            ..Ledger::default()
        }
    }

    /// The row of a process on a CPU.
    #[inline]
    pub(super) fn row(&mut self, process: Serial, cpu: u32) -> Row {
        self.rows.get(process, cpu).unwrap_or_else(|| self.add_row(process, cpu))
    }

    #[cold]
    fn add_row(&mut self, process: Serial, cpu: u32) -> Row {
        self.parts.push([NOWHERE; PARTS]);
        self.rows.add(process, cpu)
    }

    /// The leaf of a kind in a row, if there is one.
    #[inline]
    fn in_row(&self, row: Row, kind: Kind) -> Option<LeafIx> {
        let part = *self.parts.get(row.index())?.get(kind.index() / PART)?;
        // There is no such place in `leaves` if the part is nowhere.
        let leaf = *self.leaves.get((part as usize).saturating_add(kind.index() % PART))?;
        (leaf.0 != NOWHERE).then_some(leaf)
    }

    /// Adds a leaf of a kind to a row.
    fn add_to_row(&mut self, row: Row, kind: Kind) -> LeafIx {
        let leaf = self.add(row, kind);
        let part = &mut self.parts[row.index()][kind.index() / PART];
        if *part == NOWHERE {
            *part = self.leaves.len() as u32;
            self.leaves.resize(self.leaves.len() + PART, LeafIx(NOWHERE));
        }
        self.leaves[*part as usize + kind.index() % PART] = leaf;
        leaf
    }

    /// The leaf of a key in the row of its process and CPU, made if it is new, and its
    /// kind.
    #[inline]
    pub(super) fn place(&mut self, row: Row, key: &LeafKey) -> (LeafIx, Kind) {
        let kind = self.kinds.of(key.mode, key.submode);
        let leaf = match self.in_row(row, kind) {
            Some(leaf) if key.function == 0 => leaf,
            _ => self.find(row, key, kind),
        };
        (leaf, kind)
    }

    /// The leaf of a key, if there is one.
    pub(super) fn get(&self, key: &LeafKey) -> Option<LeafIx> {
        let kind = self.kinds.get(key.mode, key.submode)?;
        if kind.index() >= ROW || key.function != 0 {
            return self.others.get(key).copied();
        }
        self.in_row(self.rows.get(key.process, key.cpu)?, kind)
    }

    /// The leaf of a key, made if it is new.
    #[cold]
    pub(super) fn place_anywhere(&mut self, key: &LeafKey) -> LeafIx {
        let row = self.row(key.process, key.cpu);
        self.place(row, key).0
    }

    #[cold]
    #[inline(never)]
    fn find(&mut self, row: Row, key: &LeafKey, kind: Kind) -> LeafIx {
        if kind.index() < ROW && key.function == 0 {
            return self.add_to_row(row, kind);
        }
        if let Some(leaf) = self.others.get(key) {
            return *leaf;
        }
        let leaf = self.add(Row::NONE, kind);
        self.others.insert(*key, leaf);
        leaf
    }

    fn add(&mut self, row: Row, kind: Kind) -> LeafIx {
        self.accounts.push(Account {
            cpu_time: 0,
            wait_time: 0,
            begin: 0,
            kind,
            len: 0,
            counters: [0; FIRST],
            cumulative_cpu_time: 0,
            durations: Durations::default(),
        });
        self.rows_of.push(row);
        LeafIx(self.rows_of.len() as u32 - 1)
    }

    /// Counts the time from one point to another as that of a CPU on a leaf.
    #[inline]
    pub(super) fn charge(&mut self, leaf: LeafIx, from: i64, to: i64) {
        charge(&mut self.accounts[leaf.index()].cpu_time, from, to);
    }

    /// Counts a time that a process waited within a leaf.
    #[inline]
    pub(super) fn waited(&mut self, leaf: LeafIx, time: u64) {
        let account = &mut self.accounts[leaf.index()];
        account.wait_time = account.wait_time.wrapping_add(time);
    }

    /// Counts a time that a leaf lasted.
    #[inline]
    pub(super) fn ended(&mut self, leaf: LeafIx, ended: &Ended) {
        let account = &mut self.accounts[leaf.index()];
        account.durations.count(ended.elapsed);
        account.cumulative_cpu_time = account.cumulative_cpu_time.wrapping_add(ended.cpu_time);
    }

    /// Counts an event of a leaf, given its kind.
    #[inline]
    pub(super) fn count(&mut self, leaf: LeafIx, kind: Kind, event_type: EventTypeId) {
        let slot = self.kinds.slot(kind, event_type);
        let account = &mut self.accounts[leaf.index()];
        let Some(counter) = account.counters.get_mut(usize::from(slot)) else {
            return self.count_beyond(leaf, slot, event_type);
        };
        *counter = counter.wrapping_add(1);
        if *counter == 0 {
            self.count_more(leaf, event_type, 1 << Counter::BITS);
        }
    }

    #[cold]
    fn count_more(&mut self, leaf: LeafIx, event_type: EventTypeId, events: u64) {
        *self.more.entry((leaf, event_type.0)).or_default() += events;
    }

    /// Counts an event of a type that has no place in a leaf's account.
    #[inline(never)]
    fn count_beyond(&mut self, leaf: LeafIx, slot: u8, event_type: EventTypeId) {
        let Account { begin, len, .. } = self.accounts[leaf.index()];
        let slot = usize::from(slot) - FIRST;
        if slot >= usize::from(len) {
            return self.count_another(leaf, event_type);
        }
        let counter = &mut self.counters[begin as usize + slot];
        *counter = counter.wrapping_add(1);
        if *counter == 0 {
            self.count_more(leaf, event_type, 1 << Counter::BITS);
        }
    }

    /// Counts an event of a type that a leaf has no counter for.
    #[cold]
    #[inline(never)]
    fn count_another(&mut self, leaf: LeafIx, event_type: EventTypeId) {
        let account = &mut self.accounts[leaf.index()];
        let kind = account.kind;
        let Some(slot) = self.kinds.slot_or_add(kind, event_type) else {
            return self.count_more(leaf, event_type, 1);
        };
        if let Some(counter) = account.counters.get_mut(usize::from(slot)) {
            *counter += 1;
            return;
        }
        let slot = usize::from(slot) - FIRST;
        let (begin, len) = (account.begin as usize, usize::from(account.len));
        // The old ones are left behind: they are fewer than those that come.
        let used = usize::from(self.kinds.used(kind)) - FIRST;
        let wanted = (len * 2).max(FIRST_BEYOND).min(used).max(slot + 1);
        account.begin = self.counters.len() as u32;
        account.len = wanted as u8;
        self.counters.extend_from_within(begin..begin + len);
        self.counters.resize(account.begin as usize + wanted, 0);
        self.counters[account.begin as usize + slot] += 1;
    }

    /// All that was counted, by leaf, with room for so many more.
    pub(super) fn leaves(&self, more: usize) -> Vec<(LeafKey, Counts)> {
        let types = self.kinds.types();
        let mut tallies = Tallies::of(self.accounts.len());
        for Account { begin, kind, len, counters, .. } in &self.accounts {
            let beyond = &self.counters[*begin as usize..][..usize::from(*len)];
            let types = types.get(kind.index()).map_or(&[] as &[_], Vec::as_slice);
            tallies.add(types.iter().map(|(event_type, slot)| {
                let slot = usize::from(*slot);
                let counter = counters.get(slot).or_else(|| beyond.get(slot - FIRST));
                (*event_type, counter.copied().unwrap_or(0).into())
            }));
        }
        let all = self.accounts.iter().zip(&self.rows_of).zip(tallies.into_all());
        let all = all.map(|((account, row), events)| {
            let counts = Counts {
                cpu_time: account.cpu_time,
                cumulative_cpu_time: account.cumulative_cpu_time,
                durations: account.durations,
                events,
                open_time: 0,
                wait_time: account.wait_time,
            };
            let (process, cpu) = self.rows.of(*row);
            let (mode, submode) = self.kinds.name(account.kind);
            (LeafKey { process, cpu, function: 0, mode, submode }, counts)
        });
        let mut leaves = Vec::with_capacity(self.accounts.len() + more);
        leaves.extend(all);
        for (key, leaf) in &self.others {
            leaves[leaf.index()].0 = *key;
        }
        for ((leaf, event_type), events) in &self.more {
            leaves[leaf.index()].1.events.add_to(EventTypeId(*event_type), *events);
        }
        leaves
    }
}

/// There is room for so many leaves of each CPU at first, up to a number of CPUs. (Memory
/// that is not used costs nothing; making more room does.)
const LEAVES_OF_CPU: usize = 1 << 11;
const MANY_CPUS: usize = 8;

/// So many further counters does a leaf get first.
const FIRST_BEYOND: usize = 12;
