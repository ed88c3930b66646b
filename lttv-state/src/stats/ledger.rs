//! The counters of all leaves, laid out so that an event touches little memory.
//!
//! There are many leaves, a few for each process and CPU, and consecutive events are often
//! about different ones. A leaf's time and event counters are therefore adjacent, most of
//! them in one cache line, and finding a leaf requires hashing only when a process first
//! runs on a CPU.

use hashbrown::HashMap;
use ltt_read::schema::EventTypeId;

use super::extra::Extra;
use super::kinds::{Kind, Kinds};
use super::leaf::{Counts, LeafKey};
use super::rows::{Row, Rows};
use super::tally::Tallies;
use crate::durations::Durations;
use crate::fast_hash::FastHash;
use crate::kernel::Serial;

/// The index of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LeafIx(u32);

impl LeafIx {
    /// Returns the index into [all leaves](Ledger::leaves).
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The counters of a leaf. Most events touch the first cache line only; the second one is
/// for frames that end and for further event types.
#[derive(Debug, Clone)]
#[repr(C, align(128))]
struct Account {
    cpu_time: u64,
    wait_time: u64,
    /// The start of the leaf's further counters in `Ledger::counters`; `len` is their
    /// number.
    begin: u32,
    kind: Kind,
    len: u8,
    /// The counters of the event types that leaves of this kind saw first.
    counters: [Counter; INLINE_COUNTERS],
    cumulative_cpu_time: u64,
    durations: Durations,
}

/// The order in which a leaf was added: the number of the event, and that of the leaf.
pub(super) type Rank = (u64, u32);

impl Account {
    /// Adds the times and durations of another account.
    fn add_times(&mut self, other: &Account) {
        self.cpu_time = self.cpu_time.wrapping_add(other.cpu_time);
        self.wait_time = self.wait_time.wrapping_add(other.wait_time);
        self.cumulative_cpu_time = self.cumulative_cpu_time.wrapping_add(other.cumulative_cpu_time);
        self.durations.add(&other.durations);
    }
}

const _: () = assert!(size_of::<Account>() == 128, "an account fills two cache lines");

/// An event counter modulo 2¹⁶; multiples of 2¹⁶ are counted in [`Ledger::overflow`].
type Counter = u16;

/// The number of event counters within an account.
const INLINE_COUNTERS: usize = 32;

/// All leaves, while they are being counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    kinds: Kinds,
    accounts: Vec<Account>,
    /// The row of each leaf, [`Row::NONE`] if it is in none.
    rows_of: Vec<Row>,
    /// The further counters of all leaves.
    counters: Vec<Counter>,
    /// The counts that exceed the counters of leaves, or have no counter.
    overflow: HashMap<(LeafIx, u32), u64, FastHash>,
    rows: Rows,
    /// The start of each part of each row in `leaves`; [`NO_INDEX`] if the part has no
    /// leaves.
    parts: Vec<[u32; PARTS]>,
    /// The parts of rows: leaves by kind.
    leaves: Vec<LeafIx>,
    /// The counters that only some leaves have.
    extras: Vec<Extra>,
    /// The index of each leaf in `extras`, [`NO_INDEX`] if it has none. The last leaves may
    /// be missing.
    extra_of: Vec<u32>,
    /// The number of the event at which each leaf was added, see [`set_event`](Ledger::set_event).
    added_at: Vec<u64>,
    event: u64,
    /// The leaves that are in no row.
    others: HashMap<LeafKey, LeafIx, FastHash>,
}

/// The number of kinds that have places in rows: the first ones to occur. Rows are divided
/// into parts, since most processes use few kinds.
const ROW_KINDS: usize = PART_KINDS * PARTS;
const PARTS: usize = 8;
const PART_KINDS: usize = 16;
const NO_INDEX: u32 = u32::MAX;

/// Adds the time from `from` to `to`, or subtracts it if `to` is earlier.
#[inline]
pub(super) fn charge(time: &mut u64, from: i64, to: i64) {
    *time = time.wrapping_add(to.wrapping_sub(from) as u64);
}

