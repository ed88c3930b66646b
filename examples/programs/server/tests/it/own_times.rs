//! Answers about a clock that goes back have the events' own times.

use crate::support::small_traces::write;
use crate::support::{Running, span};
use lttv_context::{Bounds, Subscription, Traceset, TracesetContext};
use lttv_server::http::guard::Guard;
use serde_json::{Value, json};

const EVENTS: &str = "/outputs/table/org.eclipse.tracecompass.internal.provisional.tmf.core.model\
                      .events.TmfEventTableDataProvider/lines";
const HISTOGRAM: &str = "/outputs/XY/org.eclipse.tracecompass.internal.tmf.core.histogram\
                         .HistogramDataProvider/xy";

/// The times of events of packets: the second one is before the first one, and the fourth one overlaps others.
const PACKETS: [&[i64]; 4] =
    [&[1000, 1010, 1190], &[0, 10, 20, 190], &[2000, 2050], &[1100, 1500, 2060]];

/// Returns the own times of the events that pass a filter, in the order of delivery.
fn own_times(path: &std::path::Path, wanted: impl Fn(u64) -> bool) -> Vec<i64> {
    let mut times = Vec::new();
    let mut context = TracesetContext::new(Traceset::open(path).unwrap());
    context.on_event(Subscription::to_every_event(), |call| {
        let number = call.event.field("x").and_then(|of| of.as_i64()).unwrap() as u64;
        if wanted(number) {
            times.push(call.event.timestamp().unwrap().as_ns());
        }
    });
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    drop(context);
    times
}

fn cells(lines: &Value) -> Vec<i64> {
    let lines = lines["lines"].as_array().unwrap().iter();
    lines.map(|line| line["cells"][0]["content"].as_str().unwrap().parse().unwrap()).collect()
}

#[test]
fn tables_histograms_and_spans_have_the_times_of_the_events_themselves() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    write(&path, &PACKETS);
    let server = Running::start(directory.path(), Guard::default());
    let (experiment, model) = server.experiment("back", &[&path]);
    assert_eq!(span(&model), (0, 2060));
    assert_eq!(span(&model["traces"][0]), (0, 2060));
    for filter in ["", "x > 0"] {
        let times = own_times(&path, |x| filter.is_empty() || x > 0);
        assert!(times.windows(2).any(|pair| pair[1] < pair[0]));
        let lines = json!({
            "requested_table_index": 0, "requested_table_count": 100, "lttv_filter": filter,
        });
        let lines = server.complete(&format!("{experiment}{EVENTS}"), lines);
        assert_eq!(cells(&lines), times, "{filter:?}");
        for (start, end) in [(0, 500), (0, 20), (20, 190), (1000, 1500), (1011, 2000), (0, 3000)] {
            let range = json!({ "start": start, "end": end, "nbTimes": 2 });
            let request = json!({
                "requested_timerange": range, "requested_items": [1], "lttv_filter": filter,
            });
            let histogram = server.complete(&format!("{experiment}{HISTOGRAM}"), request);
            let counts = histogram["series"][0]["yValues"].as_array().unwrap().iter();
            let count: f64 = counts.map(|count| count.as_f64().unwrap()).sum();
            let expected = times.iter().filter(|time| (start..=end).contains(*time)).count();
            assert_eq!(count, expected as f64, "{filter:?}, {start} to {end}");
        }
    }
}
