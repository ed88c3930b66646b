//! Compiles any text as a filter of a trace. It is refused with diagnostics, or applied
//! to the trace's events, where the results known in advance must agree with those of the
//! events.
#![no_main]

use std::sync::{Arc, LazyLock};

use ltt_read::{Trace, TraceIndex};
use lttv_filter::{Expression, Filters, Verdict};

static TRACE: LazyLock<Arc<Trace>> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/kernel/kernel");
    Trace::open(path).expect("the bundled trace")
});

/// The number of events per tracefile, enough for all types of events.
const EVENTS: usize = 500;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(expression) = Expression::parse(text) else { return };
    let filters = match Filters::new(&expression, std::slice::from_ref(&*TRACE)) {
        Ok(filters) => filters,
        Err(error) => return drop((error.to_string(), error.render(false))),
    };
    let spans = filters.spans();
    let filter = filters.for_trace(TraceIndex(0)).expect("a filter of the only trace");
    for mut cursor in TRACE.cursors() {
        for _ in 0..EVENTS {
            let Ok(Some(event)) = cursor.next() else { break };
            let passes = filter.matches(&event);
            match filter.verdict(event.type_id()) {
                Verdict::Always => assert!(passes),
                Verdict::Never => assert!(!passes),
                Verdict::Depends => {}
            }
            if passes {
                let time = event.timestamp().expect("kernel events have times");
                assert!(spans.iter().any(|w| w.start <= time && time <= w.end));
                assert!(filters.can_match(TraceIndex(0), event.tracefile_index()));
            }
        }
    }
});
