//! `lttv convert`: trim, split, merge and convert traces.

mod anonymise;
mod args;
mod clock;
mod copy;
mod dump_types;
mod in_order;
mod merged;
mod modern_names;
mod output;
mod parts;
mod perfetto;
mod selection;
mod statedump;
mod target;

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ltt_read::Trace;
use ltt_read::writer::StagedDirectory;
use lttv_context::{EventCall, Handle, Traceset};
use lttv_filter::Environment;
use lttv_state::counters::CounterSettings;
use lttv_state::filter::{KernelFilters, KernelView};
use lttv_state::kernel::KernelState;
use lttv_state::spans::SpanSettings;

pub use args::{ConvertArgs, CpuRange, Size, Split, Target as Format};

use anonymise::Anonymiser;
use lttv_common::cancel;
use lttv_common::definitions::Definitions;
use lttv_common::inputs;
use lttv_common::losses::Losses;
use lttv_common::report::{Interrupted, Report, Usage};
use lttv_common::time::{Times, Window};
use output::Part;

use perfetto::Defined;
use selection::Wanted;
use target::Target;

/// A conversion: what is read, what is wanted of it, and what it becomes.
#[derive(Debug)]
struct Conversion<'a> {
    args: &'a ConvertArgs,
    traceset: Traceset,
    wanted: Vec<Wanted>,
    targets: Vec<Target>,
    filters: Option<KernelFilters>,
    anonymiser: Option<Anonymiser>,
    cancel: Arc<AtomicBool>,
    threads: usize,
}

/// The result of a conversion, or of a part of it.
#[derive(Debug, Default)]
struct Done {
    events: u64,
    /// Packets that were copied as they are.
    packets: u64,
    errors: Vec<ltt_read::Error>,
    errors_omitted: u64,
}

/// Converts traces.
///
/// # Errors
///
/// If the command line is wrong, if no trace can be opened, if the output cannot be written, or
/// after an interrupt by the user. Nothing is left of the output then.
pub fn run(args: &ConvertArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    args.refuse_without_effect()?;
    let traceset = args.input.open(report)?;
    let traces = traceset.traces();
    inputs::refuse_inside(&args.output, traces).map_err(Usage::new)?;
    let wanted = Wanted::of(args, traces)?;
    let filters = args.input.filters(report, traces)?;
    let times = Times::new(args.input.zone(), traces);
    let window = args.input.window_at(&times)?;
    times.inside(window).map_err(Usage::new)?;
    let (cancel, threads) = (cancel::on_interrupt()?, args.input.threads_or_all(report));
    let anonymiser = args.anonymise.then(Anonymiser::default);
    if args.to == Some(Format::Perfetto) {
        let defined = defined(args, traces)?;
        inputs::refuse(&args.output, traces, &[])?;
        let targets = Vec::new();
        let conversion =
            Conversion { args, wanted, targets, filters, anonymiser, cancel, threads, traceset };
        let written = perfetto::write(&conversion, &args.output, window, defined, report)?;
        if written.untimed > 0 {
            let events = plural(written.untimed, "event");
            report.warning(format_args!("{events} left out, since they have no times"));
        }
        report.losses(&Losses::of(conversion.traces(), window), None);
        let count = plural(written.count, "trace event");
        report.message(format_args!("{}: {count}", args.output.display()));
        return Ok(());
    }
    let staged = StagedDirectory::create(&args.output)?;
    let targets = Target::of(args, traces, anonymiser.as_ref(), report);
    let conversion =
        Conversion { args, wanted, targets, filters, anonymiser, cancel, threads, traceset };
    let done = conversion.write(&staged, window, report)?;
    report.errors(&done.errors, done.errors_omitted);
    staged.publish()?;
    report.losses(&Losses::of(conversion.traces(), window), None);
    report.message(format_args!("{}: {}", args.output.display(), done.summary()));
    Ok(())
}

impl Conversion<'_> {
    fn traces(&self) -> &[Arc<Trace>] {
        self.traceset.traces()
    }

    /// Writes all parts of the result.
    fn write(
        &self,
        staged: &StagedDirectory,
        window: Window,
        report: &Report,
    ) -> Result<Done, Box<dyn Error>> {
        let mut done = Done::default();
        let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
        for (folder, window) in parts::parts(self, window)? {
            let part = Part::create(self, staged, &folder, window, report)?;
            let of_part = match &self.filters {
                Some(filters) if filters.uses_state() => merged::write(self, &part, window)?,
                _ => copy::write(self, &part, window)?,
            };
            done.add(of_part);
            for (event, count) in part.left_out() {
                *left_out.entry(event).or_insert(0) += count;
            }
        }
        for (event, count) in left_out {
            let events = plural(count, "event");
            let reason = "left out, since nothing of them can be expressed";
            report.warning(format_args!("{event}: {events} {reason}"));
        }
        Ok(done)
    }

    /// Returns `true` if the event of a call is wanted, whatever its time.
    fn wants(&self, call: &EventCall<'_, '_>, kernel: Handle<KernelState>) -> bool {
        let event = &call.event;
        let filters = self.filters.as_ref().map(|filters| filters.filters());
        self.wanted[event.trace_index().0].takes(event)
            && filters.is_none_or(|filters| match call.extensions.get(kernel) {
                Some(state) => filters.matches_in(event, &KernelView::new(state, call)),
                None => filters.matches(event),
            })
    }

    /// Returns an error if the user has interrupted the program.
    fn check(&self, events: u64) -> Result<(), Interrupted> {
        match self.cancel.load(std::sync::atomic::Ordering::Relaxed) {
            true => Err(Interrupted { events }),
            false => Ok(()),
        }
    }
}

impl Done {
    fn add(&mut self, other: Done) {
        self.events += other.events;
        self.packets += other.packets;
        // The same damage is met in each part.
        for error in other.errors {
            let text = ltt_read::ErrorChain(&error).to_string();
            if !self.errors.iter().any(|known| ltt_read::ErrorChain(known).to_string() == text) {
                self.errors.push(error);
            }
        }
        self.errors_omitted += other.errors_omitted;
    }

    fn summary(&self) -> String {
        let Done { events, packets, .. } = *self;
        match (events, packets) {
            (0, packets) => format!("{} copied", plural(packets, "packet")),
            (events, 0) => format!("{} copied", plural(events, "event")),
            (events, packets) => format!(
                "{} and {} of others copied",
                plural(packets, "packet"),
                plural(events, "event")
            ),
        }
    }
}

/// Returns the periods and counters that the files of `--define` name.
fn defined(args: &ConvertArgs, traces: &[Arc<Trace>]) -> Result<Defined, Usage> {
    let mut definitions = Definitions::default();
    args.define.iter().try_for_each(|file| definitions.add(file))?;
    let environment = Environment::new().in_zone(args.input.zone());
    let mut defined = Defined::default();
    if !definitions.periods.is_empty() {
        let periods = definitions.periods.clone();
        let settings = SpanSettings::new().periods(periods, traces, &environment);
        defined.periods = Some(settings.map_err(|error| definitions.wrong(&error))?);
    }
    if !definitions.counters.is_empty() {
        let counters = definitions.counters.clone();
        let settings = CounterSettings::new(counters.clone(), traces, &environment)
            .map_err(|error| definitions.wrong_counter(&error))?;
        defined.counters = Some((counters, settings));
    }
    Ok(defined)
}

/// Returns a number of things, such as `2 events`.
fn plural(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}
