//! Periods that have begun and not ended.

use std::sync::Arc;

use hashbrown::HashMap;

use super::definition::Periods;
use crate::spans::family::Family;
use crate::spans::outcome::{At, Ending, Log};
use crate::spans::place::Begin;
use crate::spans::threads::ThreadId;

/// The maximum number of open periods.
const MAX_OPEN: usize = 1 << 16;
/// The maximum number of groups, and of different texts in keys and groups.
const MAX_GROUPS: usize = 1 << 16;
/// The subject of periods whose groups are beyond the limit.
const OTHER_GROUP: u32 = u32::MAX - 1;

/// A value of a field in a key or a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Value {
    /// The event has no such field.
    Missing,
    Integer(i128),
    /// The number of a text.
    Text(u32),
}

/// A period that begins, with the values of its key and of its group.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) period: u32,
    pub(super) key: Box<[Value]>,
    pub(super) values: Box<[Value]>,
    pub(super) thread: ThreadId,
}

/// An open period.
#[derive(Debug, Clone)]
struct Open {
    period: u32,
    begin: Begin,
    thread: ThreadId,
    key: Box<[Value]>,
    /// The values by which it is grouped, of the event that began it.
    values: Box<[Value]>,
    children: Vec<u64>,
}

/// The open periods of a trace, and the groups so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenPeriods {
    open: HashMap<u64, Open>,
    by_key: HashMap<(u32, Box<[Value]>), Vec<u64>>,
    next: u64,
    groups: HashMap<(u32, Box<[Value]>), u32>,
    /// The period and the values of each group.
    pub(crate) facts: Vec<(u32, Box<[Value]>)>,
    pub(crate) texts: Vec<Arc<str>>,
    text_places: HashMap<Arc<str>, u32>,
}

impl OpenPeriods {
    /// Returns the number of a text, which is added if it is new.
    pub(super) fn text(&mut self, text: &[u8]) -> Value {
        let text = String::from_utf8_lossy(text);
        if let Some(at) = self.text_places.get(&*text) {
            return Value::Text(*at);
        }
        if self.texts.len() >= MAX_GROUPS {
            return Value::Missing;
        }
        let (text, at) = (Arc::<str>::from(&*text), self.texts.len() as u32);
        self.texts.push(text.clone());
        self.text_places.insert(text, at);
        Value::Text(at)
    }

    /// Begins a period, if it has no parent or an open one.
    pub(super) fn begin(
        &mut self,
        periods: &Periods,
        Begun { period, key, values, thread }: Begun,
        at: &At,
        log: &mut Log,
    ) {
        let parent = match periods.parents[period as usize] {
            None => None,
            Some(parent) => {
                let length = periods.all[parent].key.len();
                let of_parent = self.by_key.get(&(parent as u32, key[..length].into()));
                let Some(last) = of_parent.and_then(|open| open.last().copied()) else { return };
                Some(last)
            }
        };
        if self.open.len() >= MAX_OPEN {
            log.count(|of| &mut of.dropped);
            return;
        }
        let id = self.next;
        self.next += 1;
        if let Some(parent) = parent {
            self.add_child(parent, id);
        }
        self.by_key.entry((period, key.clone())).or_default().push(id);
        let (begin, children) = (at.begin(), Vec::new());
        self.open.insert(id, Open { period, begin, thread, key, values, children });
    }

    fn add_child(&mut self, parent: u64, id: u64) {
        let Some(open) = self.open.get_mut(&parent) else { return };
        let mut children = std::mem::take(&mut open.children);
        if children.len() == children.capacity() {
            // Those that have ended give place.
            children.retain(|child| self.open.contains_key(child));
        }
        children.push(id);
        if let Some(open) = self.open.get_mut(&parent) {
            open.children = children;
        }
    }

    /// Ends all open periods of a key.
    pub(super) fn end(
        &mut self,
        period: u32,
        key: Box<[Value]>,
        values: &[Value],
        at: &At,
        log: &mut Log,
    ) {
        for id in self.by_key.remove(&(period, key)).unwrap_or_default() {
            let Some(ended) = self.open.remove(&id) else { continue };
            for child in &ended.children {
                self.drop_incomplete(*child, log);
            }
            let group = ended.values.iter().chain(values).copied().collect();
            let subject = self.group(period, group);
            log.ended(Ending::new(Family::Period, ended.thread, subject, ended.begin), at);
        }
    }

    /// Drops a period whose parent has ended, with its children.
    fn drop_incomplete(&mut self, id: u64, log: &mut Log) {
        let mut ids = vec![id];
        while let Some(id) = ids.pop() {
            let Some(open) = self.open.remove(&id) else { continue };
            log.count(|of| &mut of.incomplete_periods);
            ids.extend(open.children);
            let key = (open.period, open.key);
            if let Some(of_key) = self.by_key.get_mut(&key) {
                of_key.retain(|of| *of != id);
                if of_key.is_empty() {
                    self.by_key.remove(&key);
                }
            }
        }
    }

    /// Returns the number of a group, which is added if it is new.
    fn group(&mut self, period: u32, values: Box<[Value]>) -> u32 {
        let key = (period, values);
        if let Some(group) = self.groups.get(&key) {
            return *group;
        }
        if self.facts.len() >= MAX_GROUPS {
            return OTHER_GROUP;
        }
        let group = self.facts.len() as u32;
        self.facts.push(key.clone());
        self.groups.insert(key, group);
        group
    }

    /// Iterates over the begins of open periods.
    pub(crate) fn begins(&self) -> impl Iterator<Item = i64> {
        self.open.values().map(|open| open.begin.time)
    }

    /// Returns the ends of all open periods, whose groups are added: what their ends would tell is missing.
    pub(crate) fn take_open(&mut self) -> Vec<Ending> {
        let mut all: Vec<(u64, Open)> = self.open.drain().collect();
        all.sort_by_key(|(id, _)| *id);
        let ending = |(_, open): (u64, Open)| {
            let subject = self.group(open.period, open.values);
            Ending::new(Family::Period, open.thread, subject, open.begin)
        };
        all.into_iter().map(ending).collect()
    }

    pub(crate) fn bytes(&self) -> usize {
        let texts: usize = self.texts.iter().map(|text| 2 * text.len()).sum();
        texts + self.open.len() * 2 * size_of::<Open>() + 2 * size_of_val(&*self.facts)
    }
}
