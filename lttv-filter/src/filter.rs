//! Filters for the events of one trace.

use std::sync::Arc;

use ltt_read::choice::{Choice, Shortcut, Verdict};
use ltt_read::schema::EventTypeId;
use ltt_read::{Event, TimeSpan, Timestamp, Trace};

use crate::compile::{self, Checked, Fault, Findings, Node, can_hold, spans};
use crate::compiled::Compiled;
use crate::diagnostic::{FilterError, FilterErrorKind, FilterNotes};
use crate::environment::Environment;
use crate::expression::Expression;
use crate::ranges::Ranges;
use crate::shortcut::split;
use crate::syntax::{Expr, ExprKind, LiteralKind};
use crate::trace::{NoState, StateFields, StateView, TraceField, TraceModel, TraceRecord};

/// An expression, compiled for the events of one trace.
///
/// ```
/// use lttv_filter::{Expression, Filter, Verdict};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
/// let trace = ltt_read::Trace::open(path)?;
/// let expression = Expression::parse("event.name == sched_switch && next_tid != 0")?;
/// let filter = Filter::new(&expression, &trace)?;
///
/// let mut cursor = trace.cursor(0);
/// let mut passed = 0;
/// while let Some(event) = cursor.next()? {
///     passed += u32::from(filter.matches(&event));
/// }
/// # assert!(passed > 0);
///
/// // What the type of an event decides is known in advance:
/// let wakeup = trace.event_types_named("sched_waking").next().expect("a kernel trace");
/// assert_eq!(filter.verdict(wakeup), Verdict::Never);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Filter {
    /// By event type.
    verdicts: Box<[Verdict]>,
    /// By event type.
    shortcuts: Box<[Option<Shortcut>]>,
    /// For what these leave open.
    compiled: Compiled<TraceField>,
    spans: Vec<TimeSpan>,
    tracefiles: Box<[bool]>,
    notes: FilterNotes,
}

/// What is known of an expression for one trace.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// What makes no sense.
    pub(crate) faults: Vec<Fault>,
    pub(crate) findings: Findings,
}

impl Filter {
    /// Compiles an expression, with times in UTC and without state.
    ///
    /// # Errors
    ///
    /// All comparisons that make no sense for any event of the trace: unknown
    /// fields and labels, values of the wrong type.
    pub fn new(expression: &Expression, trace: &Arc<Trace>) -> Result<Self, FilterError> {
        Self::within(expression, trace, &Environment::new(), &NoState)
    }

