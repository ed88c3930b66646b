//! Filters for the events of one trace.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::selection::Shortcut;
use ltt_read::{Cursor, Event, TimeSpan, Timestamp, Trace, TracefileIndex};

use crate::compile::program::Programs;
use crate::compile::{self, Checked, Fault, Findings, Node, can_hold, spans};
use crate::diagnostic::{FilterError, FilterErrorKind, FilterNotes};
use crate::environment::Environment;
use crate::expression::Expression;
use crate::ranges::Ranges;
use crate::shortcut::split;
use crate::syntax::{Expr, ExprKind, LiteralKind, Selector};
use crate::trace::{
    NoState, StateFields, StateView, TraceField, TraceModel, TraceRecord, with_names,
};
use crate::verdict::Verdict;

/// A filter: an expression, compiled for the events of one trace.
///
/// ```
/// use lttv_filter::{Expression, Filter, Verdict};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
/// let trace = ltt_read::Trace::open(path)?;
/// let expression = Expression::parse("event.name == sched_switch && next_tid != 0")?;
/// let filter = Filter::new(&expression, &trace)?;
///
/// let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
/// let mut passed = 0;
/// while let Some(event) = cursor.next()? {
///     passed += u32::from(filter.matches(&event));
/// }
/// # assert!(passed > 0);
///
/// // The result is known in advance where the type of an event decides:
/// let wakeup = trace.event_types_named("sched_waking").next().expect("a kernel trace");
/// assert_eq!(filter.verdict(wakeup), Verdict::Never);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Filter {
    /// The result by event type, where the type decides.
    verdicts: Box<[Verdict]>,
    /// The integer tests to run before the program, by event type.
    shortcuts: Box<[Option<Shortcut>]>,
    /// The programs for the events that verdicts and shortcuts do not decide.
    programs: Programs<TraceField>,
    spans: Vec<TimeSpan>,
    tracefiles: Box<[bool]>,
    uses_state: bool,
    notes: FilterNotes,
}

/// The result of checking an expression against one trace.
#[derive(Debug, Clone)]
pub(crate) struct Analysis {
    /// The invalid literals and comparisons.
    pub(crate) faults: Vec<Fault>,
    pub(crate) findings: Findings,
}

impl Filter {
    /// Builds a filter from an expression, with times in UTC and without state.
    ///
    /// # Errors
    ///
    /// Returns an error for each comparison that is invalid for all events of the trace:
    /// unknown fields and labels, and values of the wrong type.
    pub fn new(expression: &Expression, trace: &Arc<Trace>) -> Result<Self, FilterError> {
        Self::with_environment(expression, trace, &Environment::new())
    }

    /// Builds a filter from an expression, with an environment for times.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`new`](Self::new).
    pub fn with_environment(
        expression: &Expression,
        trace: &Arc<Trace>,
        environment: &Environment,
    ) -> Result<Self, FilterError> {
        Self::with_state(expression, trace, environment, &NoState)
    }

    /// Builds a filter from an expression, with an environment for times and with the
    /// fields of a state.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`new`](Self::new).
    pub fn with_state(
        expression: &Expression,
        trace: &Arc<Trace>,
        environment: &Environment,
        state: &dyn StateFields,
    ) -> Result<Self, FilterError> {
        let environment = match needs_times(expression.tree()) {
            true => environment.or_within(|| covered_by(std::slice::from_ref(trace))),
            false => environment.clone(),
        };
        let model = TraceModel::new(trace, state);
        let tree = &with_names(expression.tree(), &[model]);
        let (filter, Analysis { faults, findings }) = Self::checked(tree, &model, &environment);
        if faults.is_empty() {
            let notes = findings.notes(tree, can_have_events(trace) && !filter.can_match());
            return Ok(Filter { notes: FilterNotes::new(expression.text(), notes), ..filter });
        }
        let diagnostics = faults.into_iter().map(|fault| fault.diagnostic).collect();
        Err(FilterError::new(FilterErrorKind::Meaning, expression.text(), diagnostics))
    }

    /// Builds a filter in which invalid comparisons are false, without notes. Names of events
    /// that stand alone are comparisons in the tree. Returns it with the faults and findings.
    pub(crate) fn checked(
        tree: &Expr,
        model: &TraceModel<'_>,
        environment: &Environment,
    ) -> (Filter, Analysis) {
        let word_use = |id: u32, selector: &Selector| model.word_use(id, selector);
        let Checked { trees, faults, findings } =
            compile::check(tree, model, environment, &word_use);
        let uses_state = trees.iter().any(|tree| tree.reads(&is_of_state));
        let verdicts = trees.iter().map(Node::verdict).collect();
        let spans = time_spans(&trees);
        let tracefiles = (0..model.trace.tracefiles().len() as i128)
            .map(|number| trees.iter().any(|tree| can_hold(tree, &is_tracefile, number)))
            .collect();
        let (shortcuts, rest): (Vec<_>, Vec<_>) = trees.into_iter().map(split).unzip();
        let programs = Programs::new(&rest);
        let (shortcuts, notes) = (shortcuts.into(), FilterNotes::default());
        let filter = Filter { verdicts, shortcuts, programs, spans, tracefiles, uses_state, notes };
        (filter, Analysis { faults, findings })
    }

    /// Returns notes on parts of the expression that are never or always true of the
    /// trace's events. Empty for a filter that belongs to [`Filters`](crate::Filters),
    /// which have the notes for all of their traces.
    pub fn notes(&self) -> &FilterNotes {
        &self.notes
    }

