//! Several filters, all of which an event has to pass.

use std::rc::Rc;

use ltt_read::schema::EventTypeId;
use ltt_read::selection::{EventSelection, Shortcut, Verdict};
use ltt_read::{Event, TimeSpan, TraceIndex, TracefileIndex};
use lttv_context::EventCall;
use lttv_filter::Filters;
use lttv_requests::EventFilter;
use lttv_state::filter::KernelFilters;

/// A filter for the events that pass all of several filters.
#[derive(Debug)]
pub(crate) struct Conjunction {
    filters: Vec<Rc<KernelFilters>>,
}

impl Conjunction {
    /// Creates the conjunction of some filters.
    pub(crate) fn new(filters: Vec<Rc<KernelFilters>>) -> Self {
        Conjunction { filters }
    }

    /// Returns `true` if a filter uses the kernel state.
    pub(crate) fn uses_state(&self) -> bool {
        self.filters.iter().any(|filters| filters.uses_state())
    }

    fn parts(&self) -> impl Iterator<Item = &Filters> {
        self.filters.iter().map(|filters| filters.filters())
    }
}

impl EventFilter for Conjunction {
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
        self.filters.iter().all(|filters| filters.matches(call))
    }

    fn selection(&self) -> Option<&dyn EventSelection> {
        Some(self)
    }

    fn is_selection_exact(&self) -> bool {
        !self.uses_state()
    }
}

impl EventSelection for Conjunction {
    fn matches(&self, event: &Event<'_>) -> bool {
        self.parts().all(|filters| filters.matches(event))
    }

    fn verdict(&self, trace: TraceIndex, event_type: EventTypeId) -> Verdict {
        let mut verdict = Verdict::Always;
        for filters in self.parts() {
            match filters.verdict(trace, event_type) {
                Verdict::Never => return Verdict::Never,
                Verdict::Depends => verdict = Verdict::Depends,
                Verdict::Always => {}
            }
        }
        verdict
    }

    fn shortcut(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Shortcut> {
        // A shortcut of one filter says nothing of the others.
        match &*self.filters {
            [filters] => filters.filters().shortcut(trace, event_type),
            _ => None,
        }
    }

    fn may_match(&self, trace: TraceIndex, tracefile: TracefileIndex) -> bool {
        self.parts().all(|filters| filters.may_match(trace, tracefile))
    }

    fn spans(&self) -> Vec<TimeSpan> {
        let all = vec![TimeSpan::ALL];
        self.parts().fold(all, |spans, filters| intersect(&spans, &filters.spans()))
    }
}

/// Returns the common parts of two lists of spans, each in order and without overlaps.
fn intersect(these: &[TimeSpan], those: &[TimeSpan]) -> Vec<TimeSpan> {
    let (mut a, mut b) = (these.iter().peekable(), those.iter().peekable());
    let mut common = Vec::new();
    while let (Some(one), Some(other)) = (a.peek(), b.peek()) {
        let (start, end) = (one.start.max(other.start), one.end.min(other.end));
        if start <= end {
            common.push(TimeSpan { start, end });
        }
        if one.end <= other.end {
            a.next()
        } else {
            b.next()
        };
    }
    common
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ltt_read::{Merge, Timestamp};
    use lttv_context::Traceset;
    use lttv_filter::{Environment, Expression};

    use super::*;

    fn span(start: i64, end: i64) -> TimeSpan {
        TimeSpan { start: Timestamp::from_ns(start), end: Timestamp::from_ns(end) }
    }

    #[test]
    fn common_parts_of_spans() {
        let these = [span(0, 10), span(20, 30), span(40, 40)];
        let those = [span(5, 22), span(25, 27), span(30, 50)];
        let common = [span(5, 10), span(20, 22), span(25, 27), span(30, 30), span(40, 40)];
        assert_eq!(intersect(&these, &those), common);
        assert_eq!(intersect(&those, &these), common);
        assert_eq!(intersect(&these, &[]), []);
    }

    #[test]
    fn nothing_that_passes_all_filters_is_excluded_in_advance() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel");
        let traceset = Traceset::open(path).expect("the bundled trace");
        let compile = |text: &str| {
            let expression = Expression::parse(text).expect("a filter");
            let environment = Environment::default();
            let filters = KernelFilters::new(&expression, traceset.traces(), &environment);
            Rc::new(filters.expect("a filter of the trace"))
        };
        for (one, other, expected) in [
            ("event.name == sched_switch", "tracefile.cpu == 0", true),
            ("event.name == sched_switch", "prev_tid > 100", true),
            ("event.name == sched_switch", "event.name == sched_waking", false),
            ("event.time >= 1795231463.5", "event.name =~ \"irq*\"", true),
        ] {
            let both = Conjunction::new(vec![compile(one), compile(other)]);
            let (mut merge, mut passing) = (Merge::new(traceset.traces()), 0);
            while let Some(event) = merge.next() {
                let passes = both.matches(&event);
                let (trace, time) = (event.trace_index(), event.timestamp().expect("a time"));
                let verdict = both.verdict(trace, event.type_id());
                let is_inside = both.may_match(trace, event.tracefile_index())
                    && both.spans().iter().any(|span| span.contains(time));
                let may = is_inside && verdict != Verdict::Never;
                assert!(may || !passes, "{one} && {other}");
                let must = is_inside && verdict == Verdict::Always;
                assert!(passes || !must, "{one} && {other}");
                passing += u64::from(passes);
            }
            assert_eq!(passing > 0, expected, "{one} && {other}: {passing}");
        }
    }
}
