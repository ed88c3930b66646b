//! A naive history: a list of intervals for each attribute, searched from its start.
#![allow(dead_code)]

use std::collections::BTreeMap;

use lttv_state::history::{Builder, History, HistoryError, Interval, Timestamp};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;

pub(crate) fn ns(n: i64) -> Timestamp {
    Timestamp::from_ns(n)
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Owned {
    Null,
    I32(i32),
    I64(i64),
    U64(u64),
    F64(u64),
    Str(String),
    Blob(Vec<u8>),
}

impl Owned {
    pub(crate) fn of(value: StateValue<'_>) -> Owned {
        match value {
            StateValue::Null => Owned::Null,
            StateValue::I32(v) => Owned::I32(v),
            StateValue::I64(v) => Owned::I64(v),
            StateValue::U64(v) => Owned::U64(v),
            StateValue::F64(v) => Owned::F64(v.to_bits()),
            StateValue::Str(v) => Owned::Str(v.into()),
            StateValue::Blob(v) => Owned::Blob(v.into()),
        }
    }

    pub(crate) fn value(&self) -> StateValue<'_> {
        match self {
            Owned::Null => StateValue::Null,
            Owned::I32(v) => StateValue::I32(*v),
            Owned::I64(v) => StateValue::I64(*v),
            Owned::U64(v) => StateValue::U64(*v),
            Owned::F64(v) => StateValue::F64(f64::from_bits(*v)),
            Owned::Str(v) => StateValue::Str(v),
            Owned::Blob(v) => StateValue::Blob(v),
        }
    }
}

/// A change of a history. Attributes are named by their paths.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Set(String, Owned),
    Remove(String),
    Push(String, Owned),
    Pop(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) t: i64,
    pub(crate) action: Action,
}

impl Step {
    pub(crate) fn apply(&self, builder: &mut Builder) -> Result<(), HistoryError> {
        match &self.action {
            Action::Set(path, value) => {
                let quark = builder.add(path)?;
                builder.set(quark, ns(self.t), value.value())
            }
            Action::Remove(path) => {
                let quark = builder.add(path)?;
                builder.remove(quark, ns(self.t))
            }
            Action::Push(path, value) => {
                let quark = builder.add(path)?;
                builder.push(quark, ns(self.t), value.value())
            }
            Action::Pop(path) => {
                let quark = builder.add(path)?;
                builder.pop(quark, ns(self.t))
            }
        }
    }
}

/// The start, the end and the value of an interval.
pub(crate) type Span = (i64, i64, Owned);

/// The current state of each attribute with its start, and its past intervals, by path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) start: i64,
    pub(crate) end: i64,
    now: BTreeMap<String, (i64, Owned)>,
    pub(crate) past: BTreeMap<String, Vec<Span>>,
}

impl Model {
    pub(crate) fn new(start: i64) -> Model {
        Model { start, ..Model::default() }
    }

    /// Adds the attributes of all parts of a path.
    pub(crate) fn add(&mut self, path: &str) {
        for (at, _) in path.match_indices('/').chain([(path.len(), "")]) {
            self.now.entry(path[..at].into()).or_insert((self.start, Owned::Null));
            self.past.entry(path[..at].into()).or_default();
        }
    }

    pub(crate) fn set(&mut self, path: &str, t: i64, value: Owned) {
        self.add(path);
        let now = self.now.get_mut(path).unwrap();
        if now.1 == value {
            return;
        }
        let before = std::mem::replace(now, (t, value));
        if before.0 < t {
            self.past.get_mut(path).unwrap().push((before.0, t, before.1));
        }
    }

    fn depth(&mut self, path: &str) -> i32 {
        self.add(path);
        match self.now[path].1 {
            Owned::Null => 0,
            Owned::I32(depth) if depth >= 0 => depth,
            _ => -1,
        }
    }

    /// Applies a step. Returns `false` if that is impossible.
    pub(crate) fn apply(&mut self, step: &Step) -> bool {
        let t = step.t;
        match &step.action {
            Action::Set(path, value) => self.set(path, t, value.clone()),
            Action::Remove(path) => {
                self.add(path);
                let below = format!("{path}/");
                let all: Vec<String> = self.now.keys().cloned().collect();
                for at in all.iter().filter(|at| *at == path || at.starts_with(&below)) {
                    self.set(at, t, Owned::Null);
                }
            }
            Action::Push(path, value) => {
                let depth = self.depth(path);
                if !(0..100_000).contains(&depth) {
                    return false;
                }
                self.set(&format!("{path}/{}", depth + 1), t, value.clone());
                self.set(path, t, Owned::I32(depth + 1));
            }
            Action::Pop(path) => {
                let depth = self.depth(path);
                if depth > 0 {
                    let top = format!("{path}/{depth}");
                    if self.now.contains_key(&top) {
                        self.set(&top, t, Owned::Null);
                    }
                    let left = if depth == 1 { Owned::Null } else { Owned::I32(depth - 1) };
                    self.set(path, t, left);
                }
                return depth >= 0;
            }
        }
        true
    }

    /// Returns all intervals of the history if it ended at `end`.
    pub(crate) fn close(&self, end: i64) -> Model {
        let mut closed = self.clone();
        closed.end = end;
        for (path, (start, value)) in &self.now {
            let spans = closed.past.get_mut(path).unwrap();
            spans.push((*start, end, value.clone()));
        }
        closed
    }

    /// Returns the span of an attribute that contains a time.
    pub(crate) fn at(&self, path: &str, t: i64) -> &Span {
        self.past[path].iter().find(|span| span.0 <= t && t < span.1).unwrap()
    }
}

/// Returns all intervals of an attribute of a history.
pub(crate) fn spans(history: &History, quark: Quark) -> Result<Vec<Span>, HistoryError> {
    let all = history.intervals(quark, history.start()..history.end())?;
    all.map(|i| i.map(plain)).collect()
}

pub(crate) fn plain(interval: Interval<'_>) -> Span {
    (interval.start.as_ns(), interval.end.as_ns(), Owned::of(interval.value))
}

/// Corrects all checksums of a file, as far as its frames can be found.
pub(crate) fn repair_checksums(file: &mut [u8]) {
    let number = |file: &[u8], at: usize| {
        file.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
    };
    // Header: magic, version, length, checksum, rest.
    let mut at = 20 + number(file, 12);
    if at > file.len() {
        return;
    }
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&file[8..16]);
    hasher.update(&file[20..at]);
    let check = hasher.finalize();
    file[16..20].copy_from_slice(&check.to_le_bytes());
    // Frames: checksum, kind, length of 8 bytes, content; up to the trailer.
    let trailer = file.len() - 28;
    while at + 16 <= trailer {
        let end = (at + 16).saturating_add(number(file, at + 8));
        if end > trailer {
            break;
        }
        let check = crc32fast::hash(&file[at + 4..end]);
        file[at..at + 4].copy_from_slice(&check.to_le_bytes());
        at = end;
    }
    let check = crc32fast::hash(&file[trailer + 8..trailer + 24]);
    file[trailer + 24..].copy_from_slice(&check.to_le_bytes());
}
