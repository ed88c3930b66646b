//! Filters for the events of several traces.

mod matches;

use std::cmp::Reverse;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::selection::{EventSelection, Shortcut, Verdict, Verdicts};
use ltt_read::{Event, TimeSpan, Timestamp, Trace, TraceIndex, TracefileIndex};

use crate::compile::{Fault, Findings};
use crate::diagnostic::{FilterError, FilterErrorKind, FilterNotes};
use crate::environment::Environment;
use crate::expression::Expression;
use crate::filter::{
    Analysis, Filter, can_have_events, covered_by, covered_by_growing, needs_times,
};
use crate::ranges::Ranges;
use crate::syntax::Expr;
use crate::trace::{NoState, StateFields, StateView, TraceModel, with_names};

pub use matches::FilteredEvents;

/// A filter for several traces: an expression, compiled for each trace.
///
/// A field or label that only some traces have is absent in the others, so that
/// comparisons with it are false there. If no trace has it, it is an error.
///
/// ```
/// use lttv_filter::{Expression, Filters};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traces = ltt_read::open_all(path)?;
/// let expression = Expression::parse("sched_switch.next_tid == 42")?;
/// let error = Filters::new(&expression, &traces).unwrap_err();
/// assert_eq!(error.to_string(), "column 1: no event has a field `sched_switch`");
///
/// let expression = Expression::parse("event.name =~ \"sched_*\" && tracefile.cpu in (0, 1)")?;
/// let filters = Filters::new(&expression, &traces)?;
/// let mut events = filters.read();
/// let mut passed = 0;
/// while let Some(event) = events.next() {
///     assert!(event.event_type().name().starts_with("sched_"));
///     passed += 1;
/// }
/// events.finish()?;
/// # assert!(passed > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Filters {
    expression: Expression,
    /// The tree of the expression, in which names of events that stand alone are comparisons.
    tree: Expr,
    environment: Environment,
    /// The times of the traces with which the filters were compiled, if the meaning of the
    /// expression depends on them.
    covered: Vec<(i64, i64)>,
    traces: Vec<Arc<Trace>>,
    /// The filters, by trace.
    filters: Vec<Filter>,
    /// The verdicts and shortcuts of all filters, by trace and event type.
    verdicts: Verdicts,
    /// The results of checking the expression, by trace.
    known: Vec<Analysis>,
    notes: FilterNotes,
}

impl Filters {
    /// Builds a filter from an expression, with times in UTC and without state.
    ///
    /// # Errors
    ///
    /// Returns an error for each comparison that is invalid for all events of all traces.
    /// Without traces, there are no errors.
    pub fn new(expression: &Expression, traces: &[Arc<Trace>]) -> Result<Self, FilterError> {
        Self::with_environment(expression, traces, &Environment::new())
    }

    /// Builds a filter from an expression, with an environment for times.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`new`](Self::new).
    pub fn with_environment(
        expression: &Expression,
        traces: &[Arc<Trace>],
        environment: &Environment,
    ) -> Result<Self, FilterError> {
        Self::with_state(expression, traces, environment, &NoState)
    }

    /// Builds a filter from an expression, with an environment for times and with the
    /// fields of a state.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`new`](Self::new).
    pub fn with_state(
        expression: &Expression,
        traces: &[Arc<Trace>],
        environment: &Environment,
        state: &dyn StateFields,
    ) -> Result<Self, FilterError> {
        let mut filters = Filters {
            expression: expression.clone(),
            tree: expression.tree().clone(),
            environment: environment.clone(),
            covered: Vec::new(),
            traces: Vec::new(),
            filters: Vec::new(),
            verdicts: Verdicts::default(),
            known: Vec::new(),
            notes: FilterNotes::default(),
        };
        filters.set_traces_with_state(traces, state)?;
        Ok(filters)
    }

    /// Sets the traces. The expression is only compiled for traces that are new, unless
    /// times that it contains have another meaning, or a word that stands alone has become the name of a
    /// field instead of an event.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`new`](Self::new); the filters are not
    /// changed then.
    pub fn set_traces(&mut self, traces: &[Arc<Trace>]) -> Result<(), FilterError> {
        self.set_traces_with_state(traces, &NoState)
    }

