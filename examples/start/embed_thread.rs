//! A user interface with a second thread that reads. It sends commands by one channel, and
//! receives the data of its three viewers by another one.
//!
//! ```text
//! cargo run --release -p lttv-start --example embed_thread -- [TRACE]
//! ```

use std::error::Error;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_context::{EventCall, Subscription, Traceset, TracesetContext};
use lttv_requests::views::{EventTable, Histogram, TimeWindow};
use lttv_requests::{Budget, Control, EventsRequest, Owner, Scheduler, Viewer};

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

/// A viewer of the number of switches between tasks.
struct Switches(u64);

impl Viewer for Switches {
    fn events(&self) -> Subscription {
        "sched_switch".into()
    }

    fn event(&mut self, _: &mut EventCall<'_, '_>, _: &Control<'_>) {
        self.0 += 1;
    }
}

/// The trace that comes with the programs.
const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel");

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or(BUNDLED.to_owned());
    // Threads can share traces; contexts and schedulers stay in one thread.
    let traceset = Traceset::open(path)?;
    let span = TracesetContext::new(&traceset).contexts().time_span().ok_or("no events")?;
    let window = TimeWindow::covering(span);
    let (command, commands) = channel();
    let (draw, drawings) = channel();
    let reader = std::thread::spawn(move || read(traceset, commands, draw));

    command.send(Command::Show(window))?;
    let mut clicked = false;
    for (frame, drawing) in drawings.iter().enumerate() {
        let Drawing { histogram, switches, list, is_done } = drawing;
        let events: u64 = histogram.iter().sum();
        let first = list.first();
        println!("{frame:3}: {events} events, {switches} switches, list {first:?}");
        if !clicked {
            clicked = true; // The user clicks into the middle.
            command.send(Command::List(window.centred(window.end()).start()))?;
        } else if is_done && !list.is_empty() {
            break;
        }
    }
    drop(command);
    for error in reader.join().map_err(|_| "the reader panicked")? {
        eprintln!("{error:?}");
    }
    Ok(())
}

/// Serves commands until the sender is dropped. Returns the errors of reading.
fn read(
    traceset: Traceset,
    commands: Receiver<Command>,
    draw: Sender<Drawing>,
) -> Vec<ltt_read::Error> {
    let (counter, mut switches) = (Owner::unique(), None);
    let histogram = Histogram::new(TimeWindow::new(Timestamp::MIN, Timestamp::MAX).unwrap(), 60);
    let list = EventTable::new(Owner::unique(), 10, |call| {
        format!("{} {}", call.event_time(), call.event.event_type().name())
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
                let request = EventsRequest::new(counter);
                let request = request.starting_at(window.start()).until(window.end());
                switches = scheduler.replace_viewer(request, Switches(0)).ok();
            }
            Ok(Command::List(time)) => _ = scheduler.submit(list.show(time)),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => break,
        }
        is_done = !scheduler.service_chunk(Budget::time(Duration::from_millis(5))).has_more();
        let list = list.rows().iter().map(|row| row.content.clone()).collect();
        let switches = switches.and_then(|switches| scheduler.viewer(switches));
        let switches = switches.map_or(0, |switches| switches.0);
        let drawing = Drawing { histogram: histogram.counts(), switches, list, is_done };
        if draw.send(drawing).is_err() {
            break;
        }
    }
    scheduler.context_mut().take_errors()
}
