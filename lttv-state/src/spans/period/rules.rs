//! The hooks that begin and end periods.

use std::rc::Rc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Field, Trace};
use lttv_context::{EventCall, Handle, Setup, Subscription, TraceContext};
use lttv_filter::Verdict;

use super::definition::Periods;
use super::fields::field_of;
use super::open::{Begun, OpenPeriods, Value};
use crate::analysis::AFTER_STATE;
use crate::filter::{KernelFilters, KernelView};
use crate::kernel::{KernelState, Serial, Tid};
use crate::spans::machine::Machine;
use crate::spans::outcome::{At, Log};
use crate::spans::place::EventPlace;
use crate::spans::threads::ThreadId;

/// The source of a value.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Cpu,
    Tid,
    Pid,
    Comm,
    Field(Field),
    Missing,
}

/// A period that events of a type may begin or end.
#[derive(Debug)]
struct Rule {
    period: u32,
    filter: Rc<KernelFilters>,
    key: Vec<Source>,
    values: Vec<Source>,
}

/// A value that has been read from an event.
#[derive(Debug)]
pub(crate) enum Read {
    Value(Value),
    Text(Box<[u8]>),
}

/// A period that an event begins or ends, with the values of its key and of its group.
#[derive(Debug)]
pub(crate) struct Found {
    period: u32,
    is_begin: bool,
    key: Vec<Read>,
    values: Vec<Read>,
    /// The thread that runs.
    thread: Option<(Serial, Tid)>,
    at: At,
    /// `true` if the event counts.
    pub(crate) counts: bool,
}

impl Source {
    /// Returns the source that a word or the name of a field means in events of a type.
    pub(crate) fn of(trace: &Trace, id: EventTypeId, name: &str) -> Source {
        match name {
            "cpu" => Source::Cpu,
            "tid" => Source::Tid,
            "pid" => Source::Pid,
            "comm" => Source::Comm,
            name => field_of(trace, id, name).map_or(Source::Missing, Source::Field),
        }
    }

    /// Reads the value of an event.
    pub(crate) fn read(&self, call: &EventCall<'_, '_>, view: &KernelView<'_>) -> Read {
        let integer =
            |value: Option<i128>| Read::Value(value.map_or(Value::Missing, Value::Integer));
        match self {
            Source::Cpu => integer(view.cpu().map(i128::from)),
            Source::Tid => integer(view.own(&call.event).and_then(|of| of.tid()).map(i128::from)),
            Source::Pid => integer(view.own(&call.event).and_then(|of| of.pid()).map(i128::from)),
            Source::Comm => {
                let name = view.own(&call.event).and_then(|of| view.name(of.name()));
                name.map_or(Read::Value(Value::Missing), |name| Read::Text(name.as_bytes().into()))
            }
            Source::Field(field) => match call.event.get(field) {
                Some(ltt_read::Value::Str(text)) => Read::Text(text.bytes.into()),
                Some(value) => {
                    let signed = value.as_i64().map(i128::from);
                    integer(signed.or_else(|| value.as_u64().map(i128::from)))
                }
                None => Read::Value(Value::Missing),
            },
            Source::Missing => Read::Value(Value::Missing),
        }
    }
}

fn values(read: &[Read], open: &mut OpenPeriods) -> Box<[Value]> {
    let value = |read: &Read| match read {
        Read::Value(value) => *value,
        Read::Text(text) => open.text(text),
    };
    read.iter().map(value).collect()
}

/// Adds hooks that call a function with the periods that each event begins or ends, if there are any:
/// those that end first, and children first among them.
pub(crate) fn install(
    kernel: Handle<KernelState>,
    periods: &Periods,
    setup: &mut Setup<'_, '_>,
    receive: impl Fn(&mut EventCall<'_, '_>, Vec<Found>) + Clone + 'static,
) {
    let contexts = setup.contexts;
    let traces = contexts.traceset().traces();
    let compile = |expression| {
        let filters = KernelFilters::new(expression, traces, &periods.environment).ok()?;
        Some(Rc::new(filters.with_state(kernel)))
    };
    // They have been checked for these traces.
    let filters: Vec<_> =
        periods.all.iter().map(|period| (compile(&period.begin), compile(&period.end))).collect();
    for trace in contexts.traces() {
        for id in (0..trace.trace().schema().event_types.len() as u32).map(EventTypeId) {
            let (begins, ends) = rules(trace, id, periods, &filters);
            if begins.is_empty() && ends.is_empty() {
                continue;
            }
            let receive = receive.clone();
            let events = Subscription::to_type(trace.index(), id).priority(AFTER_STATE);
            setup.hooks.on_event(events, move |call| {
                let found = find(call, kernel, &begins, &ends);
                if !found.is_empty() {
                    receive(call, found);
                }
            });
        }
    }
}

