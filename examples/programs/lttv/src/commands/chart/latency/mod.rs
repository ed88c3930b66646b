//! `lttv chart latency`: durations over time, and their distribution.

mod panel;
mod svg;

use std::error::Error;

use lttv_common::inputs;
use lttv_common::losses::Losses;
use lttv_common::report::Report;
use lttv_state::latency::LatencyAnalysis;

use self::panel::Panel;
use self::svg::Picture;
use super::span::Span;
use super::{LatencyChartArgs, SecondsArgs, trace_label, write_picture};
use crate::commands::latency::Measured;

/// Draws the latencies in a window.
pub(super) fn draw(args: &LatencyChartArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let format = args.page.format()?;
    let Measured { mut analysis, settings, .. } = args.measure.open(&args.input, report)?;
    if let Some(path) = &args.page.output {
        inputs::refuse(path, analysis.traceset.traces(), &[])?;
    }
    let span = Span::of(&args.input, SecondsArgs::default(), analysis.traceset.traces())?;
    let columns = svg::columns(args.pixels);
    // One more than the quotient, so that the last event is in the last column.
    let column = span.length() / columns + 1;
    let settings = settings.every(span.from, column).top(1);
    let threads = args.input.threads_or_all(report);
    let (latency, read) = analysis.run(threads, None, LatencyAnalysis::new(settings));
    let mut panels = Vec::new();
    let mut missing = Vec::new();
    for (index, _) in analysis.spans() {
        let Some(of) = latency.trace(index) else { continue };
        let label = trace_label(&analysis.traceset, index.0);
        for family in args.families() {
            match Panel::new(of, family, columns, &label) {
                Some(panel) => panels.push(panel),
                None => missing.extend(panel::missing(of, family, &label)),
            }
        }
    }
    let losses = Losses::of(analysis.traceset.traces(), span.window);
    let picture = Picture {
        panels: &panels,
        missing: &missing,
        span: &span,
        losses: &losses,
        column,
        width: args.pixels,
        zone: args.input.zone(),
    };
    write_picture(&args.page, format, picture.draw())?;
    analysis.finish(report);
    Ok(read?)
}
