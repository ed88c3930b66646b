//! Three viewers as tasks of an asynchronous program. Works with any single-threaded
//! executor; here all tasks are parts of one future.
//!
//! ```text
//! cargo run --release -p lttv-start --example embed_async -- [TRACE]
//! ```

use std::cell::Cell;
use std::error::Error;
use std::time::Duration;

use futures_lite::{StreamExt, future};
use ltt_read::Timestamp;
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::task::AsyncScheduler;
use lttv_requests::views::TimeWindow;
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler, SubmitError, Urgency};

/// The number of bars of the histogram.
const COLUMNS: u64 = 60;

/// The trace that comes with the programs.
const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel");

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or(BUNDLED.to_owned());
    let context = TracesetContext::new(Traceset::open(path)?);
    let window = TimeWindow::covering(context.contexts().time_span().ok_or("no events")?);
    let scheduler = AsyncScheduler::new(Scheduler::new(context));
    let viewers = async {
        let charts = future::zip(histogram(&scheduler, window), switches(&scheduler, window));
        let ((bars, switches), list) = future::zip(charts, list(&scheduler, window)).await;
        scheduler.close();
        Ok::<_, SubmitError>((bars?, switches?, list?))
    };
    let chunks = drive(&scheduler);
    let ((chunks, replays), found) = future::block_on(future::zip(chunks, viewers));
    let (bars, switches, list) = found?;
    for to in replays {
        println!("the state is replayed to {to:?}");
    }
    println!("histogram: {bars:?}\nswitches: {switches}");
    for line in list {
        println!("  {line}");
    }
    println!("{chunks} chunks");
    scheduler.with(|scheduler| {
        for error in scheduler.context().merge().errors() {
            eprintln!("{error:?}");
        }
    });
    Ok(())
}

/// Serves all requests; other tasks run between chunks. Returns the number of chunks, and
/// the times to which the state was replayed.
async fn drive(scheduler: &AsyncScheduler<'_>) -> (usize, Vec<Option<Timestamp>>) {
    let mut chunks = scheduler.serve(Budget::time(Duration::from_millis(2)));
    let (mut count, mut replays) = (0, Vec::new());
    while let Some(chunk) = chunks.next().await {
        count += 1;
        if let Some(replay) = chunk.replay {
            replays.push(replay.to);
        }
    }
    (count, replays)
}

/// Creates a request for the events in a window.
fn within<'h>(window: TimeWindow) -> EventsRequest<'h> {
    EventsRequest::new(Owner::unique()).starting_at(window.start()).until(window.end())
}

/// Counts events by time: receives the time of each event from a stream.
async fn histogram(
    scheduler: &AsyncScheduler<'_>,
    window: TimeWindow,
) -> Result<Vec<u32>, SubmitError> {
    let mut bars = vec![0; COLUMNS as usize];
    let mut times = scheduler.events(within(window), |call| Some(call.event_time()))?;
    while let Some(time) = times.next().await {
        let offset = u128::from(time.since(window.start()));
        let column = offset * u128::from(COLUMNS) / u128::from(window.width());
        bars[column as usize] += 1;
    }
    Ok(bars)
}

/// Counts events in a hook and waits for the end, which takes much less work per event.
async fn switches(scheduler: &AsyncScheduler<'_>, window: TimeWindow) -> Result<u64, SubmitError> {
    let count = std::rc::Rc::new(Cell::new(0));
    let counted = count.clone();
    let request =
        within(window).on_event("sched_switch", move |_, _| counted.set(counted.get() + 1));
    let mut end = scheduler.events(request, |_| None::<()>)?;
    while end.next().await.is_some() {}
    Ok(count.get())
}

/// Lists events from the middle of the window, with precedence over the requests that are
/// already being served.
async fn list(
    scheduler: &AsyncScheduler<'_>,
    window: TimeWindow,
) -> Result<Vec<String>, SubmitError> {
    future::yield_now().await;
    let middle = window.start().saturating_add(window.width() / 2);
    let ten = EventsRequest::new(Owner::unique()).urgency(Urgency::HIGH).max_events(10);
    let line = scheduler.events(ten.starting_at(middle), |call| {
        Some(format!("{} {}", call.event_time(), call.event.event_type().name()))
    })?;
    Ok(line.collect().await)
}
