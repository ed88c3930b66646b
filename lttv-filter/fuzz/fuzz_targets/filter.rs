//! Any text as a filter of a trace: refused with diagnostics, or compiled and used
//! on all of its events. What is known in advance must agree with what they say.
#![no_main]

use std::sync::{Arc, LazyLock};

use ltt_read::Trace;
use lttv_filter::{Expression, Filters, Verdict};

static TRACE: LazyLock<Arc<Trace>> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/kernel/kernel");
    Trace::open(path).expect("a bundled trace")
});

/// Enough to meet all types of events.
const EVENTS: usize = 500;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(expression) = Expression::parse(text) else { return };
    let filters = match Filters::new(&expression, std::slice::from_ref(&*TRACE)) {
        Ok(filters) => filters,
        Err(error) => return drop((error.to_string(), error.render(false))),
    };
    let spans = filters.spans();
    let filter = filters.of_trace(0).expect("of the only trace");
    for tracefile in 0..TRACE.tracefiles().len() {
        let mut cursor = TRACE.cursor(tracefile);
        for _ in 0..EVENTS {
            let Ok(Some(event)) = cursor.next() else { break };
            let passes = filter.matches(&event);
            match filter.verdict(event.type_id()) {
                Verdict::Always => assert!(passes),
                Verdict::Never => assert!(!passes),
                Verdict::Depends => {}
            }
            if passes {
                let time = event.timestamp().expect("in a kernel trace");
                assert!(spans.iter().any(|w| w.begin <= time && time <= w.end));
                assert!(filters.can_match(0, tracefile));
            }
        }
    }
});
