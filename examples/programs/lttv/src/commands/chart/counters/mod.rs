//! `lttv chart counters`: numeric fields of events over time.

mod svg;

use std::cmp::Reverse;
use std::error::Error;

use lttv_common::losses::Losses;
use lttv_common::report::Report;
use lttv_context::Traceset;
use lttv_filter::Environment;
use lttv_state::analysis::read;
use lttv_state::counters::{CounterAnalysis, CounterSettings, Series};
use svg::Picture;

use super::span::Span;
use super::{ChartFormat, CountersChartArgs, write_picture};
use lttv_common::definitions::Definitions;

/// Draws counters.
pub(super) fn draw(
    args: &CountersChartArgs,
    format: ChartFormat,
    traceset: &Traceset,
    clock: Option<&str>,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let definitions = Definitions::counters_of(&args.define)?;
    let traces = traceset.traces();
    let span = Span::of(&args.input, args.seconds, traces)?;
    let environment = Environment::new().in_zone(args.input.zone());
    let columns = svg::columns(args.pixels);
    let settings = CounterSettings::new(definitions.counters.clone(), traces, &environment)
        .map_err(|error| definitions.wrong_counter(&error))?
        .every(span.from, span.length().div_ceil(columns));
    let threads = args.input.threads_or_all(report);
    let read = read(traceset).window(span.window.range()).threads(threads);
    let found = read.run(CounterAnalysis::new(settings));
    report.errors(&found.errors, found.errors_omitted);
    let counters = found.output;
    let mut series: Vec<&Series> = counters.series().iter().collect();
    if series.is_empty() {
        report.message("no event in the window has a value of these counters");
    }
    // Those with the most events, in the order of the definitions.
    series.sort_by_key(|of| (Reverse(of.figures().count()), of.counter()));
    series.truncate(args.top);
    series.sort_by_key(|of| of.counter());
    let losses = Losses::of(traces, span.window);
    let picture = Picture {
        counters: &definitions.counters,
        series: &series,
        omitted: counters.series().len() - series.len(),
        span: &span,
        losses: &losses,
        traceset,
        clock,
        width: args.pixels,
        zone: args.input.zone(),
    };
    write_picture(&args.page, format, picture.draw())?;
    report.losses(&losses, None);
    Ok(())
}
