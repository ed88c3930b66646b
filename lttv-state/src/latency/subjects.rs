//! The names of the subjects of latencies.

use std::sync::Arc;

use super::action::Handler;
use super::family::Family;
use super::ledger::OTHERS;
use super::machine::{FutexFacts, HandlerFacts, Machine, kind_of_subject, priority_of_subject};
use super::period::{Periods, Value, describe};
use super::threads::ThreadFacts;
use crate::kernel::{DeviceNumber, NameId, Names, SourceKind, TraceState};

/// The names of the subjects of latencies.
#[derive(Debug, Clone)]
pub(super) struct Subjects {
    pub(super) names: Arc<Names>,
    pub(super) threads: Vec<ThreadFacts>,
    handlers: Vec<(HandlerFacts, String)>,
    pub(super) disks: Vec<(DeviceNumber, NameId)>,
    pub(super) futexes: Vec<FutexFacts>,
    pub(super) periods: Periods,
    groups: Vec<(u32, Box<[Value]>)>,
    texts: Vec<Arc<str>>,
}

impl Subjects {
    /// Returns the names at the end of a part of a trace.
    pub(super) fn new(state: &TraceState, machine: Machine, periods: &Periods) -> Self {
        let handlers = machine.handlers.facts.iter().map(|facts| {
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
        let disks = machine.disks.states.iter().map(|disk| {
            let name = state.device(disk.number).map_or(NameId::EMPTY, |device| device.name());
            (disk.number, name)
        });
        Subjects {
            names: state.shared_names(),
            handlers: handlers.collect(),
            disks: disks.collect(),
            futexes: machine.futexes.facts,
            threads: machine.threads.facts,
            periods: periods.clone(),
            groups: machine.periods.facts,
            texts: machine.periods.texts,
        }
    }

    /// Returns the text of a name.
    pub(super) fn name(&self, id: NameId) -> &str {
        self.names.get(id)
    }

    /// Returns the number under which a subject is summed: processes that use the same shared futex
    /// have one.
    pub(super) fn merged(&self, family: Family, number: u32) -> u32 {
        let facts = self.futexes.get(number as usize);
        match facts.filter(|facts| family == Family::Futex && facts.is_shared) {
            Some(facts) => {
                let same = |of: &FutexFacts| of.is_shared && of.address == facts.address;
                self.futexes.iter().position(same).map_or(number, |at| at as u32)
            }
            None => number,
        }
    }

    /// Returns the name of a disk, or its number.
    pub(super) fn disk_label(&self, disk: u32) -> String {
        let found = self.disks.get(disk as usize);
        found.map_or(String::new(), |(number, name)| match self.name(*name) {
            "" => number.to_string(),
            name => name.to_owned(),
        })
    }

    /// Returns the description of a subject.
    pub(super) fn label(&self, family: Family, number: u32) -> String {
        if number == OTHERS {
            return "others".to_owned();
        }
        match family {
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
