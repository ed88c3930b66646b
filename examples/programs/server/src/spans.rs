//! Single spans of a window: the rows of `lttv spans --format json`.

use std::num::NonZeroUsize;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::Timestamp;
use lttv_common::spans::{OrderedSpans, object};
use lttv_context::Traceset;
use lttv_filter::{Environment, Expression, nearest};
use lttv_state::analysis;
use lttv_state::latency::Period;
use lttv_state::spans::{Family, SpanAnalysis, SpanFilter, SpanOrder, SpanSettings};
use serde_json::{Value, json};

use crate::dataset::{Dataset, LONGEST_FILTER};
use crate::error::{OutputError, Result};
use crate::outputs::work::Work;
use crate::protocol::parameters::{ParameterError, Parameters};

/// The number of spans in an answer, unless another one is requested.
const USUAL: usize = 100;
/// The greatest number of spans in an answer.
const MOST: usize = 2_000;

/// A question for spans.
#[derive(Debug)]
pub struct SpanQuery {
    families: Vec<Family>,
    window: (Bound<Timestamp>, Bound<Timestamp>),
    filter: Option<SpanFilter>,
    order: SpanOrder,
    limit: usize,
    periods: Vec<Period>,
}

impl SpanQuery {
    /// Reads the question from parameters: `family` (several with commas between them), `begin` and `end` in ns,
    /// `filter` (an expression as of `lttv spans -e`), `sort` (`begin` or `duration`), and `limit`.
    ///
    /// # Errors
    ///
    /// If one of them is wrong.
    pub fn parse(
        parameters: &Parameters,
        dataset: &Dataset,
    ) -> std::result::Result<Self, ParameterError> {
        let families = match parameters.text("family")? {
            None | Some("") => SpanSettings::FAMILIES.to_vec(),
            Some(text) => text.split(',').map(family).collect::<std::result::Result<_, _>>()?,
        };
        let bound = |name| {
            let time = parameters.integer(name)?;
            Ok(time.map_or(Bound::Unbounded, |ns| Bound::Included(Timestamp::from_ns(ns))))
        };
        let window = (bound("begin")?, bound("end")?);
        let periods = dataset.periods();
        let text = parameters.text("filter")?.filter(|text| !text.trim().is_empty());
        let filter = text.map(|text| {
            if text.len() > LONGEST_FILTER {
                return Err(format!("longer than {LONGEST_FILTER} bytes"));
            }
            let expression = Expression::parse(text).map_err(|error| error.to_string())?;
            SpanFilter::with_periods(&expression, dataset.traceset(), periods, &Environment::new())
                .map_err(|error| error.to_string())
        });
        let filter =
            filter.transpose().map_err(|error| ParameterError::invalid("filter", error))?;
        let order = match parameters.text("sort")? {
            None | Some("begin") => SpanOrder::Begin,
            Some("duration") => SpanOrder::Duration,
            Some(_) => return Err(ParameterError::invalid("sort", "neither begin nor duration")),
        };
        let limit = match parameters.integer("limit")?.map(usize::try_from) {
            None => USUAL,
            Some(Ok(limit @ 1..=MOST)) => limit,
            Some(_) => {
                return Err(ParameterError::invalid("limit", format!("not from 1 to {MOST}")));
            }
        };
        let periods = periods.to_vec();
        Ok(SpanQuery { families, window, filter, order, limit, periods })
    }

    /// Answers with the first spans in the order, as objects, and with `isComplete`: `false` if there are more.
    ///
    /// # Errors
    ///
    /// If the client has gone away, if the work takes too long, or if a temporary file cannot be written.
    pub fn answer(self, traceset: &Traceset, work: &mut Work<'_>) -> Result {
        let SpanQuery { families, window, filter, order, limit, periods } = self;
        let stop = AtomicBool::new(false);
        // One more than is wanted tells that there are more.
        let mut rows: Vec<Value> = Vec::new();
        let spans = OrderedSpans::new(traceset, order, &stop, |span| {
            rows.push(object(span));
            Ok(())
        });
        let spans = spans.filter(filter).limit(limit + 1);
        let settings = SpanSettings::new().families(families);
        // They have been checked for these traces.
        let settings = settings
            .clone()
            .periods(periods, traceset.traces(), &Environment::new())
            .unwrap_or(settings);
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let found = analysis::read(traceset)
            .window(window)
            .threads(threads)
            .cancel(&stop)
            .progress(|context| {
                _ = context.take_notices();
                if work.check().is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
            })
            .run(SpanAnalysis::new(settings, spans));
        traceset.traces().iter().for_each(|trace| trace.release_pages());
        work.check()?;
        found.output.visitor.finish().map_err(OutputError::Temporary)?;
        let is_complete = rows.len() <= limit;
        rows.truncate(limit);
        work.json(&json!({ "spans": rows, "isComplete": is_complete }))
    }
}

/// Returns the family of a key.
fn family(key: &str) -> std::result::Result<Family, ParameterError> {
    let key = key.trim();
    Family::ALL.into_iter().find(|family| family.key() == key).ok_or_else(|| {
        let perhaps = nearest(key, Family::ALL.map(Family::key));
        let perhaps = perhaps.map_or(String::new(), |of| format!("; did you mean {of}?"));
        ParameterError::invalid("family", format!("there is no family {key:?}{perhaps}"))
    })
}