impl Ledger {
    /// Creates an empty ledger for a number of event types and a number of CPUs, as far as
    /// known.
    pub(super) fn new(types: usize, cpus: usize) -> Self {
        Ledger {
            kinds: Kinds::new(types),
            accounts: Vec::with_capacity(cpus.min(RESERVED_CPUS) * RESERVED_LEAVES_PER_CPU),
            rows: Rows::new(cpus),
            ..Ledger::default()
        }
    }

    /// Adds event types, up to a number of them.
    pub(super) fn add_event_types(&mut self, types: usize) {
        self.kinds.add_event_types(types);
    }

    /// Returns the row of a process on a CPU, which is added if it is new.
    #[inline]
    pub(super) fn row(&mut self, process: Serial, cpu: u32) -> Row {
        self.rows.get(process, cpu).unwrap_or_else(|| self.add_row(process, cpu))
    }

    /// Adds a row without leaves.
    #[cold]
    fn add_row(&mut self, process: Serial, cpu: u32) -> Row {
        self.parts.push([NO_INDEX; PARTS]);
        self.rows.add(process, cpu)
    }

    /// Returns the leaf of a kind in a row, if there is one.
    #[inline]
    fn in_row(&self, row: Row, kind: Kind) -> Option<LeafIx> {
        let part = *self.parts.get(row.index())?.get(kind.index() / PART_KINDS)?;
        // If the row has no such part, the index is beyond the end of `leaves`.
        let leaf = *self.leaves.get((part as usize).saturating_add(kind.index() % PART_KINDS))?;
        (leaf.0 != NO_INDEX).then_some(leaf)
    }

    /// Adds a leaf of a kind to a row.
    fn add_to_row(&mut self, row: Row, kind: Kind) -> LeafIx {
        let leaf = self.add(row, kind);
        let part = &mut self.parts[row.index()][kind.index() / PART_KINDS];
        if *part == NO_INDEX {
            *part = self.leaves.len() as u32;
            self.leaves.resize(self.leaves.len() + PART_KINDS, LeafIx(NO_INDEX));
        }
        self.leaves[*part as usize + kind.index() % PART_KINDS] = leaf;
        leaf
    }

    /// Returns the leaf of a key in the row of its process and CPU, and its kind. The leaf
    /// is added if it is new.
    #[inline]
    pub(super) fn find_or_add_in_row(&mut self, row: Row, key: &LeafKey) -> (LeafIx, Kind) {
        let kind = self.kinds.of(key.mode, key.submode);
        let leaf = match self.in_row(row, kind) {
            Some(leaf) if key.function == 0 => leaf,
            _ => self.find_or_add_slow(row, key, kind),
        };
        (leaf, kind)
    }

    /// Returns the leaf of a key, if there is one.
    pub(super) fn get(&self, key: &LeafKey) -> Option<LeafIx> {
        let kind = self.kinds.get(key.mode, key.submode)?;
        if kind.index() >= ROW_KINDS || key.function != 0 {
            return self.others.get(key).copied();
        }
        self.in_row(self.rows.get(key.process, key.cpu)?, kind)
    }

    /// Returns the leaf of a key, which is added if it is new.
    #[cold]
    pub(super) fn find_or_add(&mut self, key: &LeafKey) -> LeafIx {
        let row = self.row(key.process, key.cpu);
        self.find_or_add_in_row(row, key).0
    }

    /// Returns the leaf of a key that is not in its row, or has a function. The leaf is
    /// added if it is new.
    #[cold]
    #[inline(never)]
    fn find_or_add_slow(&mut self, row: Row, key: &LeafKey, kind: Kind) -> LeafIx {
        if kind.index() < ROW_KINDS && key.function == 0 {
            return self.add_to_row(row, kind);
        }
        if let Some(leaf) = self.others.get(key) {
            return *leaf;
        }
        let leaf = self.add(Row::NONE, kind);
        self.others.insert(*key, leaf);
        leaf
    }

    /// Adds a leaf without counts.
    fn add(&mut self, row: Row, kind: Kind) -> LeafIx {
        self.accounts.push(Account {
            cpu_time: 0,
            wait_time: 0,
            begin: 0,
            kind,
            len: 0,
            counters: [0; INLINE_COUNTERS],
            cumulative_cpu_time: 0,
            durations: Durations::default(),
        });
        self.rows_of.push(row);
        self.added_at.push(self.event);
        LeafIx(self.rows_of.len() as u32 - 1)
    }

