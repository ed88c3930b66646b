//! Logs of what is to be booked, by another thread.

use std::mem::swap;

use ltt_read::TracefileNumber;

use super::accounts::Accounts;
use super::leaf::LeafKey;
use crate::kernel::{
    Ended, ExecutionMode, MAX_CPUS, NameId, RecordedEvent, Request, Serial, Transfer,
};

/// The log of a slice: the bookings, with the events that they belong to. CPUs are counted as in the
/// state.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    /// The current leaf of each CPU, and the time from which on its time has not been counted yet.
    pub(super) cpus: Vec<(LeafKey, i64)>,
    pub(super) bookings: Bookings,
    /// The number of the current event in its slice.
    pub(super) event: u32,
}

/// The bookings to be made for the events of a slice. Events without bookings count for the leaf that
/// the CPU of their tracefile is on.
#[derive(Debug, Clone, Default)]
pub(super) struct Bookings {
    /// The CPUs at the start of the slice.
    cpus: Vec<(LeafKey, i64)>,
    /// The bookings, with the numbers of their events in order.
    list: Vec<(u32, Booking)>,
    rare: Vec<Rare>,
}

/// A booking. Places are those of CPUs.
#[derive(Debug, Clone, Copy)]
enum Booking {
    /// The CPU changes to a leaf without a function.
    Move { place: u16, mode: ExecutionMode, submode: NameId, process: Serial },
    /// A frame ended of the process that the CPU is on.
    Ended { place: u16, mode: ExecutionMode, submode: NameId, elapsed: u64, cpu_time: u64 },
    /// The process on a CPU waited.
    Waited { place: u16, time: u64 },
    /// The tracefile of the event continues on another CPU.
    Place(u16),
    /// The event counts for this CPU.
    Count(u16),
    /// The event has been counted.
    Skip,
    /// A rare booking, by number.
    Rare(u32),
}

const _: () = assert!(size_of::<(u32, Booking)>() <= 32);

#[derive(Debug, Clone, Copy)]
enum Rare {
    Open { key: LeafKey, since: i64 },
    Move { place: u16, key: LeafKey },
    MoveAt { place: u16, key: LeafKey, time: i64 },
    Ended { place: u16, left: LeafKey, elapsed: u64, cpu_time: u64 },
    Waited { key: LeafKey, time: u64 },
    Transferred { place: u16, left: Option<LeafKey>, transfer: Transfer, bytes: u64 },
    Request { place: u16, request: Request },
}

const _: () = assert!(MAX_CPUS <= u16::MAX as usize, "places fit in 16 bits");

impl Log {
    /// Begins a slice, with empty bookings.
    pub(super) fn begin(&mut self, bookings: &mut Bookings) {
        swap(&mut self.bookings, bookings);
        self.bookings.cpus.clone_from(&self.cpus);
    }

    /// Ends a slice, whose bookings are returned.
    pub(super) fn end(&mut self, bookings: &mut Bookings) {
        swap(&mut self.bookings, bookings);
    }

    /// Notes that the tracefile of the current event continues on the CPU at an index.
    pub(super) fn set_place(&mut self, place: usize) {
        self.book(Booking::Place(place as u16));
    }

    #[inline]
    fn book(&mut self, booking: Booking) {
        self.bookings.list.push((self.event, booking));
    }

    #[cold]
    fn book_rare(&mut self, rare: Rare) {
        self.book(Booking::Rare(self.bookings.rare.len() as u32));
        self.bookings.rare.push(rare);
    }

    /// Returns the key of the leaf that a CPU is on; `None` if the CPU is not in the accounts.
    #[inline]
    pub(super) fn key(&self, place: usize) -> Option<&LeafKey> {
        Some(&self.cpus.get(place)?.0)
    }

    /// Adds the leaf of a CPU that is new, whose time has not been counted since a time.
    pub(super) fn open(&mut self, key: LeafKey, since: i64) {
        self.cpus.push((key, since));
        self.book_rare(Rare::Open { key, since });
    }

    /// Changes the leaf of a CPU at a time.
    #[inline]
    pub(super) fn move_to(&mut self, place: usize, key: &LeafKey, time: i64) {
        let Some(of) = self.cpus.get_mut(place) else { return };
        *of = (*key, time);
        let (LeafKey { process, mode, submode, .. }, place) = (*key, place as u16);
        match key.function {
            0 => self.book(Booking::Move { place, mode, submode, process }),
            _ => self.book_rare(Rare::Move { place, key: *key }),
        }
    }

    /// Adds a frame that ended to a leaf of the process on a CPU.
    #[inline]
    pub(super) fn ended(&mut self, place: usize, left: &LeafKey, ended: &Ended) {
        let LeafKey { mode, submode, .. } = *left;
        let Ended { elapsed, cpu_time, .. } = *ended;
        let is_of_current =
            self.key(place).is_some_and(|key| LeafKey { mode, submode, ..*key } == *left);
        let place = place as u16;
        match is_of_current {
            true => self.book(Booking::Ended { place, mode, submode, elapsed, cpu_time }),
            false => self.book_rare(Rare::Ended { place, left: *left, elapsed, cpu_time }),
        }
    }

