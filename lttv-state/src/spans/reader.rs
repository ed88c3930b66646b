//! Reading the events of spans again.

use std::borrow::Cow;

use ltt_read::schema::Scope;
use ltt_read::{Cursor, Event, TraceIndex, Value};
use lttv_context::Traceset;

use super::arguments::names;
use super::names::SpanNames;
use super::place::EventPlace;
use super::span::Span;

/// The names of arguments that are paths, the first ones first.
const PATHS: [&str; 6] = ["filename", "pathname", "path", "oldname", "file", "name"];

/// Returns the path among the arguments of the system call that an event begins; `None` if there is none.
pub fn path_of(event: &Event<'_>) -> Option<String> {
    // Most events have none, which their type tells.
    names(event).find(|name| PATHS.contains(name))?;
    let payload = event.scope(Scope::Payload)?;
    let (_, path) = payload
        .members()
        .filter_map(|(field, value)| {
            let rank = PATHS.iter().position(|name| field.name() == Some(name))?;
            match value {
                Value::Str(text) => Some((rank, text)),
                _ => None,
            }
        })
        .min_by_key(|(rank, _)| *rank)?;
    Some(path.to_str_lossy().into_owned())
}

/// Reads single events of a traceset by their [places](EventPlace).
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::analysis::read;
/// use lttv_state::spans::{EventReader, Span, SpanAnalysis, SpanNames, SpanSettings, SpanVisitor};
///
/// /// The places of the first span.
/// #[derive(Default)]
/// struct First(Option<Span>);
///
/// impl SpanVisitor for First {
///     fn span(&mut self, span: &Span, _: &SpanNames<'_>) {
///         self.0.get_or_insert(*span);
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let analysis = SpanAnalysis::new(SpanSettings::new(), First::default());
/// let span = read(&traceset).run(analysis).output.visitor.0.expect("a span");
/// let mut reader = EventReader::new(&traceset);
/// let place = span.last.expect("it has ended");
/// let time = reader.read(span.trace, place, |event| event.timestamp()).flatten();
/// assert_eq!(time, Some(span.end));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct EventReader<'t> {
    traceset: &'t Traceset,
    /// The cursors that have been used, by trace and tracefile.
    cursors: Vec<Vec<Option<Cursor>>>,
}

impl<'t> EventReader<'t> {
    /// Creates a reader of the events of a traceset.
    pub fn new(traceset: &'t Traceset) -> Self {
        EventReader { traceset, cursors: Vec::new() }
    }

    /// Returns the file of a system call: that of its descriptor, or else the path among its arguments. Empty if there is
    /// none, or if it is unknown.
    pub fn file<'n>(&mut self, span: &Span, names: &SpanNames<'n>) -> Cow<'n, str> {
        let known = names.file(span);
        let Some(first) = span.first.filter(|_| known.is_empty() && names.call(span).is_some())
        else {
            return known.into();
        };
        self.read(span.trace, first, path_of).flatten().map_or(known.into(), Cow::from)
    }

    /// Calls a function with the event at a place of a trace, and returns what it returns. `None` if there is no
    /// event: the place is that of another trace, or the file has been damaged since.
    pub fn read<R>(
        &mut self,
        trace: TraceIndex,
        place: EventPlace,
        function: impl FnOnce(&Event<'_>) -> R,
    ) -> Option<R> {
        let of = self.traceset.traces().get(trace.0)?;
        if self.cursors.len() <= trace.0 {
            self.cursors.resize_with(trace.0 + 1, Vec::new);
        }
        let cursors = &mut self.cursors[trace.0];
        let tracefile = place.tracefile();
        if cursors.len() <= tracefile.0 {
            if tracefile.0 >= of.tracefiles().len() {
                return None;
            }
            cursors.resize_with(tracefile.0 + 1, || None);
        }
        let cursor = cursors[tracefile.0].get_or_insert_with(|| of.cursor(tracefile));
        cursor.seek(place.position()).ok()?;
        cursor.next().ok()?.map(|event| function(&event))
    }
}