    /// Sets the number of the current event among all of the traceset.
    #[inline]
    pub(super) fn set_event(&mut self, event: u64) {
        self.event = event;
    }

    /// Returns the rank of each leaf: the numbers of the event at which it was added, and of the leaf.
    /// In their order, the leaves of ledgers that were [joined](Self::join) are those of one.
    pub(super) fn ranks(&self) -> Vec<Rank> {
        self.added_at.iter().copied().zip(0..).collect()
    }

    /// Adds the counts of all leaves of another ledger. `ranks` has the rank of each leaf, and gets the
    /// least one of both ledgers.
    pub(super) fn join(&mut self, other: &Ledger, ranks: &mut Vec<Rank>) {
        let types = other.kinds.types();
        let mut places = Vec::with_capacity(other.accounts.len());
        let leaves = other.accounts.iter().zip(other.keys()).zip(other.ranks());
        for ((account, key), rank) in leaves {
            let row = self.row(key.process, key.cpu);
            let (leaf, kind) = self.find_or_add_in_row(row, &key);
            match ranks.get_mut(leaf.index()) {
                Some(least) => *least = rank.min(*least),
                None => ranks.push(rank),
            }
            self.accounts[leaf.index()].add_times(account);
            for (event_type, slot) in types.get(account.kind.index()).into_iter().flatten() {
                let events = other.counter(account, usize::from(*slot));
                if events > 0 {
                    self.add_count(leaf, kind, *event_type, events);
                }
            }
            places.push(leaf);
        }
        for ((leaf, event_type), events) in &other.overflow {
            self.add_overflow(places[leaf.index()], EventTypeId(*event_type), *events);
        }
        for (leaf, at) in places.into_iter().zip(&other.extra_of) {
            if let Some(extra) = other.extras.get(*at as usize) {
                self.extra_mut(leaf).add(extra);
            }
        }
    }

    /// Adds a number of events of a type to a leaf of a kind.
    fn add_count(&mut self, leaf: LeafIx, kind: Kind, event_type: EventTypeId, events: Counter) {
        let slot = usize::from(self.kinds.slot(kind, event_type));
        let account = &mut self.accounts[leaf.index()];
        let counter = match account.counters.get_mut(slot) {
            None if slot - INLINE_COUNTERS < usize::from(account.len) => {
                self.counters.get_mut(account.begin as usize + slot - INLINE_COUNTERS)
            }
            counter => counter,
        };
        let Some(counter) = counter else {
            return self.add_overflow(leaf, event_type, events.into());
        };
        let (sum, is_beyond) = counter.overflowing_add(events);
        *counter = sum;
        if is_beyond {
            self.add_overflow(leaf, event_type, 1 << Counter::BITS);
        }
    }

    /// Returns a counter of a leaf, given the index of the counter.
    #[inline]
    fn counter(&self, account: &Account, slot: usize) -> Counter {
        let beyond = &self.counters[account.begin as usize..][..usize::from(account.len)];
        let counter = account.counters.get(slot).or_else(|| beyond.get(slot - INLINE_COUNTERS));
        counter.copied().unwrap_or(0)
    }

    /// Adds the time from one point to another to the CPU time of a leaf.
    #[inline]
    pub(super) fn charge(&mut self, leaf: LeafIx, from: i64, to: i64) {
        charge(&mut self.accounts[leaf.index()].cpu_time, from, to);
    }

    /// Adds a time that a process waited to a leaf.
    #[inline]
    pub(super) fn waited(&mut self, leaf: LeafIx, time: u64) {
        let account = &mut self.accounts[leaf.index()];
        account.wait_time = account.wait_time.wrapping_add(time);
    }

    /// Adds a frame that ended, with its elapsed and CPU time, to a leaf.
    #[inline]
    pub(super) fn ended(&mut self, leaf: LeafIx, elapsed: u64, cpu_time: u64) {
        let account = &mut self.accounts[leaf.index()];
        account.durations.push(elapsed);
        account.cumulative_cpu_time = account.cumulative_cpu_time.wrapping_add(cpu_time);
    }