    /// Sets the traces, with the fields of a state: see [`set_traces`](Self::set_traces).
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`set_traces`](Self::set_traces).
    pub fn set_traces_with_state(
        &mut self,
        traces: &[Arc<Trace>],
        state: &dyn StateFields,
    ) -> Result<(), FilterError> {
        self.compile(traces, state, true)
    }

    /// Extends the filters to later versions of traces that are being recorded, and to traces
    /// after them, with the fields of a state. A field or label that no trace has is absent: it
    /// may be declared later.
    pub fn grow_with_state(&mut self, traces: &[Arc<Trace>], state: &dyn StateFields) {
        let compiled = self.compile(traces, state, false);
        debug_assert!(compiled.is_ok(), "only invalid expressions are refused");
    }

    /// Compiles the expression for the traces that are new.
    fn compile(
        &mut self,
        traces: &[Arc<Trace>],
        state: &dyn StateFields,
        refuses: bool,
    ) -> Result<(), FilterError> {
        let mut covered = Vec::new();
        let mut environment = self.environment.clone();
        if needs_times(self.expression.tree()) {
            covered = if refuses { covered_by(traces) } else { covered_by_growing(traces) };
            environment = environment.or_within(|| covered.clone());
        }
        let models: Vec<_> = traces.iter().map(|trace| TraceModel::new(trace, state)).collect();
        let tree = with_names(self.expression.tree(), &models);
        let is_same = covered == self.covered && tree == self.tree;
        let known = |trace: &Arc<Trace>| {
            let at = self.traces.iter().position(|known| Arc::ptr_eq(known, trace))?;
            is_same.then_some(at)
        };
        let known: Vec<Option<usize>> = traces.iter().map(known).collect();
        let fresh = |(model, known): (&TraceModel<'_>, &Option<usize>)| {
            known.is_none().then(|| Filter::checked(&tree, model, &environment))
        };
        let mut fresh: Vec<Option<(Filter, Analysis)>> =
            models.iter().zip(&known).map(fresh).collect();
        let of_trace = |(fresh, known): (&Option<(Filter, Analysis)>, &Option<usize>)| match known {
            Some(at) => Some(self.known[*at].clone()),
            None => fresh.as_ref().map(|(_, known)| known.clone()),
        };
        let of_traces: Vec<Analysis> = fresh.iter().zip(&known).filter_map(of_trace).collect();
        if refuses {
            refuse(&self.expression, traces, &of_traces)?;
        }

        let mut old: Vec<Option<Filter>> = self.filters.drain(..).map(Some).collect();
        let of = |(fresh, known): (&mut Option<(Filter, Analysis)>, &Option<usize>)| {
            let kept = known.and_then(|at| old[at].take());
            // A trace may be in the list twice.
            kept.or_else(|| fresh.take().map(|(filter, _)| filter))
        };
        let filters: Vec<Option<Filter>> = fresh.iter_mut().zip(&known).map(of).collect();
        let compile = |(model, filter): (&TraceModel<'_>, Option<Filter>)| {
            filter.unwrap_or_else(|| Filter::checked(&tree, model, &environment).0)
        };
        self.filters = models.iter().zip(filters).map(compile).collect();
        self.tree = tree;
        self.verdicts = Verdicts::new(&*self, traces);
        (self.traces, self.known, self.covered) = (traces.to_vec(), of_traces, covered);
        self.notes = self.noted();
        Ok(())
    }

    /// Returns the notes for all traces together.
    fn noted(&self) -> FilterNotes {
        let mut all = Findings::default();
        for known in &self.known {
            all.join(&known.findings);
        }
        let notes = all.notes(&self.tree, self.matches_none());
        FilterNotes::new(self.expression.text(), notes)
    }

    /// Returns notes on parts of the expression that are never or always true of the
    /// events of all traces.
    pub fn notes(&self) -> &FilterNotes {
        &self.notes
    }

    /// Returns the expression from which the filters were compiled.
    pub fn expression(&self) -> &Expression {
        &self.expression
    }

    /// Returns the traces, in the order of their indices.
    pub fn traces(&self) -> &[Arc<Trace>] {
        &self.traces
    }

    /// Returns the filter of the trace with an index.
    pub fn for_trace(&self, trace: TraceIndex) -> Option<&Filter> {
        self.filters.get(trace.0)
    }

    /// Returns `true` if an event passes. The event has to come from a
    /// [`Merge`](ltt_read::Merge) of these traces, or from another source that numbers
    /// them alike. All fields of the state are absent.
    #[inline(always)]
    pub fn matches(&self, event: &Event<'_>) -> bool {
        self.matches_in(event, &NoState)
    }

    /// Returns `true` if an event passes, given the state at the event.
    #[inline(always)]
    pub fn matches_in<S: StateView>(&self, event: &Event<'_>, state: &S) -> bool {
        self.verdicts.passes(event, || {
            let filter = self.filters.get(event.trace_index().0);
            filter.is_some_and(|filter| filter.run_program(event, state))
        })
    }

    /// Returns `true` if any event of a tracefile of a trace can pass.
    pub fn can_match(&self, trace: TraceIndex, tracefile: TracefileIndex) -> bool {
        let filter = self.for_trace(trace).filter(|filter| filter.can_match());
        filter.is_some_and(|filter| filter.can_match_tracefile(tracefile))
    }

    /// Returns the spans of time in which events can pass, in order and with gaps between
    /// them. If events without a time can pass, the only span is [`TimeSpan::ALL`].
    pub fn spans(&self) -> Vec<TimeSpan> {
        let all = self.filters.iter().flat_map(Filter::spans);
        let ranges = all.map(|span| (span.start.as_ns().into(), span.end.as_ns().into()));
        let time = |ns: i128| Timestamp::from_ns(ns as i64); // from 64 bits, above
        let span = |(a, b): &(i128, i128)| TimeSpan { start: time(*a), end: time(*b) };
        Ranges::union_of(ranges.collect()).as_slice().iter().map(span).collect()
    }

    /// Returns `true` if the result for any event depends on the state: by a `state.` field,
    /// or by a word such as `tid` that the events do not record.
    pub fn uses_state(&self) -> bool {
        self.filters.iter().any(Filter::uses_state)
    }

    /// Returns `true` if all events are known in advance to pass.
    pub fn matches_all(&self) -> bool {
        self.verdicts.are_all(Verdict::Always)
    }

    /// Returns `true` if no event can pass, although the traces can have events.
    pub fn matches_none(&self) -> bool {
        let can_have_events = self.traces.iter().any(|trace| can_have_events(trace));
        can_have_events && !self.filters.iter().any(Filter::can_match)
    }

    /// Reads the events that pass, in time order, and as little other data as possible.
    pub fn read(&self) -> FilteredEvents<'_> {
        FilteredEvents::new(self)
    }
}

