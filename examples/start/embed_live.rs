//! Counts the events of a live session by their type, in a loop that also does other work.
//!
//! ```text
//! lttng create my-session --live && lttng enable-event --kernel --all && lttng start
//! cargo run --release -p lttv-start --example embed_live -- localhost:5344 $(hostname) my-session
//! ```

use std::cell::RefCell;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ltt_read::Trace;
use ltt_read::live::{LiveReader, LiveStart, LiveState};
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler};

/// The time between two lines about the events so far.
const PERIOD: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [daemon, host, session] = &arguments[..] else {
        return Err("usage: embed_live DAEMON[:PORT] HOST SESSION".into());
    };
    let mut reader = LiveReader::attach(daemon, host, session, LiveStart::Beginning)?;
    let mut traceset = Traceset::growing();
    // The numbers of event types are dense, so the counts of each trace are a list.
    let counts: RefCell<Vec<Vec<u64>>> = RefCell::default();
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    scheduler.submit(EventsRequest::new(Owner::unique()).waiting().on_every_event(|call, _| {
        let (trace, number) = (call.trace.index().0, call.event.type_id().index());
        *at(at(&mut counts.borrow_mut(), trace), number) += 1;
    }))?;
    let (mut shown, mut has_ended) = (Instant::now(), false);
    while !has_ended {
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
            println!("{} events", counts.borrow().iter().flatten().sum::<u64>());
            shown = Instant::now();
        }
        match state {
            Ok(LiveState::Busy) => {}
            Ok(LiveState::Idle) => std::thread::sleep(Duration::from_millis(20)),
            Ok(LiveState::Ended) => has_ended = true,
            // What has arrived is printed.
            Err(error) => {
                eprintln!("{error}");
                has_ended = true;
            }
        }
    }
    print(traceset.traces(), &counts.borrow());
    for error in scheduler.context().merge().errors() {
        eprintln!("{error}");
    }
    Ok(())
}

/// Prints the counts of the event types that occurred.
fn print(traces: &[Arc<Trace>], counts: &[Vec<u64>]) {
    for (trace, counts) in traces.iter().zip(counts) {
        let types = trace.schema().event_types.iter().zip(counts);
        for (event_type, count) in types.filter(|(_, count)| **count > 0) {
            println!("{count:>10}  {}", event_type.name());
        }
    }
}

/// Returns the element at an index of a list, which grows if necessary.
fn at<T: Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize_with(index + 1, T::default);
    }
    &mut list[index]
}
