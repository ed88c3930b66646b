//! `lttv record`: a recording with the tracers that the machine has.

mod views;

use std::error::Error;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use lttv_common::kernel_trace::Use;
use lttv_common::losses::Losses;
use lttv_common::opening;
use lttv_common::report::{Report, Usage};
use lttv_common::text::quoted;
use lttv_common::time::Window;
use lttv_common::units::bytes;
use lttv_filter::parse_length;
use lttv_record::{Journals, Machine, RecordError, Recorded, Request, Tracer, clean, record};

const EXAMPLES: &str = "\
Examples:
  lttv record -- make -j4                     all that views of the kernel need
  lttv record --for disk,wait -o out -- ./the-work
  lttv record --time 5s                       what happens on the machine for 5 seconds
  lttv record --with perf --for flame -- ./the-work
  lttv record --clean                         undo what a killed `lttv record` left

The whole machine is recorded while COMMAND runs, with its environment and as the same user. Without
COMMAND and --time, Ctrl-C ends the recording. Views are the names of commands, and `kernel` for
stats, chart, wait, latency, irq and disk.

Recording needs rights, which differ between tracers; without them this command tells how to get
them. It changes none itself. Everything that it does change is undone at the end.

Exit status: that of COMMAND, or 128 and the number of the signal that ended it; 1 if nothing could
be recorded, in which case COMMAND may not have run; 127 if COMMAND does not exist, 126 if it cannot be run.";

/// The exit status if the command does not exist, as in shells.
const NOT_FOUND: u8 = 127;

/// The exit status if the command cannot be run, as in shells.
const CANNOT_RUN: u8 = 126;

/// Record the kernel while a command runs, with the tracer that the machine has
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct RecordArgs {
    /// Record with this tracer [default: the first of lttng, ftrace and perf that can be used]
    #[arg(long, value_name = "TRACER", value_parser = tracers())]
    with: Option<String>,

    /// Record the events that these views need
    #[arg(long = "for", value_name = "VIEW,…", value_delimiter = ',', default_value = "kernel")]
    #[arg(value_parser = views::parser())]
    views: Vec<String>,

    /// Create the recording in this folder [default: lttv-recording-N, the first that is free]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// End the recording after this time, such as `5s` or `200ms`
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Duration>,

    /// Buffer this much of each CPU, such as `512K` or `64M`: larger buffers lose fewer events
    #[arg(long, value_name = "SIZE", default_value = "8M", value_parser = kibibytes)]
    buffer: u64,

    /// Undo what killed recordings left: buffers of the kernel, sessions of LTTng, unfinished files
    #[arg(long, conflicts_with_all = ["with", "views", "output", "time", "buffer", "command"])]
    clean: bool,

    /// Find the files of ftrace in this folder [default: where tracefs is mounted]
    #[arg(long, value_name = "DIR")]
    tracefs: Option<PathBuf>,

    /// The command to run, with its arguments
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<OsString>,
}

/// Records. Returns the exit status of the command.
///
/// # Errors
///
/// If no tracer can be used or one fails, if something cannot be read or written, or if what was changed cannot be undone.
pub fn run(args: &RecordArgs, report: &mut Report) -> Result<Option<u8>, Box<dyn Error>> {
    let mut machine = Machine::of_system();
    if let Some(tracefs) = &args.tracefs {
        machine.tracefs.clone_from(tracefs);
    }
    let journals = Journals::of_user();
    if args.clean {
        return clean_up(&machine, &journals, report).map(|()| None);
    }
    let uses = views::uses(&args.views);
    let has = |view: &str| args.views.iter().any(|of| of == view);
    let output = match &args.output {
        Some(output) => output.clone(),
        None => free_folder(),
    };
    let request = Request {
        with: args.with.as_deref().map(str::parse::<Tracer>).transpose().map_err(Usage::new)?,
        calls: has(views::CALLS),
        stacks: has(views::FLAME),
        buffer_kib: args.buffer,
        command: args.command.clone(),
        time: args.time,
        ..Request::new(output, views::wishes(&uses))
    };
    let result = record(&machine, &journals, &request, &mut |step| report.message(step));
    let recorded = match result {
        Ok(recorded) => recorded,
        Err(RecordError::Command { command, error }) => {
            let status = match error.kind() {
                ErrorKind::NotFound => NOT_FOUND,
                _ => CANNOT_RUN,
            };
            report.error(RecordError::Command { command, error });
            return Ok(Some(status));
        }
        Err(error) => return Err(error.into()),
    };
    describe(&recorded, &request, &uses, report);
    let is_bad = report.is_damaged();
    Ok(recorded.status.filter(|status| *status != 0 || !is_bad))
}

