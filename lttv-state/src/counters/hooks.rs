//! The hooks that read the values of counters.

use std::mem::take;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Field, TraceIndex};
use lttv_context::{Extension, Handle, Setup, Subscription};
use lttv_filter::Verdict;

use super::definition::Counters;
use super::number::Number;
use crate::analysis::AFTER_STATE;
use crate::filter::{KernelFilters, KernelView};
use crate::kernel::KernelState;
use crate::spans::marker::Marker;
use crate::spans::period::{Read, Source, Value, field_of};

/// A value of a counter that an event has, with the values of its key.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) trace: TraceIndex,
    pub(super) counter: u32,
    pub(super) key: Vec<Read>,
    pub(super) value: Number,
    /// The time of delivery, in ns.
    pub(super) time: i64,
    /// `true` if the event counts.
    pub(super) counts: bool,
}

/// The values of the event that is delivered, until they are recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingSamples(Arc<Pending>);

#[derive(Debug, Default)]
struct Pending {
    has_some: AtomicBool,
    found: Mutex<Vec<Sample>>,
}

impl PendingSamples {
    fn put(&self, sample: Sample) {
        self.0.found.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
        self.0.has_some.store(true, Ordering::Relaxed);
    }

    /// Takes the values, if there are any.
    #[inline]
    pub(super) fn take(&self) -> Option<Vec<Sample>> {
        if !self.0.has_some.load(Ordering::Relaxed) {
            return None;
        }
        self.0.has_some.store(false, Ordering::Relaxed);
        Some(take(&mut *self.0.found.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// An extension whose hooks find the values of counters.
#[derive(Debug)]
pub(super) struct CounterHooks {
    pub(super) kernel: Handle<KernelState>,
    pub(super) counters: Counters,
    pub(super) pending: PendingSamples,
}

/// A counter that events of a type have.
#[derive(Debug)]
struct Rule {
    counter: u32,
    filter: Rc<KernelFilters>,
    value: Field,
    is_marker: bool,
    key: Vec<Source>,
}

/// Returns the process, the name and the value in a text such as `C|PID|NAME|VALUE`.
fn marker(text: &[u8]) -> Option<(u32, &[u8], Number)> {
    let Marker::Counter { pid, name, value } = Marker::of(text) else { return None };
    let value = str::from_utf8(value).ok()?;
    let value = match value.parse() {
        Ok(value) => Number::Integer(value),
        Err(_) => Number::Float(value.parse().ok().filter(|value: &f64| !value.is_nan())?),
    };
    Some((pid, name, value))
}

impl Rule {
    /// Returns the value in an event, and the part of the key that its text contains.
    fn value(&self, event: &Event<'_>) -> Option<(Vec<Read>, Number)> {
        let value = event.get(&self.value)?;
        if !self.is_marker {
            return Some((Vec::new(), Number::of(&value)?));
        }
        let ltt_read::Value::Str(text) = value else { return None };
        let (pid, name, value) = marker(text.bytes)?;
        let key = vec![Read::Value(Value::Integer(pid.into())), Read::Text(name.into())];
        Some((key, value))
    }
}

impl Extension for CounterHooks {
    type Checkpoint = ();

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let CounterHooks { kernel, counters, pending } = &setup.extensions[handle];
        let (kernel, counters, pending) = (*kernel, counters.clone(), pending.clone());
        let contexts = setup.contexts;
        let traces = contexts.traceset().traces();
        // They have been checked for these traces.
        let filters = counters.all.iter().filter_map(|of| {
            let filters = KernelFilters::new(&of.event, traces, &counters.environment).ok()?;
            Some(Rc::new(filters.with_state(kernel)))
        });
        let filters: Vec<_> = filters.collect();
        for of in contexts.traces() {
            let (index, trace) = (of.index(), of.trace());
            for id in (0..trace.schema().event_types.len() as u32).map(EventTypeId) {
                let all = (0..).zip(counters.all.iter()).zip(&filters);
                let rules = all.filter_map(|((counter, of), filter)| {
                    let of_trace = filter.filters().for_trace(index)?;
                    if of_trace.verdict(id) == Verdict::Never {
                        return None;
                    }
                    let value = field_of(trace, id, &of.value)?;
                    let key = of.key.iter().map(|(_, field)| Source::of(trace, id, field));
                    let (filter, key, is_marker) = (filter.clone(), key.collect(), of.is_marker);
                    Some(Rule { counter, filter, value, is_marker, key })
                });
                let rules: Vec<Rule> = rules.collect();
                if rules.is_empty() {
                    continue;
                }
                let pending = pending.clone();
                let events = Subscription::to_type(index, id).priority(AFTER_STATE);
                setup.hooks.on_event(events, move |call| {
                    for rule in &rules {
                        if !rule.filter.matches(call) {
                            continue;
                        }
                        let counts = call.reaches_all_hooks();
                        let call = &*call;
                        let Some((mut key, value)) = rule.value(&call.event) else { continue };
                        let Some(kernel) = call.extensions.get(kernel) else { continue };
                        let view = KernelView::new(kernel, call);
                        key.extend(rule.key.iter().map(|of| of.read(call, &view)));
                        let (trace, time) = (index, call.delivery_time().as_ns());
                        let counter = rule.counter;
                        pending.put(Sample { trace, counter, key, value, time, counts });
                    }
                });
            }
        }
    }

    fn reset(&mut self) {}

    fn save(&self) {}

    fn restore(&mut self, (): &()) {}

    fn checkpoint_bytes(_: &(), _: Option<&()>) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_have_a_process_a_name_and_a_number() {
        let number = Number::Integer;
        assert_eq!(marker(b"C|1234|counter|42\n"), Some((1234, &b"counter"[..], number(42))));
        assert_eq!(marker(b"C|1|a b|c|-7"), Some((1, &b"a b|c"[..], number(-7))));
        assert_eq!(marker(b"C|1|x|2.5"), Some((1, &b"x"[..], Number::Float(2.5))));
        for other in ["B|1234|section", "E|1234", "C|x|y|1", "C|1|y|", "C|1|y|NaN", "C|1", ""] {
            assert_eq!(marker(other.as_bytes()), None, "{other}");
        }
    }
}
