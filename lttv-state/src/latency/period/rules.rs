//! The hooks that begin and end periods.

use std::rc::Rc;

use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::{Field, Trace, TraceIndex};
use lttv_context::{EventCall, Handle, Setup, Subscription, TraceContext};
use lttv_filter::Verdict;

use super::definition::Periods;
use super::open::{Begun, OpenPeriods, Value};
use crate::filter::{KernelFilters, KernelView};
use crate::kernel::KernelState;
use crate::latency::extension::{AFTER_STATE, Latencies};
use crate::latency::outcome::At;
use crate::latency::threads::ThreadId;

/// The source of a value.
#[derive(Debug, Clone)]
enum Source {
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
enum Read<'e> {
    Value(Value),
    Text(&'e [u8]),
}

impl Source {
    fn of(trace: &Trace, id: EventTypeId, name: &str) -> Source {
        let scopes =
            [Scope::Payload, Scope::SpecificContext, Scope::CommonContext, Scope::PacketContext];
        match name {
            "cpu" => Source::Cpu,
            "tid" => Source::Tid,
            "pid" => Source::Pid,
            "comm" => Source::Comm,
            name => {
                let found = scopes.iter().find_map(|scope| trace.field(id, *scope, name));
                found.map_or(Source::Missing, Source::Field)
            }
        }
    }

    fn read<'r>(&self, call: &'r EventCall<'_, '_>, view: &KernelView<'r>) -> Read<'r> {
        let integer =
            |value: Option<i128>| Read::Value(value.map_or(Value::Missing, Value::Integer));
        match self {
            Source::Cpu => integer(view.cpu().map(i128::from)),
            Source::Tid => integer(view.own(&call.event).and_then(|of| of.tid()).map(i128::from)),
            Source::Pid => integer(view.own(&call.event).and_then(|of| of.pid()).map(i128::from)),
            Source::Comm => {
                let name = view.own(&call.event).and_then(|of| view.name(of.name()));
                name.map_or(Read::Value(Value::Missing), |name| Read::Text(name.as_bytes()))
            }
            Source::Field(field) => match call.event.get(field) {
                Some(ltt_read::Value::Str(text)) => Read::Text(text.bytes),
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

impl Read<'_> {
    fn into_value(self, open: &mut OpenPeriods) -> Value {
        match self {
            Read::Value(value) => value,
            Read::Text(text) => open.text(text),
        }
    }
}

fn values(read: Vec<Read<'_>>, open: &mut OpenPeriods) -> Box<[Value]> {
    read.into_iter().map(|read| read.into_value(open)).collect()
}

/// Adds the hooks for the periods of a trace.
pub(in crate::latency) fn install(
    handle: Handle<Latencies>,
    kernel: Handle<KernelState>,
    periods: &Periods,
    setup: &mut Setup<'_, '_>,
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
            let periods = periods.clone();
            let events = Subscription::to_type(trace.index(), id).priority(AFTER_STATE);
            setup.hooks.on_event(events, move |call| {
                apply(call, handle, kernel, &periods, &begins, &ends);
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

/// Applies an event that may begin or end periods.
fn apply(
    call: &mut EventCall<'_, '_>,
    handle: Handle<Latencies>,
    kernel: Handle<KernelState>,
    periods: &Periods,
    begins: &[Rule],
    ends: &[Rule],
) {
    let passes = |rule: &&Rule| rule.filter.matches(call);
    let ends: Vec<&Rule> = ends.iter().filter(passes).collect();
    let begins: Vec<&Rule> = begins.iter().filter(passes).collect();
    if ends.is_empty() && begins.is_empty() {
        return;
    }
    let is_on = call.reaches_all_hooks();
    let Some(state) = call.extensions.get(kernel) else { return };
    let Some((cpu, place)) =
        state.cpu_and_place(call.trace.index(), call.tracefile.number(), &call.event)
    else {
        return;
    };
    let at = At::new(cpu, place.unwrap_or(0), call.time().as_ns(), &call.event);
    let index: TraceIndex = call.trace.index();
    // The state is read through the call, and the open periods are changed: one after the other.
    let Some(of) = Latencies::of_trace(call.extensions, handle, index) else { return };
    let mut open = std::mem::take(&mut of.machine.periods);
    let read = |call: &EventCall<'_, '_>, rule: &Rule, open: &mut OpenPeriods| {
        let kernel = call.extensions.get(kernel)?;
        let view = KernelView::new(kernel, call);
        let all = |sources: &[Source]| sources.iter().map(|of| of.read(call, &view)).collect();
        let (key, own): (Vec<_>, Vec<_>) = (all(&rule.key), all(&rule.values));
        Some((values(key, open), values(own, open)))
    };
    for rule in ends {
        if let Some((key, own)) = read(call, rule, &mut open)
            && let Some(of) = Latencies::of_trace(call.extensions, handle, index)
        {
            of.collector.is_on = is_on;
            open.end(rule.period, key, &own, &at, &mut of.collector);
        }
    }
    for rule in begins {
        let Some((key, own)) = read(call, rule, &mut open) else { continue };
        let process = call.extensions.get(kernel).and_then(|kernel| {
            let view = KernelView::new(kernel, call);
            view.own(&call.event).map(|process| (process.serial(), process.tid()))
        });
        if let Some(of) = Latencies::of_trace(call.extensions, handle, index) {
            let thread = match process {
                Some((serial, Some(tid @ 1..))) => of.machine.threads.of_serial(serial, tid),
                _ => ThreadId::NONE,
            };
            of.collector.is_on = is_on;
            let begun = Begun { period: rule.period, key, values: own, thread };
            open.begin(periods, begun, &at, &mut of.collector);
        }
    }
    if let Some(of) = Latencies::of_trace(call.extensions, handle, index) {
        of.machine.periods = open;
    }
}