type Filters = (Option<Rc<KernelFilters>>, Option<Rc<KernelFilters>>);

/// Returns what events of a type may begin, in the order of definition, and end, in the opposite
/// order: children first.
fn rules(
    trace: &TraceContext,
    id: EventTypeId,
    periods: &Periods,
    filters: &[Filters],
) -> (Vec<Rule>, Vec<Rule>) {
    let may_pass = |filter: &Rc<KernelFilters>| {
        let of_trace = filter.filters().for_trace(trace.index());
        of_trace.is_some_and(|filter| filter.verdict(id) != Verdict::Never)
    };
    let sources = |names: &mut dyn Iterator<Item = &String>| {
        names.map(|name| Source::of(trace.trace(), id, name)).collect()
    };
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    for ((number, period), (begin, end)) in (0..).zip(periods.all.iter()).zip(filters) {
        if let Some(filter) = begin.as_ref().filter(|filter| may_pass(filter)) {
            begins.push(Rule {
                period: number,
                filter: filter.clone(),
                key: sources(&mut period.key.iter().map(|(at_begin, _)| at_begin)),
                values: sources(&mut period.at_begin.iter().map(|(_, field)| field)),
            });
        }
        if let Some(filter) = end.as_ref().filter(|filter| may_pass(filter)) {
            ends.push(Rule {
                period: number,
                filter: filter.clone(),
                key: sources(&mut period.key.iter().map(|(_, at_end)| at_end)),
                values: sources(&mut period.at_end.iter().map(|(_, field)| field)),
            });
        }
    }
    ends.reverse();
    (begins, ends)
}

/// Returns the periods that an event ends and begins.
fn find(
    call: &mut EventCall<'_, '_>,
    kernel: Handle<KernelState>,
    begins: &[Rule],
    ends: &[Rule],
) -> Vec<Found> {
    if begins.iter().chain(ends).all(|rule| !rule.filter.matches(call)) {
        return Vec::new();
    }
    let counts = call.reaches_all_hooks();
    let call = &*call;
    let ends = ends.iter().map(|rule| (rule, false));
    let rules = ends.chain(begins.iter().map(|rule| (rule, true)));
    let passing = rules.filter(|(rule, _)| rule.filter.matches(call));
    let Some((kernel, (cpu, place))) = call.extensions.get(kernel).and_then(|kernel| {
        let (trace, tracefile) = (call.trace.index(), call.tracefile.number());
        Some((kernel, kernel.cpu_and_place(trace, tracefile, &call.event)?))
    }) else {
        return Vec::new();
    };
    let (place, time) = (place.unwrap_or(0), call.delivery_time().as_ns());
    let tracefile = call.event.tracefile_index();
    let event = Some(EventPlace::new(tracefile, call.event.position()));
    let at = At { cpu, place, time, tracefile, event };
    let view = KernelView::new(kernel, call);
    let all = |sources: &[Source]| sources.iter().map(|of| of.read(call, &view)).collect();
    let found = passing.map(|(rule, is_begin)| {
        let process = view.own(&call.event).filter(|_| is_begin);
        let thread = process.and_then(|process| Some((process.serial(), process.tid()?)));
        let (period, key, values) = (rule.period, all(&rule.key), all(&rule.values));
        Found { period, is_begin, key, values, thread, at, counts }
    });
    found.collect()
}

impl Machine {
    /// Ends or begins a period.
    pub(crate) fn apply_period(&mut self, periods: &Periods, found: &Found, log: &mut Log) {
        let Machine { threads, periods: open, .. } = self;
        let Found { period, is_begin, thread, at, .. } = *found;
        let (key, values) = (values(&found.key, open), values(&found.values, open));
        if !is_begin {
            return open.end(period, key, &values, &at, log);
        }
        let thread = match thread {
            Some((serial, tid @ 1..)) => threads.of_serial(serial, tid),
            _ => ThreadId::NONE,
        };
        open.begin(periods, Begun { period, key, values, thread }, &at, log);
    }
}
