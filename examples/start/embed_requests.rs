//! A user interface that stays responsive while three viewers read one trace: it draws a
//! frame and passes the remaining time to `service_chunk`. There is no second thread.
//!
//! ```text
//! cargo run --release -p lttv-start --example embed_requests -- [TRACE]
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use lttv_context::{EventCall, Subscription, Traceset, TracesetContext};
use lttv_requests::views::{SharedView, TimeWindow};
use lttv_requests::{
    Budget, Control, EventsRequest, Owner, Scheduler, Urgency, Viewer, ViewerHandle,
};

/// The number of bars of the histogram.
const COLUMNS: usize = 60;

/// A viewer of the numbers of events in the columns of a window.
struct Histogram {
    window: TimeWindow,
    counts: [u32; COLUMNS],
}

impl Viewer for Histogram {
    fn event(&mut self, call: &mut EventCall<'_, '_>, _: &Control<'_>) {
        let offset = u128::from(call.event_time().since(self.window.start()));
        let column = offset * COLUMNS as u128 / u128::from(self.window.width());
        if let Some(count) = self.counts.get_mut(column as usize) {
            *count += 1;
        }
    }
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

/// A viewer of a list of events.
struct List(Vec<String>);

impl Viewer for List {
    fn event(&mut self, call: &mut EventCall<'_, '_>, _: &Control<'_>) {
        self.0.push(format!("{} {}", call.event_time(), call.event.event_type().name()));
    }
}

/// The trace that comes with the programs.
const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel");

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or(BUNDLED.to_owned());
    let context = TracesetContext::new(Traceset::open(path)?);
    let (traceset, span) = (context.traceset().revision(), context.contexts().time_span());
    let mut tab: SharedView<String> = SharedView::new(traceset, span);
    tab.fit(None);
    let window = tab.window();
    let mut scheduler = Scheduler::new(context);

    // A histogram and a counter of the whole window, which are read together.
    let overview =
        || EventsRequest::new(Owner::unique()).starting_at(window.start()).until(window.end());
    let histogram = Histogram { window, counts: [0; COLUMNS] };
    let histogram = scheduler.submit_viewer(overview(), histogram)?;
    let switches = scheduler.submit_viewer(overview(), Switches(0))?;

    let mut list: Option<ViewerHandle<List>> = None;
    let (mut frames, mut longest) = (0, Duration::ZERO);
    loop {
        frames += 1;
        let begin = Instant::now();
        let chunk = scheduler.service_chunk(Budget::time(Duration::from_millis(2)).and_events(500));
        longest = longest.max(begin.elapsed());
        if let Some((bars, count)) = scheduler.viewer(histogram).zip(scheduler.viewer(switches)) {
            let lines = list.and_then(|list| scheduler.viewer(list));
            draw(frames, &bars.counts, count.0, lines.as_ref().map_or(&[], |list| &list.0));
        }
        if frames == 4 {
            // The user clicks: a list of ten events from that time has precedence.
            tab.set_time(window.start().saturating_add(window.width() / 2), None);
            let ten = EventsRequest::new(Owner::unique())
                .urgency(Urgency::HIGH)
                .starting_at(tab.time())
                .max_events(10);
            list = Some(scheduler.submit_viewer(ten, List(Vec::new()))?);
        } else if !chunk.has_more() && list.is_some() {
            break;
        }
    }
    println!("{frames} frames, longest call {longest:?}");
    for error in scheduler.context().merge().errors() {
        eprintln!("{error:?}");
    }
    Ok(())
}

/// Draws a frame: a line of text in place of a user interface.
fn draw(frame: u32, histogram: &[u32], switches: u64, list: &[String]) {
    let most = histogram.iter().copied().max().unwrap_or(0).max(1);
    let bars = ['.', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |count: &u32| bars[(u64::from(*count) * 8).div_ceil(u64::from(most)) as usize];
    let bars: String = histogram.iter().map(bar).collect();
    println!("{frame:3} {bars} {switches} switches");
    if frame.is_multiple_of(5) {
        for line in list.iter().take(3) {
            println!("      {line}");
        }
    }
}