    /// Counts an event of a leaf of a kind.
    #[inline]
    pub(super) fn count(&mut self, leaf: LeafIx, kind: Kind, event_type: EventTypeId) {
        let slot = self.kinds.slot(kind, event_type);
        let account = &mut self.accounts[leaf.index()];
        let Some(counter) = account.counters.get_mut(usize::from(slot)) else {
            return self.count_in_further(leaf, slot, event_type);
        };
        *counter = counter.wrapping_add(1);
        if *counter == 0 {
            self.add_overflow(leaf, event_type, 1 << Counter::BITS);
        }
    }

    /// Adds to the count of an event type outside of the leaf's counters.
    #[cold]
    fn add_overflow(&mut self, leaf: LeafIx, event_type: EventTypeId, events: u64) {
        *self.overflow.entry((leaf, event_type.0)).or_default() += events;
    }

    /// Counts an event of a type whose counter is not within the leaf's account.
    #[inline(never)]
    fn count_in_further(&mut self, leaf: LeafIx, slot: u8, event_type: EventTypeId) {
        let Account { begin, len, .. } = self.accounts[leaf.index()];
        let slot = usize::from(slot) - INLINE_COUNTERS;
        if slot >= usize::from(len) {
            return self.add_counter(leaf, event_type);
        }
        let counter = &mut self.counters[begin as usize + slot];
        *counter = counter.wrapping_add(1);
        if *counter == 0 {
            self.add_overflow(leaf, event_type, 1 << Counter::BITS);
        }
    }

    /// Counts an event of a type for which a leaf has no counter yet.
    #[cold]
    #[inline(never)]
    fn add_counter(&mut self, leaf: LeafIx, event_type: EventTypeId) {
        let account = &mut self.accounts[leaf.index()];
        let kind = account.kind;
        let Some(slot) = self.kinds.slot_or_add(kind, event_type) else {
            return self.add_overflow(leaf, event_type, 1);
        };
        if let Some(counter) = account.counters.get_mut(usize::from(slot)) {
            *counter += 1;
            return;
        }
        let slot = usize::from(slot) - INLINE_COUNTERS;
        let (begin, len) = (account.begin as usize, usize::from(account.len));
        // The old counters remain unused: they are fewer than the new ones.
        let used = usize::from(self.kinds.used(kind)) - INLINE_COUNTERS;
        let wanted = (len * 2).max(MIN_FURTHER).min(used).max(slot + 1);
        account.begin = self.counters.len() as u32;
        account.len = wanted as u8;
        self.counters.extend_from_within(begin..begin + len);
        self.counters.resize(account.begin as usize + wanted, 0);
        self.counters[account.begin as usize + slot] += 1;
    }

    /// Returns the counters of a leaf that only some leaves have, to be added to. They must
    /// not stay 0.
    #[inline]
    pub(super) fn extra_mut(&mut self, leaf: LeafIx) -> &mut Extra {
        let at = match self.extra_of.get(leaf.index()) {
            Some(at) if *at != NO_INDEX => *at as usize,
            _ => self.add_extra(leaf),
        };
        &mut self.extras[at]
    }

    #[cold]
    fn add_extra(&mut self, leaf: LeafIx) -> usize {
        if self.extra_of.len() <= leaf.index() {
            self.extra_of.resize(leaf.index() + 1, NO_INDEX);
        }
        self.extra_of[leaf.index()] = self.extras.len() as u32;
        self.extras.push(Extra::default());
        self.extras.len() - 1
    }

    /// Returns the keys of all leaves, by index.
    pub(super) fn keys(&self) -> impl Iterator<Item = LeafKey> {
        let mut keys: Vec<_> = (self.accounts.iter().zip(&self.rows_of))
            .map(|(account, row)| {
                let (process, cpu) = self.rows.of(*row);
                let (mode, submode) = self.kinds.name(account.kind);
                LeafKey { process, cpu, function: 0, mode, submode }
            })
            .collect();
        for (key, leaf) in &self.others {
            keys[leaf.index()] = *key;
        }
        keys.into_iter()
    }