/// Tells what was recorded, what was lost, and how to look at it.
fn describe(recorded: &Recorded, request: &Request, uses: &[&Use], report: &mut Report) {
    for missing in &recorded.missing {
        let (events, consequence) = (&missing.events, &missing.consequence);
        report.warning(format_args!("{} has no {events}: {consequence}", recorded.tracer));
    }
    let size = lttv_record::size(&recorded.path);
    report.message(format_args!("recorded {} in {}", bytes(size), recorded.path.display()));
    match opening::open(report, [&recorded.path]) {
        Ok(traceset) => {
            let losses = Losses::of(traceset.traces(), Window::default());
            report.losses(&losses, None);
            if !losses.is_empty() {
                let larger = request.buffer_kib.saturating_mul(4) / 1024;
                report.message(format_args!(
                    "larger buffers lose fewer: --buffer {}M",
                    larger.max(1)
                ));
            }
        }
        Err(error) => report.error(error),
    }
    let path = short(&recorded.path);
    let named = uses.iter().map(|of| of.command);
    let special = [(request.calls, views::CALLS), (request.stacks, views::FLAME)];
    let special = special.into_iter().filter_map(|(is_wanted, view)| is_wanted.then_some(view));
    let names: Vec<String> =
        named.chain(special).map(|name| format!("`lttv {name} {path}`")).collect();
    report.message(format_args!("look at it: `lttv {path}`, {}", names.join(", ")));
}

/// Undoes what killed recorders left, and tells what it was.
fn clean_up(
    machine: &Machine,
    journals: &Journals,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let cleaned = clean(machine, journals)?;
    for text in &cleaned.undone {
        report.message(text);
    }
    if cleaned.running > 0 {
        report
            .message(format_args!("{} recordings still run, and are left alone", cleaned.running));
    }
    if cleaned.undone.is_empty() {
        report.message("there is nothing to undo");
    }
    Ok(())
}

/// Returns the first folder that does not exist.
fn free_folder() -> PathBuf {
    let names = (1..=u32::MAX).map(|number| PathBuf::from(format!("lttv-recording-{number}")));
    names.into_iter().find(|path| !path.exists()).unwrap_or_else(|| "lttv-recording".into())
}

/// Returns a path as a word of a shell, from the current directory if it is below it.
fn short(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok());
    quoted::shell_word(below.filter(|path| !path.as_os_str().is_empty()).unwrap_or(path))
}

fn tracers() -> PossibleValuesParser {
    PossibleValuesParser::new(Tracer::ALL.map(Tracer::name))
}

/// Parses a length of time that is not 0.
fn time(text: &str) -> Result<Duration, &'static str> {
    let ns = parse_length(text, 1_000_000_000).ok().and_then(|ns| u64::try_from(ns).ok());
    let ns = ns.filter(|ns| *ns > 0).ok_or("expected a length of time, such as `5s`")?;
    Ok(Duration::from_nanos(ns))
}

/// Parses a size in KiB, or in MiB or GiB with a unit.
fn kibibytes(text: &str) -> Result<u64, &'static str> {
    const EXPECTED: &str = "expected a size of 4K to 4G, such as `8M`";
    let units = [("K", 1), ("M", 1 << 10), ("G", 1 << 20)];
    let (digits, unit) = units
        .into_iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))
        .ok_or(EXPECTED)?;
    let size = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    size.filter(|size| (4..=4 << 20).contains(size)).ok_or(EXPECTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_limits() {
        assert_eq!(kibibytes("512K"), Ok(512));
        assert_eq!(kibibytes("8M"), Ok(Request::BUFFER_KIB));
        assert_eq!(kibibytes("4G"), Ok(4 << 20));
        for wrong in ["", "8", "M", "3K", "5G", "-1M", "99999999999999999999G", "1T"] {
            assert!(kibibytes(wrong).is_err(), "{wrong}");
        }
        assert!(time("0").is_err() && time("-1s").is_err() && time("1.5s").is_ok());
    }

    #[test]
    fn paths_are_short() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(short(&here.join("out")), "out");
        assert_eq!(short(Path::new("/a b")), "'/a b'");
    }
}
