//! Counts the events of a live session by their type, in a loop that also does other work.
//!
//! ```text
//! lttng create my-session --live && lttng enable-event --kernel --all && lttng start
//! cargo run --release --example embed_live -- net://localhost/host/$(hostname)/my-session
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ltt_read::Trace;
use ltt_read::live::{LiveReader, LiveStart, LiveState};
use lttv_common::cancel;
use lttv_common::follow::{FollowArgs, Place};
use lttv_common::report::{self, Report, Usage};
use lttv_common::text_dump::output::Output;
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler};

/// Count the events of a live session by their type, until it ends or Ctrl-C
#[derive(Debug, clap::Parser)]
#[command(name = "embed_live", version, after_help = report::EXIT_STATUS)]
struct Cli {
    /// Address of the session: net://HOST[:PORT]/host/NAME/SESSION
    session: PathBuf,
}

fn main() -> ExitCode {
    report::main("embed_live", run)
}

/// The time between two lines about the events so far.
const PERIOD: Duration = Duration::from_secs(1);

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn std::error::Error>> {
    let place = Place::new(std::slice::from_ref(&cli.session), FollowArgs::default())?;
    let Place::Session { daemon, host, session } = place else {
        return Err(Usage::new("the argument is no address of a session").into());
    };
    let interrupt = cancel::on_interrupt()?;
    let mut reader = LiveReader::attach(&daemon, &host, &session, LiveStart::Beginning)?;
    let mut traceset = Traceset::growing();
    // The numbers of event types are dense, so the counts of each trace are a list.
    let counts: RefCell<Vec<Vec<u64>>> = RefCell::default();
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    scheduler.submit(EventsRequest::new(Owner::unique()).waiting().on_every_event(|call, _| {
        let (trace, number) = (call.trace.index().0, call.event.type_id().index());
        *at(at(&mut counts.borrow_mut(), trace), number) += 1;
    }))?;
    let (mut out, mut shown, mut has_ended) = (Output::stdout(), Instant::now(), false);
    while !has_ended && !interrupt.load(Ordering::Relaxed) {
        let state = reader.poll(Duration::from_millis(20));
        traceset.continue_with(reader.traces());
        if matches!(state, Ok(LiveState::Ended)) {
            traceset.complete();
        }
        scheduler.continue_with(&traceset)?;
        while scheduler.service_chunk(Budget::time(Duration::from_millis(5))).has_more() {
            // Here, an application would handle input or draw.
        }
        reader.release(scheduler.context().merge());
        if shown.elapsed() > PERIOD {
            writeln!(out, "{} events", counts.borrow().iter().flatten().sum::<u64>())?;
            out.flush()?;
            shown = Instant::now();
        }
        match state {
            Ok(LiveState::Busy) => {}
            Ok(LiveState::Idle) => std::thread::sleep(Duration::from_millis(20)),
            Ok(LiveState::Ended) => has_ended = true,
            Err(error) => {
                report.error(error);
                has_ended = true;
            }
        }
    }
    print(&mut out, traceset.traces(), &counts.borrow())?;
    report.errors(scheduler.context().errors(), scheduler.context().errors_omitted());
    Ok(out.finish()?)
}

/// Prints the counts of the event types that occurred.
fn print(out: &mut Output, traces: &[Arc<Trace>], counts: &[Vec<u64>]) -> io::Result<()> {
    for (trace, counts) in traces.iter().zip(counts) {
        let types = trace.schema().event_types.iter().zip(counts);
        for (event_type, count) in types.filter(|(_, count)| **count > 0) {
            writeln!(out, "{count:>10}  {}", event_type.name())?;
        }
    }
    Ok(())
}

/// Returns the element at an index of a list, which grows if necessary.
fn at<T: Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize_with(index + 1, T::default);
    }
    &mut list[index]
}