    /// Adds the time that the process on a CPU waited.
    #[inline]
    pub(super) fn waited(&mut self, place: usize, time: u64) {
        self.book(Booking::Waited { place: place as u16, time });
    }

    /// Adds the time that a process waited until events were lost.
    #[cold]
    pub(super) fn lost_wait(&mut self, key: &LeafKey, time: u64) {
        self.book_rare(Rare::Waited { key: *key, time });
    }

    /// Changes the leaf of a CPU at a time before that of the event.
    #[cold]
    pub(super) fn move_at(&mut self, place: usize, key: &LeafKey, time: i64) {
        let Some(of) = self.cpus.get_mut(place) else { return };
        let time = time.max(of.1);
        *of = (*key, time);
        self.book_rare(Rare::MoveAt { place: place as u16, key: *key, time });
    }

    /// Counts an event that changes no state on a CPU. Others count without a booking.
    pub(super) fn count(&mut self, place: usize) {
        self.book(Booking::Count(place as u16));
    }

    /// Notes that an event counts elsewhere: its CPU is not in the accounts.
    pub(super) fn skip(&mut self) {
        self.book(Booking::Skip);
    }

    /// Adds bytes that a process on a CPU moved to a leaf, or to the one that the CPU is on.
    pub(super) fn transferred(
        &mut self,
        place: usize,
        left: Option<&LeafKey>,
        transfer: Transfer,
        bytes: u64,
    ) {
        let (place, left) = (place as u16, left.copied());
        self.book_rare(Rare::Transferred { place, left, transfer, bytes });
    }

    /// Adds a step of a request to the leaf that a CPU is on.
    pub(super) fn request(&mut self, place: usize, request: &Request) {
        self.book_rare(Rare::Request { place: place as u16, request: *request });
    }
}

impl Bookings {
    /// Removes all bookings and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.cpus.clear();
        self.list.clear();
        self.rare.clear();
    }

    /// Begins to book in accounts.
    pub(super) fn begin<'b>(&'b self, accounts: &mut Accounts) -> Booker<'b> {
        accounts.set_cpus(&self.cpus);
        Booker { next: &self.list, rare: &self.rare }
    }
}

/// The bookings of a trace in a slice that have not been made yet.
#[derive(Debug)]
pub(super) struct Booker<'b> {
    next: &'b [(u32, Booking)],
    rare: &'b [Rare],
}

impl Booker<'_> {
    /// Makes the bookings of an event, which has a number in its slice and among all events, and counts
    /// it. `places` contains the CPU of each tracefile.
    #[inline]
    pub(super) fn book(
        &mut self,
        accounts: &mut Accounts,
        places: &mut [u16],
        (number, of_all): (usize, u64),
        event: &RecordedEvent,
    ) {
        let TracefileNumber(tracefile) = event.tracefile();
        let mut counts_at = places.get(tracefile).copied();
        while let Some((of, booking)) = self.next.first()
            && *of as usize == number
        {
            self.next = &self.next[1..];
            accounts.ledger.set_event(of_all);
            match *booking {
                Booking::Move { place, mode, submode, process } => {
                    if let Some(of) = accounts.cpus.get_mut(usize::from(place)) {
                        let cpu = of.key.cpu;
                        let key = LeafKey { process, cpu, function: 0, mode, submode };
                        of.move_to(&mut accounts.ledger, &key, event.time);
                    }
                }
                Booking::Ended { place, mode, submode, elapsed, cpu_time } => {
                    if let Some(of) = accounts.cpus.get(usize::from(place)) {
                        let left = LeafKey { mode, submode, ..of.key };
                        accounts.ended_at(place.into(), &left, (elapsed, cpu_time));
                    }
                }
                Booking::Waited { place, time } => accounts.waited(place.into(), time),
                Booking::Place(place) => {
                    counts_at = Some(place);
                    if let Some(of) = places.get_mut(tracefile) {
                        *of = place;
                    }
                }
                Booking::Count(place) => counts_at = Some(place),
                Booking::Skip => counts_at = None,
                Booking::Rare(at) => self.book_rare(accounts, at, event.time),
            }
        }
        if let Some(place) = counts_at.filter(|_| event.marks().counts) {
            accounts.count(place.into(), event.event_type());
        }
    }

    #[cold]
    fn book_rare(&self, accounts: &mut Accounts, at: u32, time: i64) {
        let Some(rare) = self.rare.get(at as usize) else { return };
        match rare {
            Rare::Open { key, since } => accounts.open(*key, *since),
            Rare::Move { place, key } => accounts.move_to((*place).into(), key, time),
            Rare::MoveAt { place, key, time } => accounts.move_to((*place).into(), key, *time),
            Rare::Ended { place, left, elapsed, cpu_time } => {
                accounts.ended_at((*place).into(), left, (*elapsed, *cpu_time));
            }
            Rare::Waited { key, time } => {
                let leaf = accounts.ledger.find_or_add(key);
                accounts.ledger.waited(leaf, *time);
            }
            Rare::Transferred { place, left, transfer, bytes } => {
                accounts.transferred((*place).into(), left.as_ref(), *transfer, *bytes);
            }
            Rare::Request { place, request } => accounts.request((*place).into(), request),
        }
    }
}
