//! Counts the events of a live session by their type, in a loop that also does other work.
//!
//! ```text
//! lttng create my-session --live && lttng enable-event --kernel --all && lttng start
//! cargo run --release -p lttv-start --example embed_live -- localhost:5344 $(hostname) my-session
//! ```

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ltt_read::Trace;
use ltt_read::live::{LiveReader, LiveStart};
use lttv_context::{EventCall, Recording, RecordingState, TracesetContext};
use lttv_requests::{Budget, Control, EventsRequest, Owner, Scheduler, Viewer};

/// The time between two lines about the events so far.
const PERIOD: Duration = Duration::from_secs(1);

/// The time for which data is fetched at once, and between two looks if there is none.
const STEP: Duration = Duration::from_millis(20);

/// The numbers of events of each type. The numbers of types are dense, so that the counts of each
/// trace are a list.
#[derive(Default)]
struct Counts(Vec<Vec<u64>>);

impl Viewer for Counts {
    fn event(&mut self, call: &mut EventCall<'_, '_>, _: &Control<'_>) {
        let (trace, number) = (call.trace.index().0, call.event.type_id().index());
        *at(at(&mut self.0, trace), number) += 1;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [daemon, host, session] = &arguments[..] else {
        return Err("usage: embed_live DAEMON[:PORT] HOST SESSION".into());
    };
    let reader = LiveReader::attach(daemon, host, session, LiveStart::Beginning)?;
    let mut recording = Recording::from(reader);
    let mut scheduler = Scheduler::new(TracesetContext::new(recording.traceset()));
    let all = EventsRequest::new(Owner::unique()).waiting();
    let counts = scheduler.submit_viewer(all, Counts::default())?;
    let mut shown = Instant::now();
    loop {
        match recording.poll(STEP, &mut scheduler) {
            Ok(RecordingState::Idle) => std::thread::sleep(STEP),
            Ok(RecordingState::Busy) => {}
            Ok(RecordingState::Ended) => break,
            // What has arrived is printed.
            Err(error) => {
                eprintln!("{error:?}");
                break;
            }
        }
        while scheduler.service_chunk(Budget::time(Duration::from_millis(5))).has_more() {
            // Here, an application would handle input or draw.
        }
        if let Some(counts) = scheduler.viewer(counts).filter(|_| shown.elapsed() > PERIOD) {
            println!("{} events", counts.0.iter().flatten().sum::<u64>());
            shown = Instant::now();
        }
    }
    if let Some(counts) = scheduler.viewer(counts) {
        print(recording.traceset().traces(), &counts.0);
    }
    for error in scheduler.context().merge().errors() {
        eprintln!("{error:?}");
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
