//! A list of events that the user scrolls faster than it can be filled: requests for pages
//! that are no longer visible are cancelled. Under tokio, in one thread.

use std::error::Error;

use lttv_context::{Traceset, TracesetContext};
use lttv_requests::task::AsyncScheduler;
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler, SubmitError, Urgency};
use tokio_stream::StreamExt;

const ROWS: u64 = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: async_scroll TRACE")?;
    let context = TracesetContext::new(Traceset::open(path)?);
    let span = context.contexts().time_span().ok_or("no event has a time")?;
    let scheduler = AsyncScheduler::new(Scheduler::new(context));

    let user = async {
        // The user scrolls four times, and stays only at the last page.
        for turn in 1..=4 {
            let time = span.start.saturating_add(span.end.since(span.start) / 5 * turn);
            let page = EventsRequest::new(Owner::unique()).urgency(Urgency::HIGH).starting_at(time);
            let mut rows = scheduler.events(page.max_events(ROWS), |call| {
                Some(format!("{} {}", call.event_time(), call.event.event_type().name()))
            })?;
            while let Some(row) = rows.next().await {
                println!("page {turn}: {row}");
                if turn < 4 {
                    break; // Dropping `rows` cancels the request.
                }
            }
        }
        scheduler.close();
        Ok::<(), SubmitError>(())
    };
    let reader = async {
        // Small chunks, so that requests are still pending when they are cancelled.
        let mut chunks = scheduler.serve(Budget::events(5));
        while chunks.next().await.is_some() {}
    };
    let (result, ()) = tokio::join!(user, reader);
    Ok(result?)
}
