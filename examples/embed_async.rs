//! Three viewers as tasks of an asynchronous program. Any executor of tasks of one
//! thread will do; here all are parts of one future.
//!
//! ```text
//! cargo run --release --example embed_async -- [TRACE]
//! ```

use std::cell::Cell;
use std::time::Duration;

use futures_lite::{StreamExt, future};
use ltt_read::Timestamp;
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::task::AsyncScheduler;
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler, SubmitError, TimeWindow, Urgency};

const COLUMNS: u64 = 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/kernel");
    let path = std::env::args().nth(1).unwrap_or(bundled.to_owned());
    let context = TracesetContext::new(Traceset::open(path)?);
    let window = TimeWindow::of(context.contexts().time_span().ok_or("no events")?);
    let scheduler = AsyncScheduler::new(Scheduler::new(context));
    let viewers = async {
        let charts = future::zip(histogram(&scheduler, window), switches(&scheduler, window));
        let ((bars, switches), list) = future::zip(charts, list(&scheduler, window)).await;
        scheduler.close();
        println!("histogram: {:?}\nswitches: {}", bars?, switches?);
        list?.iter().for_each(|line| println!("  {line}"));
        Ok::<(), SubmitError>(())
    };
    let chunks = drive(&scheduler);
    let (chunks, result) = future::block_on(future::zip(chunks, viewers));
    println!("{chunks} chunks");
    Ok(result?)
}

/// Reads for all of them. Between chunks others get their turn.
async fn drive(scheduler: &AsyncScheduler<'_>) -> usize {
    let mut chunks = scheduler.serve(Budget::time(Duration::from_millis(2)));
    let mut count = 0;
    while let Some(chunk) = chunks.next().await {
        count += 1;
        if let Some(replay) = chunk.replay {
            println!("state is brought to {:?}", replay.to);
        }
    }
    count
}

fn within<'h>(window: TimeWindow) -> EventsRequest<'h> {
    EventsRequest::new(Owner::fresh()).from(window.begin()).until(window.end())
}

/// Takes times as they come.
async fn histogram(
    scheduler: &AsyncScheduler<'_>,
    window: TimeWindow,
) -> Result<Vec<u32>, SubmitError> {
    let mut bars = vec![0; COLUMNS as usize];
    let mut times = scheduler.events(within(window), |call| Some(call.time()))?;
    while let Some(time) = times.next().await {
        let offset = u128::from(time.ns().abs_diff(window.begin().ns()));
        let column = offset * u128::from(COLUMNS) / u128::from(window.width());
        bars[column as usize] += 1;
    }
    Ok(bars)
}

/// Counts in a hook, and waits for its end: much less work for each event.
async fn switches(scheduler: &AsyncScheduler<'_>, window: TimeWindow) -> Result<u64, SubmitError> {
    let count = std::rc::Rc::new(Cell::new(0));
    let counted = count.clone();
    let request =
        within(window).on_event("sched_switch", move |_, _| counted.set(counted.get() + 1));
    let mut end = scheduler.events(request, |_| None::<()>)?;
    while end.next().await.is_some() {}
    Ok(count.get())
}

/// A list from the middle, when the others are at it already: it comes first.
async fn list(
    scheduler: &AsyncScheduler<'_>,
    window: TimeWindow,
) -> Result<Vec<String>, SubmitError> {
    future::yield_now().await;
    let middle = window.begin().ns().saturating_add_unsigned(window.width() / 2);
    let ten = EventsRequest::new(Owner::fresh()).urgency(Urgency::HIGH).events(10);
    let line = scheduler.events(ten.from(Timestamp::from_ns(middle)), |call| {
        Some(format!("{} {}", call.time(), call.event.event_type().name()))
    })?;
    Ok(line.collect().await)
}
