//! `lttv spans`: single things that took time, with arguments and results.

mod args;
mod described;
mod printer;
mod receiver;
mod records;
mod text;

use std::error::Error;
use std::sync::Arc;

use ltt_read::Trace;
use lttv_common::escape::Escapes;
use lttv_common::kernel_trace;
use lttv_common::report::{Report, Usage};
use lttv_common::spans::OrderedSpans;
use lttv_common::table::{Format, TextStyle};
use lttv_context::Traceset;
use lttv_filter::Environment;
use lttv_state::spans::{Period, SpanAnalysis, SpanFilter, SpanSettings};

pub use self::args::{Order, SpansArgs};
pub(super) use self::described::Described;
use self::printer::{Form, Printer};
pub use self::receiver::SpanReceiver;
use self::records::{Csv, Json};
pub(super) use self::text::Lines;
use super::analysis::Analysis;

/// Shows the spans in a window.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, or if the output cannot be written.
pub fn run(args: &SpansArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    args.refuse_without_effect()?;
    visit(args, report, |periods, traceset| {
        let out = args.output.open(traceset.traces())?;
        let form = match args.format {
            Format::Text => Form::Lines(Box::new(lines(args, traceset.traces()))),
            Format::Csv => Form::Csv(Csv::new(periods)),
            Format::Json => Form::Json(Json::default()),
        };
        let out = out.escaping(match args.format {
            Format::Json => Escapes::Json,
            Format::Text | Format::Csv => Escapes::Text,
        });
        Ok(Printer { form, out })
    })
}

/// Returns the periods that options define.
///
/// # Errors
///
/// If a period or a filter is wrong.
pub fn periods(args: &SpansArgs) -> Result<Vec<Period>, Box<dyn Error>> {
    args.selection.condition(&args.input)?;
    Ok(args.periods.definitions()?.periods)
}

/// Passes the spans in a window to a receiver, which is created when the traces are open, with the periods that options
/// define.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, or those of the receiver.
pub fn visit<R: SpanReceiver>(
    args: &SpansArgs,
    report: &mut Report,
    receiver: impl FnOnce(&[Period], &Traceset) -> Result<R, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let input = &args.input;
    let condition = args.selection.condition(input)?;
    let definitions = args.periods.definitions()?;
    let periods = &definitions.periods;
    let needs = periods.is_empty().then_some(&kernel_trace::SPANS);
    let mut analysis = Analysis::open(input, Some(&args.cache), report, needs)?;
    // The reader of events needs the traces while the analysis reads them.
    let traceset = analysis.traceset.clone();
    let environment = Environment::new().in_zone(input.zone());
    let filter = condition
        .map(|of| SpanFilter::with_periods(&of, &traceset, periods, &environment))
        .transpose();
    let filter = filter.map_err(|error| Usage::filter("--filter:", &error))?;
    let settings = SpanSettings::new()
        .families(args.families())
        .min(args.selection.durations.min.unwrap_or(0))
        .max(args.selection.durations.max.unwrap_or(u64::MAX))
        .periods(periods.clone(), traceset.traces(), &environment)
        .map_err(|error| definitions.wrong(&error))?;
    let mut receiver = receiver(periods, &traceset)?;
    let stop = analysis.stop_flag();
    let spans = OrderedSpans::new(&traceset, args.sort.into(), &stop, |span| receiver.span(span));
    let spans = spans.filter(filter).limit(args.limit.unwrap_or(0));
    let threads = input.threads_or_all(report);
    let (found, read) = analysis.run(threads, None, SpanAnalysis::new(settings, spans));
    let is_full = found.visitor.finish()?;
    receiver.finish()?;
    analysis.finish(report);
    // A read that was stopped since there were enough spans was not interrupted.
    if is_full { Ok(()) } else { Ok(read?) }
}

/// Returns the form of the lines that options ask for.
fn lines(args: &SpansArgs, traces: &[Arc<Trace>]) -> Lines {
    let lines = Lines::new(args.input.zone(), traces);
    let fits = args.output.output.is_none() && !args.wide;
    let width = TextStyle::of_output(args.input.zone()).width;
    let lines = lines.fitting(width.filter(|_| fits));
    let lines = if args.exact { lines.exact() } else { lines };
    if args.nested { lines.nested() } else { lines }
}