    /// Returns `true` if an event of the trace passes. All fields of the state are
    /// absent.
    #[inline(always)]
    pub fn matches(&self, event: &Event<'_>) -> bool {
        self.matches_in(event, &NoState)
    }

    /// Returns `true` if an event of the trace passes, given the state at the event.
    #[inline(always)]
    pub fn matches_in<S: StateView>(&self, event: &Event<'_>, state: &S) -> bool {
        match self.verdicts.get(event.type_id().index()) {
            Some(Verdict::Always) => true,
            Some(Verdict::Depends) => match self.shortcut(event.type_id()) {
                Some(shortcut) => shortcut.passes(event, || self.run_program(event, state)),
                None => self.run_program(event, state),
            },
            Some(Verdict::Never) | None => false,
        }
    }

    /// Returns the tests to run before the program of an event type, if its verdict
    /// depends on the event.
    #[inline(always)]
    pub(crate) fn shortcut(&self, event_type: EventTypeId) -> Option<&Shortcut> {
        self.shortcuts.get(event_type.index())?.as_ref()
    }

    /// Runs the program for an event that its type and shortcut do not decide. Not
    /// inlined, so that the fast path does not have to save the registers that programs
    /// use.
    #[inline(never)]
    pub(crate) fn run_program<S: StateView>(&self, event: &Event<'_>, state: &S) -> bool {
        self.programs.matches(&TraceRecord { event: *event, state })
    }

    /// Returns the result for all events of a type, as far as the type decides it.
    #[inline]
    pub fn verdict(&self, event_type: EventTypeId) -> Verdict {
        self.verdicts.get(event_type.index()).copied().unwrap_or(Verdict::Never)
    }

    /// Iterates over the types of events that can pass.
    pub fn event_types(&self) -> impl Iterator<Item = EventTypeId> + '_ {
        (0..self.verdicts.len() as u32)
            .map(EventTypeId)
            .filter(|id| self.verdict(*id) != Verdict::Never)
    }

    /// Returns `true` if any event of the trace can pass.
    pub fn can_match(&self) -> bool {
        !self.spans.is_empty() && self.tracefiles.contains(&true)
    }

    /// Returns `true` if any event of a tracefile can pass.
    pub fn can_match_tracefile(&self, tracefile: TracefileIndex) -> bool {
        self.tracefiles.get(tracefile.0).copied().unwrap_or(false)
    }

    /// Returns the spans of time in which events can pass, in order and with gaps between
    /// them. If events without a time can pass, the only span is [`TimeSpan::ALL`].
    pub fn spans(&self) -> &[TimeSpan] {
        &self.spans
    }

    /// Returns `true` if the result for any event depends on the state: by a `state.` field,
    /// or by a word such as `tid` that the events do not record.
    pub fn uses_state(&self) -> bool {
        self.uses_state
    }
}

fn is_of_state(field: &TraceField) -> bool {
    matches!(field, TraceField::State(_))
}

fn is_tracefile(field: &TraceField) -> bool {
    matches!(field, TraceField::Tracefile)
}

/// Returns the spans of time in which any of the trees can hold.
fn time_spans(trees: &[Node<TraceField>]) -> Vec<TimeSpan> {
    let is_time = |field: &TraceField| matches!(field, TraceField::Time);
    let (low, high) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let mut all = Ranges::none();
    for tree in trees {
        let (set, without) = spans(tree, &is_time, low, high);
        if without {
            return vec![TimeSpan::ALL];
        }
        all = all.union(&set);
    }
    let time = |ns: i128| Timestamp::from_ns(ns as i64); // within the bounds above
    let span = |(first, last): &(i128, i128)| TimeSpan { start: time(*first), end: time(*last) };
    all.as_slice().iter().map(span).collect()
}

/// Returns `true` if the meaning of an expression depends on the times of the traces: if it has times
/// of day, or dates without an offset.
pub(crate) fn needs_times(tree: &Expr) -> bool {
    let needs = |kind: &LiteralKind| match kind {
        LiteralKind::TimeOfDay(_) => true,
        LiteralKind::DateTime(time) => time.offset.is_none(),
        _ => false,
    };
    tree.walk().any(|node| match &node.kind {
        ExprKind::Compare { value, .. } => needs(&value.kind),
        ExprKind::In { values, .. } => values.iter().any(|value| needs(&value.kind)),
        _ => false,
    })
}

/// Returns the first and the last time of each trace.
pub(crate) fn covered_by(traces: &[Arc<Trace>]) -> Vec<(i64, i64)> {
    let spans = traces.iter().filter_map(Trace::time_span);
    spans.map(|span| (span.start.as_ns(), span.end.as_ns())).collect()
}

/// Returns the first time of each trace that grows, and the last one of the day from there: within
/// it, each time of day has one meaning, whatever is recorded later.
pub(crate) fn covered_by_growing(traces: &[Arc<Trace>]) -> Vec<(i64, i64)> {
    const DAY: i64 = 86_400_000_000_000;
    let starts = traces.iter().filter_map(start_time).map(Timestamp::as_ns);
    starts.map(|start| (start, start.saturating_add(DAY - 1))).collect()
}

/// Returns `true` if a trace can have events, before any filter is applied.
pub(crate) fn can_have_events(trace: &Trace) -> bool {
    !trace.schema().event_types.is_empty() && !trace.tracefiles().is_empty()
}

/// Returns the time of the first event of a trace. Tracefiles that start with an error
/// are ignored.
fn start_time(trace: &Arc<Trace>) -> Option<Timestamp> {
    let first = |mut cursor: Cursor| cursor.next().ok().flatten().and_then(|e| e.timestamp());
    trace.cursors().filter_map(first).min()
}
