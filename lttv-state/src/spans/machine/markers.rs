//! Sections that programs mark by texts in the trace.

use hashbrown::HashMap;

use super::Machine;
use crate::kernel::TraceState;
use crate::spans::family::Family;
use crate::spans::inputs::{Input, RecordedEvent};
use crate::spans::marker::{Marker, Section};
use crate::spans::outcome::{At, Ending, Log};
use crate::spans::place::Begin;
use crate::spans::span::Completeness;
use crate::spans::threads::{NEVER, ThreadId};

/// The maximum depth of the sections of a thread. Without ends they would add up.
const MAX_DEPTH: usize = 256;
/// The maximum number of open sections of all threads, and of those of processes.
const MAX_OPEN: usize = 1 << 16;
/// The maximum number of names that are told apart.
const MAX_NAMES: usize = 1 << 16;
/// The subject of sections whose names are beyond the limit.
pub(crate) const OTHER_NAMES: u32 = u32::MAX - 1;

/// A section that is open.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
struct Open {
    subject: u32,
    begin: Begin,
    thread: ThreadId,
    /// The place of the CPU of its begin.
    place: u32,
}

impl Open {
    fn ending(&self) -> Ending {
        Ending::new(Family::Marker, self.thread, self.subject, self.begin)
    }
}

/// The process, the name and the cookie of a section.
type Key = (u32, u32, i64);

/// The open sections of a trace, and the names so far.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Markers {
    /// The sections of each thread, the outermost first.
    nested: HashMap<ThreadId, Vec<Open>>,
    /// The number of all sections of threads.
    depth: usize,
    /// The sections of processes.
    of_processes: HashMap<Key, Open>,
    pub(crate) names: Vec<Box<str>>,
    places: HashMap<Box<str>, u32>,
    /// The time of the last event after others of any CPU were lost; [`NEVER`] if none were.
    lost: i64,
}

impl Default for Markers {
    fn default() -> Self {
        let (nested, of_processes, places) = Default::default();
        Markers { nested, depth: 0, of_processes, names: Vec::new(), places, lost: NEVER }
    }
}

impl Markers {
    /// Returns the number of a name, which is added if it is new.
    fn subject(&mut self, name: &[u8]) -> u32 {
        let name = String::from_utf8_lossy(name);
        if let Some(at) = self.places.get(&*name) {
            return *at;
        }
        if self.names.len() >= MAX_NAMES {
            return OTHER_NAMES;
        }
        let (name, at) = (Box::<str>::from(&*name), self.names.len() as u32);
        self.names.push(name.clone());
        self.places.insert(name, at);
        at
    }

    /// Notes that events of a CPU were lost.
    pub(super) fn lost(&mut self, time: i64) {
        self.lost = time;
    }

    /// Iterates over the begins of open sections.
    pub(super) fn begins(&self) -> impl Iterator<Item = Begin> {
        let nested = self.nested.values().flatten();
        nested.chain(self.of_processes.values()).map(|open| open.begin)
    }

    /// Iterates over the ends of all open sections, each with the place of the CPU of its begin.
    pub(super) fn open(&self) -> impl Iterator<Item = (Ending, usize)> {
        let nested = self.nested.values().flatten();
        let all = nested.chain(self.of_processes.values());
        all.map(|open| (open.ending(), open.place as usize))
    }

    /// Returns `true` if all numbers are those of parts that exist.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn is_valid(&self) -> bool {
        let known = self.names.len();
        let is_name = |number: u32| (number as usize) < known || number == OTHER_NAMES;
        let mut all = self.nested.values().flatten().chain(self.of_processes.values());
        let depth: usize = self.nested.values().map(Vec::len).sum();
        known <= MAX_NAMES
            && depth == self.depth
            && depth.max(self.of_processes.len()) <= MAX_OPEN
            && self.places.values().all(|at| (*at as usize) < known)
            && all.all(|open| is_name(open.subject))
    }

    pub(super) fn bytes(&self) -> usize {
        let names: usize = self.names.iter().map(|name| name.len() + 64).sum();
        let open = size_of::<Open>() + size_of::<Key>();
        names + (self.depth + self.of_processes.len() + self.nested.len()) * open
    }
}

