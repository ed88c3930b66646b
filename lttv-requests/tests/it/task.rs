//! Requests in asynchronous code.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_lite::{StreamExt, future};
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::task::AsyncScheduler;
use lttv_requests::{Budget, EventsRequest, FinishReason, Owner, Scheduler, SubmitError, Urgency};

const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
const EVENTS: usize = 6087;

fn scheduler<'h>() -> AsyncScheduler<'h> {
    AsyncScheduler::new(Scheduler::new(TracesetContext::new(Traceset::open(KERNEL).unwrap())))
}

fn request<'h>() -> EventsRequest<'h> {
    EventsRequest::new(Owner::unique())
}

/// Serves until the scheduler is closed. Returns the number of events read.
async fn drive(scheduler: &AsyncScheduler<'_>, budget: Budget) -> u64 {
    let mut chunks = scheduler.serve(budget);
    let mut read = 0;
    while let Some(chunk) = chunks.next().await {
        read += chunk.read;
    }
    read
}

#[test]
fn streams_share_a_read_and_hold_a_limited_number_of_items() {
    let scheduler = scheduler();
    let numbered = || {
        let mut number = 0;
        scheduler.events(request(), move |_| {
            number += 1;
            Some(number)
        })
    };
    let (mut slow, mut quick) = (numbered().unwrap(), numbered().unwrap());
    let (ahead, done) = (Cell::new(0), Cell::new(0));
    let viewers = async {
        let slow = async {
            let mut last = 0;
            while let Some(number) = slow.next().await {
                assert_eq!(number, last + 1);
                last = number;
                ahead.set(number);
                // The number of turns in which it does not read.
                future::yield_now().await;
                future::yield_now().await;
            }
            done.set(done.get() + last);
        };
        let quick = async {
            let mut last = 0;
            while let Some(number) = quick.next().await {
                last = number;
                assert!(last - ahead.get() <= 4096 + 1, "{last} {}", ahead.get());
            }
            done.set(done.get() + last);
        };
        future::zip(slow, quick).await;
        scheduler.close();
    };
    let (read, ()) =
        future::block_on(future::zip(drive(&scheduler, Budget::events(1000)), viewers));
    assert_eq!((read as usize, done.get()), (EVENTS, 2 * EVENTS));
    assert_eq!(slow.reason(), Some(FinishReason::EndOfTraceset));
}

#[test]
fn dropping_a_stream_cancels_its_request() {
    let ended = RefCell::new(Vec::new());
    let scheduler = scheduler();
    // Both streams are full before the first is read.
    let noting = |name: &'static str| {
        let ended = &ended;
        request().after_request(move |_, _, reason| ended.borrow_mut().push((name, reason)))
    };
    let unread = scheduler.events(noting("unread"), |call| Some(call.delivery_time())).unwrap();
    let mut read = scheduler.events(noting("read"), |call| Some(call.delivery_time())).unwrap();
    let viewer = async {
        let mut unread = Some(unread);
        let mut count = 0;
        while let Some(_time) = read.next().await {
            count += 1;
            if count == 4000 {
                drop(unread.take());
            }
        }
        scheduler.close();
        count
    };
    let (_, count) = future::block_on(future::zip(drive(&scheduler, Budget::events(1000)), viewer));
    assert_eq!(count, EVENTS);
    assert_eq!(
        *ended.borrow(),
        [("unread", FinishReason::Cancelled), ("read", FinishReason::EndOfTraceset)]
    );
}

#[test]
fn waiting_tasks_are_woken() {
    let found = Rc::new(Cell::new(None));
    let scheduler = scheduler();
    let viewer = async {
        // The driver has no work yet.
        future::yield_now().await;
        let mut first =
            scheduler.events(request().max_events(3), |call| Some(call.delivery_time())).unwrap();
        let mut times = Vec::new();
        while let Some(time) = first.next().await {
            times.push(time);
        }
        // Requests can be submitted while it is idle or paused.
        scheduler.with(|scheduler| scheduler.pause()).unwrap();
        let urgent = request().urgency(Urgency::HIGH).starting_at(times[2]).max_events(1);
        let mut second = scheduler.events(urgent, |call| Some(call.delivery_time())).unwrap();
        assert!(future::poll_once(second.next()).await.is_none());
        scheduler.with(|scheduler| scheduler.resume()).unwrap();
        assert_eq!(second.next().await, Some(times[2]));
        assert_eq!(second.next().await, None);
        // The stream of a request that is cancelled before it starts ends, too.
        scheduler.with(|scheduler| scheduler.pause()).unwrap();
        let mut never = scheduler.events(request(), |call| Some(call.delivery_time())).unwrap();
        let cancelled = scheduler.with(|scheduler| scheduler.cancel(never.request()));
        let cancelled = cancelled.map(|end| end.is_some_and(|end| !end.started));
        assert_eq!((cancelled, never.next().await, never.reason()), (Some(true), None, None));
        scheduler.with(|scheduler| scheduler.resume()).unwrap();
        // Hooks use their control instead.
        let (own, error) = (scheduler.clone(), found.clone());
        let hook = request().max_events(1).on_every_event(move |_, _| {
            error.set(own.submit(request()).err());
        });
        scheduler.submit(hook).unwrap();
        while found.get().is_none() {
            future::yield_now().await;
        }
        assert_eq!(found.get(), Some(SubmitError::InHook));
        scheduler.with(|scheduler| scheduler.stop_all());
        scheduler.close();
    };
    future::block_on(future::zip(drive(&scheduler, Budget::events(1)), viewer));
}
