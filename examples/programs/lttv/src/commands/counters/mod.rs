//! `lttv counters`: numeric fields of events over time.

mod args;

use std::error::Error;
use std::time::Duration;

use ltt_read::TimeSpan;
use lttv_common::report::Report;
use lttv_common::table::Format;
use lttv_filter::Environment;
use lttv_state::counters::{CounterAnalysis, CounterSettings};

pub use self::args::CountersArgs;
use super::analysis::Analysis;
use super::every::check_count;
use crate::tables::counters::Shown;
use lttv_common::definitions::Definitions;

/// The number of rows in text, unless another one is given.
const USUAL_ROWS: usize = 50;

/// Shows the figures of counters in a window.
///
/// # Errors
///
/// If the command line or a definition is wrong, or if the output cannot be written.
pub fn run(args: &CountersArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let input = &args.common.input;
    let definitions = Definitions::counters_of(&args.define)?;
    let mut analysis = Analysis::open(input, Some(&args.cache), report, None)?;
    let traces = analysis.traceset.traces();
    let filters = input.filters(report, traces)?;
    let environment = Environment::new().in_zone(input.zone());
    let settings = CounterSettings::new(definitions.counters.clone(), traces, &environment)
        .map_err(|error| definitions.wrong_counter(&error))?;
    let whole = analysis.spans().map(|(_, span)| span).reduce(TimeSpan::join);
    let settings = match args.every.zip(whole) {
        Some((length, whole)) => {
            check_count(Duration::from_nanos(length), whole)?;
            settings.every(whole.start, length)
        }
        None => settings,
    };
    let threads = input.threads_or_all(report);
    let (found, read) = analysis.run(threads, filters, CounterAnalysis::new(settings));
    if found.series().is_empty() {
        let names: Vec<&str> = definitions.counters.iter().map(|of| of.name()).collect();
        report.message(format_args!("no event in the window has a value of {}", names.join(", ")));
    }
    if found.dropped > 0 {
        report.error(format!("{} events are of too many different keys", found.dropped));
    }
    if found.lacks_intervals {
        report.error("--every: there are too many intervals with events: some are not shown");
    }
    let usual = (args.common.format.format == Format::Text).then_some(USUAL_ROWS);
    let shown = Shown {
        counters: &definitions.counters,
        series: found.series(),
        has_traces: analysis.spans().count() > 1,
        rows: args.common.format.top.or(usual).filter(|rows| *rows > 0),
        intervals: args.every.zip(whole),
    };
    analysis.write(&args.common, shown.tables())?;
    analysis.finish(report);
    Ok(read?)
}