    /// Returns the counts of all leaves, in a vector with capacity for `more` further ones.
    pub(super) fn leaves(&self, more: usize) -> Vec<(LeafKey, Counts)> {
        let types = self.kinds.types();
        let mut tallies = Tallies::of(self.accounts.len());
        for account in &self.accounts {
            let types = types.get(account.kind.index()).map_or(&[] as &[_], Vec::as_slice);
            let count = |(event_type, slot): &(EventTypeId, u8)| {
                (*event_type, self.counter(account, usize::from(*slot)).into())
            };
            tallies.add(types.iter().map(count));
        }
        let all = self.accounts.iter().zip(tallies.into_all());
        let all = all.map(|(account, events)| Counts {
            cpu_time: account.cpu_time,
            cumulative_cpu_time: account.cumulative_cpu_time,
            durations: account.durations,
            events,
            open_time: 0,
            wait_time: account.wait_time,
            before_start: 0,
            extra: None,
        });
        let mut leaves = Vec::with_capacity(self.accounts.len() + more);
        leaves.extend(self.keys().zip(all));
        for (place, at) in self.extra_of.iter().enumerate() {
            if let Some(extra) = self.extras.get(*at as usize) {
                leaves[place].1.extra = Some(Box::new(extra.clone()));
            }
        }
        for ((leaf, event_type), events) in &self.overflow {
            leaves[leaf.index()].1.events.add_to(EventTypeId(*event_type), *events);
        }
        leaves
    }
}

/// The number of leaves for which memory is reserved for each CPU, up to a number of CPUs.
/// (Reserved memory costs nothing until it is used; growing does.)
const RESERVED_LEAVES_PER_CPU: usize = 1 << 11;
const RESERVED_CPUS: usize = 8;

/// The minimum number of further counters of a leaf that has any.
const MIN_FURTHER: usize = 12;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::leaf::Leaves;
    use super::*;
    use crate::kernel::{ExecutionMode, NameId};

    /// A run of events of a type in a leaf.
    type Run = (LeafKey, u32, u32);

    fn run() -> impl Strategy<Value = Run> {
        let modes = prop::sample::select(ExecutionMode::ALL);
        let key = (0..4u32, 0..3u32, prop_oneof![9 => Just(0), 1 => Just(7_u64)], modes, 0..3usize);
        let key = key.prop_map(|(process, cpu, function, mode, submode)| {
            let submode = [NameId::EMPTY, NameId::UNKNOWN, NameId::NONE][submode];
            LeafKey { process: Serial(process), cpu, function, mode, submode }
        });
        let repeated = prop_oneof![8 => 1..5u32, 1 => 40_000..70_000u32];
        (key, 0..TYPES, repeated)
    }

    /// More types than an account has counters for.
    const TYPES: u32 = 60;

    fn count(ledger: &mut Ledger, number: usize, (key, event_type, repeated): &Run) {
        ledger.set_event(number as u64);
        let row = ledger.row(key.process, key.cpu);
        let (leaf, kind) = ledger.find_or_add_in_row(row, key);
        (0..*repeated).for_each(|_| ledger.count(leaf, kind, EventTypeId(*event_type)));
        ledger.ended(leaf, u64::from(*repeated), number as u64);
        ledger.charge(leaf, 3, 10);
        if event_type.is_multiple_of(7) {
            ledger.extra_mut(leaf).bytes_read += 1;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

        /// Ledgers of parts have together the counts of one, and their leaves its order.
        #[test]
        fn joined_ledgers_are_one(
            runs in prop::collection::vec((run(), 0..3usize), 0..200), cpus in 0..3usize,
        ) {
            let new = || Ledger::new(TYPES as usize, cpus);
            let (mut whole, mut parts) = (new(), [new(), new(), new()]);
            for (number, (run, part)) in runs.iter().enumerate() {
                count(&mut whole, number, run);
                count(&mut parts[*part], number, run);
            }
            let [mut first, others @ ..] = parts;
            let mut ranks = first.ranks();
            others.iter().for_each(|other| first.join(other, &mut ranks));
            let mut joined = Leaves::from(first.leaves(0));
            joined.sort_by_rank(&ranks);
            prop_assert_eq!(joined.into_vec(), whole.leaves(0));
        }
    }
}
