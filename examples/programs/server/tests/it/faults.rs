//! Faults of reading are in the model of the experiment, also after a start from the cache.

use crate::support::{Running, small_traces as traces};
use lttv_common::cache::Cache;
use lttv_common::clocks::Corrections;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_server::dataset::DatasetOptions;
use lttv_server::http::guard::Guard;
use serde_json::{Value, json};

const STATISTICS: &str = "/outputs/data/org.lttv.statistics/tree";
const HISTOGRAM: &str = "/outputs/XY/org.eclipse.tracecompass.internal.tmf.core.histogram\
                         .HistogramDataProvider/xy";

fn texts(model: &Value) -> String {
    let texts = model["faults"]["texts"].as_array().unwrap().iter();
    texts.map(|text| text.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

fn counts(model: &Value) -> (u64, u64) {
    let count = |of: &str| model["faults"][of].as_u64().unwrap();
    (count("errors"), count("warnings"))
}

#[test]
fn damaged_packets_are_told_once_by_all_reads_and_from_the_cache() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    traces::write_damaged(&path);
    let mut context = TracesetContext::new(Traceset::open(&path).unwrap());
    let events = context.read(&Bounds::all()).unwrap().events;
    let errors: Vec<_> = context.take_errors().iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 1);
    let parent = format!("{}/", directory.path().canonicalize().unwrap().display());
    let expected = errors[0].replace(&parent, "");
    let cache = Some(Cache::new(directory.path().join("cache"), u64::MAX));
    for run in ["new", "from the cache", "from the cache again"] {
        let options = DatasetOptions { cache: cache.clone(), ..DatasetOptions::default() };
        let server =
            Running::with(directory.path(), Guard::default(), Corrections::default(), options);
        let (experiment, model) = server.experiment("damaged", &[&path]);
        assert_eq!((&model["nbEvents"], counts(&model).0), (&events.into(), 1), "{run}");
        // Paths are those that clients know.
        assert!(texts(&model).contains(&expected), "{run}: {expected}, {model}");
        // Further reads meet the same.
        server.complete(&format!("{experiment}{STATISTICS}"), json!({}));
        let range = json!({ "start": 0, "end": 9000, "nbTimes": 2 });
        let filtered = json!({
            "requested_timerange": range, "requested_items": [1], "lttv_filter": "x >= 0",
        });
        server.complete(&format!("{experiment}{HISTOGRAM}"), filtered);
        assert_eq!(server.get(&experiment).json()["faults"], model["faults"], "{run}");
    }
}

#[test]
fn unreadable_traces_beside_others_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("two");
    traces::write(&path.join("good"), &[&[1, 2, 3]]);
    traces::write_unreadable(&path.join("bad"));
    let server = Running::start(directory.path(), Guard::default());
    let (_, model) = server.experiment("two", &[&path]);
    assert_eq!((&model["nbEvents"], counts(&model).0), (&json!(3), 1), "{model}");
    assert!(texts(&model).contains("bad"), "{model}");
}

#[test]
fn clocks_that_go_back_and_losses_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    traces::write(&path, &[&[1000, 1010], &[0, 10]]);
    let server = Running::start(directory.path(), Guard::default());
    let (_, model) = server.experiment("back", &[&path]);
    let (errors, warnings) = counts(&model);
    assert!(errors == 0 && warnings > 0, "{model}");
    // A trace without any fault has none.
    let path = directory.path().join("good");
    traces::write(&path, &[&[1, 2], &[3, 4]]);
    let (_, model) = server.experiment("good", &[&path]);
    assert_eq!(model["faults"], json!({ "errors": 0, "warnings": 0, "texts": [] }));
}
