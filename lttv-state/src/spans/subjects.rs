//! The subjects of spans, such as system calls and disks, with their names.

use std::sync::Arc;

use super::action::Handler;
use super::family::Family;
use super::machine::{FutexFacts, HandlerFacts, Machine, kind_of_subject, priority_of_subject};
use super::period::{Period, Periods, Value, describe};
use crate::kernel::{DeviceNumber, NameId, SourceKind, TraceState};

/// The subject of what is beyond the limit of those that are told apart.
pub(crate) const OTHERS: u32 = u32::MAX;

/// A group of periods.
#[derive(Debug)]
pub(crate) struct Group<'s> {
    pub(crate) period: &'s Period,
    /// The values of its labels.
    pub(crate) values: &'s [Value],
    /// The texts that values refer to.
    pub(crate) texts: &'s [Arc<str>],
}

/// The subjects of a trace so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subjects {
    names: Vec<Arc<str>>,
    handlers: Vec<(HandlerFacts, String)>,
    pub(crate) disks: Vec<(DeviceNumber, NameId)>,
    pub(crate) futexes: Vec<FutexFacts>,
    pub(crate) periods: Periods,
    groups: Vec<(u32, Box<[Value]>)>,
    texts: Vec<Arc<str>>,
    markers: Vec<Box<str>>,
}

/// Returns the elements of a list that follow those that are known. There are fewer in a state of an earlier time.
fn new<T>(all: &[T], known: usize) -> &[T] {
    all.get(known..).unwrap_or_default()
}

impl Subjects {
    /// Returns the subjects without any that occurred.
    pub(crate) fn new(periods: &Periods) -> Self {
        Subjects { periods: periods.clone(), ..Self::default() }
    }

    /// Returns `true` if all subjects that occurred are known.
    pub(crate) fn is_up_to_date(&self, state: &TraceState, machine: &Machine) -> bool {
        self.names.len() == state.names().len()
            && self.handlers.len() == machine.handlers.facts.len()
            && self.disks.len() == machine.disks.states.len()
            && self.futexes.len() == machine.futexes.facts.len()
            && self.groups.len() == machine.periods.facts.len()
            && self.texts.len() == machine.periods.texts.len()
            && self.markers.len() == machine.markers.names.len()
    }

    /// Adds the subjects that occurred since the last update.
    pub(crate) fn update(&mut self, state: &TraceState, machine: &Machine) {
        self.names.extend_from_slice(state.names().since(self.names.len()));
        let handlers = machine.handlers.facts.iter().skip(self.handlers.len()).map(|facts| {
            let kind = match facts.kind {
                Handler::Irq => SourceKind::Irq,
                Handler::Vector => SourceKind::Vector,
                Handler::Softirq => SourceKind::Softirq,
            };
            let source = state.sources(kind).get(facts.number as usize);
            let known = source.map_or("", |source| state.name(source.name()));
            let name = if facts.name.is_empty() { known } else { &facts.name };
            (facts.clone(), name.to_owned())
        });
        self.handlers.extend(handlers);
        let disks = machine.disks.states.iter().skip(self.disks.len()).map(|disk| {
            let name = state.device(disk.number).map_or(NameId::EMPTY, |device| device.name());
            (disk.number, name)
        });
        self.disks.extend(disks);
        self.futexes.extend_from_slice(new(&machine.futexes.facts, self.futexes.len()));
        self.markers.extend_from_slice(new(&machine.markers.names, self.markers.len()));
        self.update_periods(machine);
    }

    /// Adds the groups of periods that occurred since the last update.
    pub(crate) fn update_periods(&mut self, machine: &Machine) {
        self.groups.extend_from_slice(new(&machine.periods.facts, self.groups.len()));
        self.texts.extend_from_slice(new(&machine.periods.texts, self.texts.len()));
    }

    /// Returns the text of a name.
    pub(crate) fn name(&self, id: NameId) -> &str {
        self.names.get(id.index()).map_or("", |text| text)
    }

    /// Returns the number under which a subject is summed: processes that use the same shared futex
    /// have one.
    pub(crate) fn merged(&self, family: Family, number: u32) -> u32 {
        let facts = self.futexes.get(number as usize);
        match facts.filter(|facts| family == Family::Futex && facts.is_shared) {
            Some(facts) => {
                let same = |of: &FutexFacts| of.is_shared && of.address == facts.address;
                self.futexes.iter().position(same).map_or(number, |at| at as u32)
            }
            None => number,
        }
    }

    /// Returns the number of a handler.
    pub(crate) fn handler_number(&self, subject: u32) -> Option<u32> {
        self.handlers.get(subject as usize).map(|(facts, _)| facts.number)
    }

    /// Returns the name of a disk, or its number.
    pub(crate) fn disk_label(&self, disk: u32) -> String {
        let found = self.disks.get(disk as usize);
        found.map_or(String::new(), |(number, name)| match self.name(*name) {
            "" => number.to_string(),
            name => name.to_owned(),
        })
    }

    /// Returns a group of periods.
    pub(crate) fn group(&self, number: u32) -> Option<Group<'_>> {
        let (period, values) = self.groups.get(number as usize)?;
        Some(Group { period: self.periods.get(*period)?, values, texts: &self.texts })
    }

    /// Returns the description of a subject.
    pub(crate) fn label(&self, family: Family, number: u32) -> String {
        if number == OTHERS {
            return "others".to_owned();
        }
        match family {
            Family::Run | Family::Blocked => String::new(),
            Family::WakeUp | Family::Preemption => {
                priority_of_subject(number).map_or(String::new(), |priority| priority.to_string())
            }
            Family::HardIrq | Family::Vector | Family::Softirq | Family::SoftirqRaise => {
                let found = self.handlers.get(number as usize);
                found.map_or("others".to_owned(), |(facts, name)| {
                    format!("{} {name}", facts.number).trim_end().to_owned()
                })
            }
            Family::DiskQueue | Family::DiskDevice => {
                let (disk, operation) = kind_of_subject(number);
                format!("{} {}", self.disk_label(disk), operation.label())
            }
            Family::Futex => {
                let found = self.futexes.get(number as usize);
                found.map_or(String::new(), |facts| {
                    let address = facts.address;
                    let address = address.map_or("several".to_owned(), |at| format!("{at:#x}"));
                    match facts.pid {
                        _ if facts.is_shared => format!("shared {address}"),
                        Some(pid) => format!("{pid} {address}"),
                        None => format!("? {address}"),
                    }
                })
            }
            Family::Syscall
            | Family::FileOpen
            | Family::FileRead
            | Family::FileWrite
            | Family::FileSync => self.name(NameId::at(number)).to_owned(),
            Family::Marker => {
                let found = self.markers.get(number as usize);
                found.map_or("others".to_owned(), |name| name.to_string())
            }
            Family::Period => {
                let Subjects { periods, groups, texts, .. } = self;
                let found = groups.get(number as usize);
                found.map_or("others".to_owned(), |(period, values)| {
                    describe(periods, *period, values, texts)
                })
            }
        }
    }
}
