//! The rules by which events enter and leave calls.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use ltt_read::Trace;
use lttv_filter::{Expression, FilterError, Filters};

use super::functions::MAX_PAIRS;

/// A pair of events that begin and end a call of a given name, for programs whose functions are not
/// instrumented by the compiler.
///
/// ```
/// use lttv_state::call_stacks::EventPair;
///
/// let request = EventPair::of_events("request", "my_app:request_start", "my_app:request_end")?;
/// assert_eq!(&**request.name(), "request");
/// # Ok::<(), lttv_filter::FilterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct EventPair {
    name: Arc<str>,
    begin: Expression,
    end: Expression,
}

impl EventPair {
    /// Creates a pair of the events that two filter expressions select.
    pub fn new(name: impl Into<Arc<str>>, begin: Expression, end: Expression) -> Self {
        EventPair { name: name.into(), begin, end }
    }

    /// Creates a pair of events of two names. Each is a name, a pattern of names, or any other
    /// filter expression.
    ///
    /// # Errors
    ///
    /// If a text is not a filter expression.
    pub fn of_events(
        name: impl Into<Arc<str>>,
        begin: &str,
        end: &str,
    ) -> Result<Self, FilterError> {
        Ok(EventPair::new(name, Expression::parse(begin)?, Expression::parse(end)?))
    }

    /// Returns the name of the call.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }
}

/// The number of an [`EventPair`] among those of [`CallRules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PairId(pub u32);

/// The rules by which events enter and leave calls.
///
/// The default follows the functions that `gcc -finstrument-functions` and
/// `liblttng-ust-cyg-profile` (or its `-fast` form) record. Pairs of other events can be added.
#[derive(Debug, Clone, Default)]
pub struct CallRules {
    pairs: Arc<[EventPair]>,
    /// The filters of begins and ends, by pair.
    filters: Arc<[[Filters; 2]]>,
    follow_markers: bool,
}

impl CallRules {
    /// Creates rules with pairs of events, in addition to the instrumented functions. Pairs
    /// beyond 1024 are left out.
    ///
    /// # Errors
    ///
    /// If an expression is wrong for all events of the traces.
    pub fn with_pairs(pairs: &[EventPair], traces: &[Arc<Trace>]) -> Result<Self, FilterError> {
        let pairs = &pairs[..pairs.len().min(MAX_PAIRS as usize)];
        let filters = |pair: &EventPair| {
            Ok([Filters::new(&pair.begin, traces)?, Filters::new(&pair.end, traces)?])
        };
        let filters: Result<Vec<_>, FilterError> = pairs.iter().map(filters).collect();
        Ok(CallRules { pairs: pairs.into(), filters: filters?.into(), follow_markers: false })
    }

    /// Creates rules that follow the sections that programs have marked, instead of functions: the texts `B|PID|NAME`
    /// and `E` of Android's `atrace`, which are written to `trace_marker` of ftrace.
    ///
    /// ```
    /// use lttv_context::Traceset;
    /// use lttv_state::call_stacks::{CallRules, call_stacks};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/ftrace/trace.dat");
    /// let calls = call_stacks(&Traceset::open(path)?, &CallRules::of_markers(), 1).calls;
    /// // There are none in this recording.
    /// assert!(calls.traces()[0].has_calls() && calls.traces()[0].paths().is_empty());
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn of_markers() -> Self {
        CallRules { follow_markers: true, ..CallRules::default() }
    }

    pub(super) fn follow_markers(&self) -> bool {
        self.follow_markers
    }

    /// Returns the pairs, by their ids.
    pub fn pairs(&self) -> &[EventPair] {
        &self.pairs
    }

    /// Returns the filters of the begins and ends of a pair.
    pub(super) fn filters(&self, pair: PairId) -> Option<&[Filters; 2]> {
        self.filters.get(pair.0 as usize)
    }

    /// Returns the ids of all pairs.
    pub(super) fn ids(&self) -> impl Iterator<Item = PairId> {
        (0..self.pairs.len() as u32).map(PairId)
    }

    /// Returns a number that differs between different rules.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.follow_markers.hash(&mut hasher);
        for pair in self.pairs.iter() {
            (pair.begin.text(), pair.end.text()).hash(&mut hasher);
        }
        hasher.finish()
    }
}