    /// Compiles an expression.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn within(
        expression: &Expression,
        trace: &Arc<Trace>,
        environment: &Environment,
        state: &dyn StateFields,
    ) -> Result<Self, FilterError> {
        let environment = match needs_day(expression.tree()) {
            true => environment.or_on_day_of(|| begin(trace)),
            false => environment.clone(),
        };
        let tree = expression.tree();
        let (filter, Known { faults, findings }) = Self::checked(tree, trace, &environment, state);
        if faults.is_empty() {
            let notes = findings.notes(tree, can_have_events(trace) && !filter.can_match());
            return Ok(Filter { notes: FilterNotes::new(expression.text(), notes), ..filter });
        }
        let diagnostics = faults.into_iter().map(|fault| fault.diagnostic).collect();
        Err(FilterError::new(FilterErrorKind::Meaning, expression.text(), diagnostics))
    }

    /// A filter in which what makes no sense is false, without notes, and what is known
    /// of the expression.
    pub(crate) fn checked(
        tree: &Expr,
        trace: &Trace,
        environment: &Environment,
        state: &dyn StateFields,
    ) -> (Filter, Known) {
        let model = TraceModel { trace, state };
        let Checked { trees, faults, findings } = compile::check(tree, &model, environment);
        let verdicts = trees.iter().map(Node::verdict).collect();
        let spans = time_spans(&trees);
        let tracefiles = (0..trace.tracefiles().len() as i128)
            .map(|number| trees.iter().any(|tree| can_hold(tree, &is_tracefile, number)))
            .collect();
        let (shortcuts, rest): (Vec<_>, Vec<_>) = trees.into_iter().map(split).unzip();
        let compiled = Compiled::of(&rest);
        let (shortcuts, notes) = (shortcuts.into(), FilterNotes::default());
        let filter = Filter { verdicts, shortcuts, compiled, spans, tracefiles, notes };
        (filter, Known { faults, findings })
    }

    /// What should be known of the expression: that it is never or always true of the
    /// events of the trace, or that a part of it is. Of a filter that is one of
    /// [`Filters`](crate::Filters), these know it.
    pub fn notes(&self) -> &FilterNotes {
        &self.notes
    }

    /// Whether an event of the trace passes; what state it may ask for is absent.
    #[inline(always)]
    pub fn matches(&self, event: &Event<'_>) -> bool {
        self.matches_in(event, &NoState)
    }

    /// Whether an event of the trace passes, with the state at it.
    #[inline(always)]
    pub fn matches_in<S: StateView>(&self, event: &Event<'_>, state: &S) -> bool {
        match self.verdicts.get(event.type_id().index()) {
            Some(Verdict::Always) => true,
            Some(Verdict::Depends) => match self.shortcut(event.type_id()) {
                Some(shortcut) => shortcut.passes(event, || self.runs_for(event, state)),
                None => self.runs_for(event, state),
            },
            Some(Verdict::Never) | None => false,
        }
    }

    /// What decides most events of a type that leaves open whether they pass.
    #[inline(always)]
    pub(crate) fn shortcut(&self, event_type: EventTypeId) -> Option<&Shortcut> {
        self.shortcuts.get(event_type.index())?.as_ref()
    }

    /// Whether an event passes of which its type and the shortcut leave it open. Apart, so that what is
    /// decided without it does not pay for its registers.
    #[inline(never)]
    pub(crate) fn runs_for<S: StateView>(&self, event: &Event<'_>, state: &S) -> bool {
        self.compiled.matches(&TraceRecord { event: *event, state })
    }

    /// What is known of all events of a type.
    #[inline]
    pub fn verdict(&self, event_type: EventTypeId) -> Verdict {
        self.verdicts.get(event_type.index()).copied().unwrap_or(Verdict::Never)
    }

    /// The types of events that may pass.
    pub fn event_types(&self) -> impl Iterator<Item = EventTypeId> + '_ {
        (0..self.verdicts.len() as u32)
            .map(EventTypeId)
            .filter(|id| self.verdict(*id) != Verdict::Never)
    }

    /// Whether an event of the trace may pass at all.
    pub fn can_match(&self) -> bool {
        !self.spans.is_empty() && self.tracefiles.contains(&true)
    }

    /// Whether an event of a tracefile may pass.
    pub fn can_match_tracefile(&self, tracefile: usize) -> bool {
        self.tracefiles.get(tracefile).copied().unwrap_or(false)
    }

    /// When events may pass: in order, with gaps between. If events without a
    /// time may, it is [`TimeSpan::ALL`].
    pub fn spans(&self) -> &[TimeSpan] {
        &self.spans
    }
}

/// For traces of which there is only the one.
impl Choice for Filter {
    #[inline]
    fn chooses(&self, event: &Event<'_>) -> bool {
        self.matches(event)
    }

    fn verdict(&self, _: usize, event_type: EventTypeId) -> Verdict {
        Filter::verdict(self, event_type)
    }

    fn shortcut(&self, _: usize, event_type: EventTypeId) -> Option<&Shortcut> {
        Filter::shortcut(self, event_type)
    }

    fn may_choose(&self, _: usize, tracefile: usize) -> bool {
        self.can_match_tracefile(tracefile)
    }

    fn spans(&self) -> Vec<TimeSpan> {
        self.spans.clone()
    }
}

fn is_tracefile(field: &TraceField) -> bool {
    matches!(field, TraceField::Tracefile)
}

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
    let span = |(first, last): &(i128, i128)| TimeSpan { begin: time(*first), end: time(*last) };
    all.as_slice().iter().map(span).collect()
}

/// Whether the meaning of an expression depends on the day.
pub(crate) fn needs_day(tree: &Expr) -> bool {
    let is_of_day = |kind: &LiteralKind| matches!(kind, LiteralKind::TimeOfDay(_));
    tree.walk().any(|node| match &node.kind {
        ExprKind::Compare { value, .. } => is_of_day(&value.kind),
        ExprKind::In { values, .. } => values.iter().any(|value| is_of_day(&value.kind)),
        _ => false,
    })
}

/// Whether there may be events in a trace, before any filter.
pub(crate) fn can_have_events(trace: &Trace) -> bool {
    !trace.schema().event_types.is_empty() && !trace.tracefiles().is_empty()
}

/// The time of the first event of a trace. (Of tracefiles that begin with an
/// error, nothing is known.)
pub(crate) fn begin(trace: &Arc<Trace>) -> Option<Timestamp> {
    let first = |number| trace.cursor(number).next().ok().flatten().and_then(|e| e.timestamp());
    (0..trace.tracefiles().len()).filter_map(first).min()
}
