//! Interrupt handlers and softirqs.

use hashbrown::HashMap;

use super::Machine;
use crate::spans::action::{Handler, number};
use crate::spans::family::Family;
use crate::spans::inputs::{Input, RecordedEvent};
use crate::spans::outcome::{Addition, At, Ending, Log};
use crate::spans::place::Begin;
use crate::spans::threads::ThreadId;

/// The maximum depth of handlers on a CPU. Without exits they would add up.
pub(super) const MAX_DEPTH: usize = 64;
/// The number of softirqs that a CPU can have.
const SOFTIRQS: u32 = 32;
/// The maximum number of handlers that are told apart.
const MAX_HANDLERS: usize = 1 << 14;

/// A handler that runs.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct OpenHandler {
    kind: Handler,
    number: u32,
    subject: u32,
    pub(super) begin: Begin,
    /// The time of the handlers that interrupted it, in ns.
    nested: u64,
    was_interrupted: bool,
}

/// The number and name of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct HandlerFacts {
    pub(crate) kind: Handler,
    pub(crate) number: u32,
    /// The name that the event contains; empty if it has none.
    pub(crate) name: String,
}

/// The handlers that occurred so far. Several may share one number.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Handlers {
    pub(crate) facts: Vec<HandlerFacts>,
    /// The handler of a kind and number that occurred last, and those of other names.
    places: HashMap<(Handler, u32), Vec<u32>>,
}

impl Handlers {
    /// Returns `true` if all numbers are those of handlers.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn is_valid(&self) -> bool {
        let is_known = |at: &u32| (*at as usize) < self.facts.len();
        self.facts.len() <= MAX_HANDLERS
            && self.places.values().all(|places| places.iter().all(is_known))
    }

    /// Returns the number of a handler, which is added if it is new.
    pub(super) fn subject(&mut self, kind: Handler, number: u32, name: &[u8]) -> u32 {
        let places = self.places.entry((kind, number)).or_default();
        let is_same = |at: &u32| self.facts[*at as usize].name.as_bytes() == name;
        if let Some(found) = places.iter().position(is_same) {
            places.swap(0, found);
            return places[0];
        }
        let text = String::from_utf8_lossy(name).into_owned();
        // A name that is not valid UTF-8 has been added in its readable form.
        if let Some(known) =
            places.iter().find(|at| self.facts[**at as usize].name == text).copied()
        {
            return known;
        }
        if self.facts.len() >= MAX_HANDLERS {
            return u32::MAX - 1;
        }
        self.facts.push(HandlerFacts { kind, number, name: text });
        let subject = self.facts.len() as u32 - 1;
        places.insert(0, subject);
        subject
    }
}

impl OpenHandler {
    /// Returns the end of the handler, of which only the entry is known.
    pub(super) fn ending(&self) -> Ending {
        Ending::new(self.kind.family(), ThreadId::NONE, self.subject, self.begin)
    }
}

impl Machine {
    /// Applies the entry of a handler.
    pub(super) fn handler_entry(
        &mut self,
        kind: Handler,
        field: &Input,
        name: Option<&Input>,
        event: &RecordedEvent<'_>,
        at: &At,
        log: &mut Log,
    ) {
        let Some(number) = number(event, field) else { return };
        let name = name.map_or(&[][..], |input| event.text(input));
        let subject = self.handlers.subject(kind, number, name);
        if kind == Handler::Softirq {
            self.served(number, subject, at, log);
        }
        let stack = &mut self.cpus[at.place].stack;
        if stack.len() >= MAX_DEPTH {
            stack.remove(0);
            log.count(|of| &mut of.interrupts_without_exit);
        }
        if let Some(outer) = stack.last_mut() {
            outer.was_interrupted = true;
        }
        let (begin, nested, was_interrupted) = (at.begin(), 0, false);
        stack.push(OpenHandler { kind, number, subject, begin, nested, was_interrupted });
    }

    /// Applies the exit of a handler. What runs above it has lost its exit.
    pub(super) fn handler_exit(
        &mut self,
        kind: Handler,
        field: Option<&Input>,
        event: &RecordedEvent<'_>,
        at: &At,
        log: &mut Log,
    ) {
        let number = field.and_then(|field| number(event, field));
        let stack = &mut self.cpus[at.place].stack;
        let is_it = |of: &OpenHandler| of.kind == kind && number.is_none_or(|n| n == of.number);
        let Some(depth) = stack.iter().rposition(is_it) else {
            log.count(|of| &mut of.interrupt_exits_without_entry);
            return;
        };
        for _ in depth + 1..stack.len() {
            if let Some(inner) = stack.pop()
                && let Some(outer) = stack.last_mut()
            {
                outer.nested = outer.nested.saturating_add(inner.nested);
                log.count(|of| &mut of.interrupts_without_exit);
            }
        }
        let Some(ended) = stack.pop() else { return };
        let gross = at.time.saturating_sub(ended.begin.time).max(0) as u64;
        if let Some(outer) = stack.last_mut() {
            outer.nested = outer.nested.saturating_add(gross);
        }
        let net = gross.saturating_sub(ended.nested);
        let more = Addition::Handler { net, was_interrupted: ended.was_interrupted };
        let ending = Ending::new(kind.family(), ThreadId::NONE, ended.subject, ended.begin);
        log.ended(Ending { more, ..ending }, at);
    }

    /// Applies the raise of a softirq.
    pub(super) fn raise(&mut self, field: &Input, event: &RecordedEvent<'_>, at: &At) {
        let Some(number) = number(event, field).filter(|number| *number < SOFTIRQS) else { return };
        let raised = &mut self.cpus[at.place].raised;
        if raised.len() <= number as usize {
            raised.resize(number as usize + 1, Begin::NEVER);
        }
        let first = &mut raised[number as usize];
        if !first.is_known() {
            *first = at.begin();
        }
    }

    /// Ends the wait of a softirq for its handler.
    fn served(&mut self, number: u32, subject: u32, at: &At, log: &mut Log) {
        let raised = self.cpus[at.place].raised.get_mut(number as usize);
        let first = raised.map_or(Begin::NEVER, |first| std::mem::replace(first, Begin::NEVER));
        if first.is_known() {
            log.ended(Ending::new(Family::SoftirqRaise, ThreadId::NONE, subject, first), at);
        }
    }
}
