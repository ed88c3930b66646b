//! A user interface with a second thread that reads. It sends commands by one channel, and
//! receives the data of its three viewers by another one.
//!
//! ```text
//! cargo run --release --example embed_thread -- [TRACE]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::cell::Cell;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_common::bundled::open_or_bundled;
use lttv_common::report::{self, Report};
use lttv_common::text_dump::output::Output;
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::views::{EventTable, Histogram, TimeWindow};
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler};

/// A command of the user interface.
enum Command {
    /// Shows this window in the histogram.
    Show(TimeWindow),
    /// Lists events from this time.
    List(Timestamp),
}

/// The data to draw.
struct Drawing {
    histogram: Vec<u64>,
    switches: u64,
    list: Vec<String>,
    is_done: bool,
}

/// Draw what another thread reads
#[derive(Debug, clap::Parser)]
#[command(name = "embed_thread", version, after_help = report::EXIT_STATUS)]
struct Cli {
    /// Directory of a trace [default: the bundled trace]
    trace: Option<PathBuf>,
}

fn main() -> ExitCode {
    report::main("embed_thread", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn std::error::Error>> {
    // Threads can share traces; contexts and schedulers stay in one thread.
    let traceset = open_or_bundled(report, cli.trace.as_slice())?;
    let span = TracesetContext::new(&traceset).contexts().time_span().ok_or("no events")?;
    let window = TimeWindow::covering(span);
    let (command, commands) = channel();
    let (draw, drawings) = channel();
    let reader = std::thread::spawn(move || read(traceset, commands, draw));

    command.send(Command::Show(window))?;
    let (mut clicked, mut out) = (false, Output::stdout());
    for (frame, drawing) in drawings.iter().enumerate() {
        let Drawing { histogram, switches, list, is_done } = drawing;
        let events: u64 = histogram.iter().sum();
        let first = list.first();
        writeln!(out, "{frame:3}: {events} events, {switches} switches, list {first:?}")?;
        out.finish()?;
        if !clicked {
            clicked = true; // The user clicks into the middle.
            command.send(Command::List(window.centred(window.end()).start()))?;
        } else if is_done && !list.is_empty() {
            break;
        }
    }
    drop(command);
    let (errors, omitted) = reader.join().map_err(|_| "the reader panicked")?;
    report.errors(&errors, omitted);
    Ok(())
}

/// The errors of reading that were kept, and the number of those omitted.
type Damage = (Vec<ltt_read::Error>, u64);

/// Serves commands until the sender is dropped.
fn read(traceset: Traceset, commands: Receiver<Command>, draw: Sender<Drawing>) -> Damage {
    let switches = Cell::new(0);
    let histogram = Histogram::new(TimeWindow::new(Timestamp::MIN, Timestamp::MAX).unwrap(), 60);
    let list = EventTable::new(Owner::unique(), 10, |call| {
        format!("{} {}", call.time(), call.event.event_type().name())
    });
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset));
    let mut is_done = true;
    loop {
        // When idle, wait for the next command; otherwise only check for one.
        let wait = || commands.recv().map_err(|_| TryRecvError::Disconnected);
        match if is_done { wait() } else { commands.try_recv() } {
            Ok(Command::Show(window)) => {
                histogram.show(window);
                for missing in histogram.missing() {
                    _ = scheduler.submit(histogram.request(Owner::unique(), missing));
                }
                switches.set(0);
                let counter = EventsRequest::new(Owner::unique());
                let counter =
                    counter.on_event("sched_switch", |_, _| switches.set(switches.get() + 1));
                _ = scheduler.submit(counter.starting_at(window.start()).until(window.end()));
            }
            Ok(Command::List(time)) => _ = scheduler.submit(list.show(time)),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => break,
        }
        is_done = !scheduler.service_chunk(Budget::time(Duration::from_millis(5))).has_more();
        let list = list.rows().iter().map(|row| row.content.clone()).collect();
        let drawing =
            Drawing { histogram: histogram.counts(), switches: switches.get(), list, is_done };
        if draw.send(drawing).is_err() {
            break;
        }
    }
    let context = scheduler.context_mut();
    (context.take_errors(), context.errors_omitted())
}
