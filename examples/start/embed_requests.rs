//! A user interface that stays responsive while three viewers read one trace: it draws a
//! frame and passes the remaining time to `service_chunk`. There is no second thread.
//!
//! ```text
//! cargo run --release -p lttv-start --example embed_requests -- [TRACE]
//! ```

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::time::{Duration, Instant};

use lttv_context::{Level, Traceset, TracesetContext};
use lttv_requests::views::SharedView;
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler, Urgency};

/// The number of bars of the histogram.
const COLUMNS: usize = 60;

/// The data of the viewers, which the hooks of their requests fill in.
#[derive(Default)]
struct Views {
    histogram: RefCell<Vec<u32>>,
    switches: Cell<u64>,
    list: RefCell<Vec<String>>,
}

/// The trace that comes with the programs.
const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel");

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or(BUNDLED.to_owned());
    let views = &Views::default();
    let context = TracesetContext::new(Traceset::open(path)?);
    let (traceset, span) = (context.traceset().revision(), context.contexts().time_span());
    let mut tab: SharedView<String> = SharedView::new(traceset, span);
    tab.fit(None);
    let window = tab.window();
    let mut scheduler = Scheduler::new(context);

    // A histogram and a counter of the whole window, which are read together.
    views.histogram.replace(vec![0; COLUMNS]);
    let column = move |time: ltt_read::Timestamp| {
        let offset = u128::from(time.since(window.start()));
        (offset * COLUMNS as u128 / u128::from(window.width())) as usize
    };
    let overview =
        || EventsRequest::new(Owner::unique()).starting_at(window.start()).until(window.end());
    scheduler.submit(overview().on_every_event(move |call, _| {
        if let Some(count) = views.histogram.borrow_mut().get_mut(column(call.time())) {
            *count += 1;
        }
    }))?;
    scheduler.submit(overview().on_event("sched_switch", |_, _| {
        views.switches.set(views.switches.get() + 1);
    }))?;

    let (mut clicked, mut frames, mut longest) = (false, 0, Duration::ZERO);
    loop {
        draw(views, frames, clicked);
        frames += 1;
        let begin = Instant::now();
        let chunk = scheduler.service_chunk(Budget::time(Duration::from_millis(2)).and_events(500));
        longest = longest.max(begin.elapsed());
        if frames == 4 && !clicked {
            // The user clicks: a list of ten events from that time has precedence.
            clicked = true;
            tab.set_time(window.start().saturating_add(window.width() / 2), None);
            let list = EventsRequest::new(Owner::unique())
                .urgency(Urgency::HIGH)
                .starting_at(tab.time())
                .max_events(10)
                .before_chunk(Level::Traceset, |_, _| views.list.borrow_mut().clear())
                .on_every_event(|call, _| {
                    let line = format!("{} {}", call.time(), call.event.event_type().name());
                    views.list.borrow_mut().push(line);
                });
            scheduler.submit(list)?;
        }
        if !chunk.has_more() && clicked {
            break;
        }
    }
    draw(views, frames, clicked);
    println!("{} frames, longest call {longest:?}", frames + 1);
    for error in scheduler.context().merge().errors() {
        eprintln!("{error}");
    }
    Ok(())
}

/// Draws a frame: a line of text in place of a user interface.
fn draw(views: &Views, frame: u32, with_list: bool) {
    let histogram = views.histogram.borrow();
    let most = histogram.iter().copied().max().unwrap_or(0).max(1);
    let bars = ['.', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |count: &u32| bars[(u64::from(*count) * 8).div_ceil(u64::from(most)) as usize];
    let bars: String = histogram.iter().map(bar).collect();
    println!("{frame:3} {bars} {} switches", views.switches.get());
    if with_list && frame.is_multiple_of(5) {
        for line in views.list.borrow().iter().take(3) {
            println!("      {line}");
        }
    }
}