impl EventSelection for Filters {
    #[inline]
    fn matches(&self, event: &Event<'_>) -> bool {
        self.matches(event)
    }

    fn verdict(&self, trace: TraceIndex, event_type: EventTypeId) -> Verdict {
        self.for_trace(trace).map_or(Verdict::Never, |filter| filter.verdict(event_type).into())
    }

    fn shortcut(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Shortcut> {
        self.for_trace(trace)?.shortcut(event_type)
    }

    fn may_match(&self, trace: TraceIndex, tracefile: TracefileIndex) -> bool {
        self.can_match(trace, tracefile)
    }

    fn spans(&self) -> Vec<TimeSpan> {
        Filters::spans(self)
    }

    /// Compiles the expression for new event types. A field or label that no trace has is absent: it
    /// may be declared later. Returns `false` if the expression uses the fields of a state: see
    /// [`Filters::grow_with_state`].
    fn grow(&mut self, traces: &[Arc<Trace>]) -> bool {
        let can_grow = !self.uses_state();
        if can_grow {
            self.grow_with_state(traces, &NoState);
        }
        can_grow
    }
}

/// Returns an error if a literal is invalid in all traces. For each such literal, it
/// contains the fault of the trace that has most of the names.
fn refuse(
    expression: &Expression,
    traces: &[Arc<Trace>],
    known: &[Analysis],
) -> Result<(), FilterError> {
    let Some(first) = known.first() else { return Ok(()) };
    let mut diagnostics = Vec::new();
    for fault in &first.faults {
        let place = |fault: &Fault| (fault.leaf, fault.slot);
        let of = |(trace, known): (usize, &'_ Analysis)| {
            let at = known.faults.binary_search_by_key(&place(fault), place).ok()?;
            Some((trace, at))
        };
        // A literal without a fault in one trace is valid.
        let all: Option<Vec<(usize, usize)>> = known.iter().enumerate().map(of).collect();
        let Some(all) = all else { continue };
        let all: Vec<(usize, &Fault)> =
            all.into_iter().map(|(trace, at)| (trace, &known[trace].faults[at])).collect();
        let worth = |(trace, fault): &&(usize, &Fault)| {
            let others = known[*trace].faults.len();
            (
                fault.valid_steps,
                Reverse(others),
                fault.diagnostic.replacement.is_some(),
                Reverse(*trace),
            )
        };
        let Some((trace, best)) = all.iter().max_by_key(worth) else { continue };
        let mut diagnostic = best.diagnostic.clone();
        if all.iter().any(|(_, other)| other.diagnostic != diagnostic) {
            let label = if diagnostic.label.is_empty() { "" } else { ", " };
            diagnostic.label +=
                &format!("{label}in the trace {}", name_of(&traces[*trace], *trace));
        }
        diagnostics.push(diagnostic);
    }
    if diagnostics.is_empty() {
        return Ok(());
    }
    Err(FilterError::new(FilterErrorKind::Meaning, expression.text(), diagnostics))
}

/// Returns the name of a trace for errors: its path, or its number from 1.
fn name_of(trace: &Trace, number: usize) -> String {
    let path = trace.path().to_string_lossy();
    if path.is_empty() {
        return (number + 1).to_string();
    }
    let shown = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    path.chars().map(shown).collect()
}
