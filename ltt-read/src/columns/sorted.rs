//! The events of a run, sorted by the columns of their type as they are found.

use super::{Bodies, Columns};
use crate::base::time::Timestamp;
use crate::cursor::{RunEvents, RunSink};
use crate::event::Event;
use crate::schema::EventTypeId;

/// The most events of one group. A run ends when the group of an event type with columns is full.
const ROWS: usize = 256;

/// The group of events without columns.
const OTHERS: u32 = 0;

/// The number of the group of an event type that has columns but has not occurred.
const NEW: u32 = u32::MAX;

/// Events that are sorted by the columns of their type.
#[derive(Debug, Clone)]
pub(super) struct Sorted {
    /// For each event type, the number of its group, [`OTHERS`] or [`NEW`].
    of_type: Vec<u32>,
    /// For each event type, the number of its columns.
    numbers: Vec<u32>,
    /// The groups of the types that have occurred, after that of all types without columns.
    groups: Vec<Group>,
}

/// The events of one type, in their order. The entries from `len` on have no meaning.
#[derive(Debug, Clone)]
struct Group {
    len: usize,
    /// The number of the columns of the type.
    columns: u32,
    /// The times in ns.
    times: [i64; ROWS],
    /// The starts of the bodies, in bytes from the start of the packet.
    bodies: [usize; ROWS],
    /// The ends of the bodies, in bytes rounded down.
    ends: [usize; ROWS],
}

impl Group {
    /// Creates the group of the events that some columns receive.
    fn new(columns: u32) -> Self {
        Group { len: 0, columns, times: [0; ROWS], bodies: [0; ROWS], ends: [0; ROWS] }
    }
}

impl Sorted {
    /// Creates the groups for columns, given their number for each event type, which is `none` for types
    /// without columns.
    pub(super) fn new(numbers: &[u32], none: u32) -> Self {
        let group = |number: &u32| if *number == none { OTHERS } else { NEW };
        Sorted {
            of_type: numbers.iter().map(group).collect(),
            numbers: numbers.to_vec(),
            groups: vec![Group::new(none)],
        }
    }

    /// Adds an event with a time in ns and the place of its body in bytes. Returns `false` if its group
    /// is full: [`move_to`](Self::move_to) has to be called before the next event.
    #[inline(always)]
    pub(super) fn add(
        &mut self,
        event_type: EventTypeId,
        time: i64,
        body: usize,
        end: usize,
    ) -> bool {
        let number = self.of_type.get(event_type.index()).copied().unwrap_or(OTHERS);
        let number = if number == NEW { self.new_group(event_type) } else { number };
        let Some(group) = self.groups.get_mut(number as usize) else { return false };
        // Of the events without columns, nothing is of use.
        let at = group.len % ROWS;
        (group.times[at], group.bodies[at], group.ends[at]) = (time, body, end);
        group.len = at + 1;
        at + 1 < ROWS || number == OTHERS
    }

    /// Creates the group of an event type that occurs for the first time. Returns its number.
    #[cold]
    fn new_group(&mut self, event_type: EventTypeId) -> u32 {
        let number = self.groups.len() as u32;
        self.groups.push(Group::new(self.numbers[event_type.index()]));
        self.of_type[event_type.index()] = number;
        number
    }

    /// Moves all events to their columns. `last` is the last event of the run. Returns the number of
    /// groups that had events.
    #[inline(never)] // leaves the registers to the loop that finds events
    pub(super) fn move_to(&mut self, columns: &mut [Columns], last: &Event<'_>) -> usize {
        let mut groups = 0;
        for group in self.groups.iter_mut().filter(|group| group.len > 0) {
            let len = group.len.min(ROWS);
            if let Some(columns) = columns.get_mut(group.columns as usize) {
                let bodies = Bodies::new(&group.bodies[..len], &group.ends[..len]);
                columns.add_rows(last, &group.times[..len], bodies);
            }
            group.len = 0;
            groups += 1;
        }
        groups
    }
}

impl RunSink for Sorted {
    const MOST: usize = 16 * ROWS;

    #[inline(always)]
    fn put(
        &mut self,
        _: usize,
        event_type: EventTypeId,
        time: Timestamp,
        body: u64,
        end: u64,
    ) -> bool {
        self.add(event_type, time.as_ns(), (body / 8) as usize, (end / 8) as usize)
    }

    #[inline(always)]
    fn events(&mut self) -> Option<&mut RunEvents> {
        None
    }
}