impl Machine {
    /// Applies a text that a program has written.
    pub(super) fn marker(
        &mut self,
        state: &TraceState,
        (text, thread): (&Input, Option<&Input>),
        event: &RecordedEvent<'_>,
        at: &At,
        log: &mut Log,
    ) {
        let marker = Marker::of(event.text(text));
        match marker {
            Marker::Other | Marker::Counter { .. } => return,
            Marker::Malformed => return log.count(|of| &mut of.malformed_markers),
            _ => {}
        }
        let thread = self.caller(state, thread, event, at).unwrap_or(ThreadId::NONE);
        let is_of_thread = matches!(marker, Marker::Begin { .. } | Marker::End);
        if is_of_thread && thread.index().is_none() {
            return log.count(|of| &mut of.markers_without_thread);
        }
        match marker {
            Marker::Begin { name } => self.section_begins(name, thread, at, log),
            Marker::End => {
                let stack = self.markers.nested.get_mut(&thread);
                match stack.and_then(Vec::pop) {
                    Some(open) => {
                        self.markers.depth -= 1;
                        self.section_ends(&open, at, log);
                    }
                    None => log.count(|of| &mut of.marker_ends_without_begin),
                }
            }
            Marker::AsyncBegin { section } => self.process_section_begins(section, thread, at, log),
            Marker::AsyncEnd { section } => {
                let key = (section.pid, self.markers.subject(section.name), section.cookie);
                match self.markers.of_processes.remove(&key) {
                    Some(open) => self.section_ends(&open, at, log),
                    None => log.count(|of| &mut of.marker_ends_without_begin),
                }
            }
            Marker::Other | Marker::Counter { .. } | Marker::Malformed => {}
        }
    }

    fn section_begins(&mut self, name: &[u8], thread: ThreadId, at: &At, log: &mut Log) {
        let subject = self.markers.subject(name);
        let open = Open { subject, begin: at.begin(), thread, place: at.place as u32 };
        let stack = self.markers.nested.entry(thread).or_default();
        if stack.len() >= MAX_DEPTH {
            stack.remove(0);
            log.count(|of| &mut of.dropped);
        } else if self.markers.depth >= MAX_OPEN {
            return log.count(|of| &mut of.dropped);
        } else {
            self.markers.depth += 1;
        }
        stack.push(open);
    }

    fn process_section_begins(
        &mut self,
        Section { pid, name, cookie }: Section<'_>,
        thread: ThreadId,
        at: &At,
        log: &mut Log,
    ) {
        let subject = self.markers.subject(name);
        let open = Open { subject, begin: at.begin(), thread, place: at.place as u32 };
        let key = (pid, subject, cookie);
        if self.markers.of_processes.len() >= MAX_OPEN
            && !self.markers.of_processes.contains_key(&key)
        {
            return log.count(|of| &mut of.dropped);
        }
        if let Some(before) = self.markers.of_processes.insert(key, open) {
            log.count(|of| &mut of.markers_without_end);
            log.part(|| before.ending(), Completeness::NoEnd, at);
        }
    }

    /// Adds a section that an event ends.
    fn section_ends(&mut self, open: &Open, at: &At, log: &mut Log) {
        if self.markers.lost > open.begin.time {
            log.count(|of| &mut of.lost);
            log.part(|| open.ending(), Completeness::Lost, at);
            return;
        }
        log.ended(open.ending(), at);
    }

    /// Drops the open sections of a thread that is gone.
    pub(super) fn end_sections(&mut self, thread: ThreadId, at: &At, log: &mut Log) {
        for open in self.markers.nested.remove(&thread).unwrap_or_default() {
            self.markers.depth -= 1;
            log.count(|of| &mut of.markers_without_end);
            log.part(|| open.ending(), Completeness::NoEnd, at);
        }
    }
}
