//! A user interface that reads in another thread: it asks by a channel, and gets
//! what its three viewers draw by another one.
//!
//! ```text
//! cargo run --release --example embed_thread -- [TRACE]
//! ```

use std::cell::Cell;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::views::{EventTable, Histogram};
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler, TimeWindow};

/// What the user interface asks for.
enum Ask {
    Show(TimeWindow),
    List(Timestamp),
}

/// What it gets to draw.
struct Drawing {
    histogram: Vec<u64>,
    switches: u64,
    list: Vec<String>,
    is_done: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/kernel");
    let path = std::env::args().nth(1).unwrap_or(bundled.to_owned());
    // Traces can be shared by threads; contexts and schedulers stay in theirs.
    let traceset = Traceset::open(path)?;
    let span = TracesetContext::new(&traceset).contexts().time_span().ok_or("no events")?;
    let window = TimeWindow::of(span);
    let (ask, asked) = channel();
    let (draw, drawings) = channel();
    let reader = std::thread::spawn(move || read(traceset, asked, draw));

    ask.send(Ask::Show(window))?;
    let mut clicked = false;
    for (frame, drawing) in drawings.iter().enumerate() {
        let Drawing { histogram, switches, list, is_done } = drawing;
        let events: u64 = histogram.iter().sum();
        println!("{frame:3}: {events} events, {switches} switches, list {:?}", list.first());
        if !clicked {
            clicked = true; // The user clicks into the middle.
            ask.send(Ask::List(window.centred(window.end()).begin()))?;
        } else if is_done && !list.is_empty() {
            break;
        }
    }
    drop(ask);
    reader.join().map_err(|_| "the reader panicked")?;
    Ok(())
}

/// Serves requests until nobody asks any more.
fn read(traceset: Traceset, asked: Receiver<Ask>, draw: Sender<Drawing>) {
    let switches = Cell::new(0);
    let histogram = Histogram::new(TimeWindow::new(Timestamp::MIN, Timestamp::MAX).unwrap(), 60);
    let list = EventTable::new(Owner::fresh(), 10, |call| {
        format!("{} {}", call.time(), call.event.event_type().name())
    });
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset));
    let mut is_done = true;
    loop {
        // With nothing to do, wait for the next wish; else look whether there is one.
        let wait = || asked.recv().map_err(|_| TryRecvError::Disconnected);
        match if is_done { wait() } else { asked.try_recv() } {
            Ok(Ask::Show(window)) => {
                histogram.show(window);
                for missing in histogram.missing() {
                    _ = scheduler.submit(histogram.request(Owner::fresh(), missing));
                }
                switches.set(0);
                let counter = EventsRequest::new(Owner::fresh());
                let counter =
                    counter.on_event("sched_switch", |_, _| switches.set(switches.get() + 1));
                _ = scheduler.submit(counter.from(window.begin()).until(window.end()));
            }
            Ok(Ask::List(time)) => _ = scheduler.submit(list.show_time(time)),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return,
        }
        is_done = !scheduler.service_chunk(Budget::time(Duration::from_millis(5))).has_more();
        let list = list.rows().iter().map(|row| row.content.clone()).collect();
        let drawing =
            Drawing { histogram: histogram.counts(), switches: switches.get(), list, is_done };
        if draw.send(drawing).is_err() {
            return;
        }
    }
}
