//! Time spans of traces: those of all events.

use std::sync::Arc;

use ltt_read::{OpenOptions, TimeSpan, Trace, open_all};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces");

fn span_of_events(trace: &Arc<Trace>, tracefile: usize) -> Option<TimeSpan> {
    let (mut cursor, mut span) = (trace.cursor(tracefile), None::<TimeSpan>);
    while let Some(event) = cursor.next().expect("a sound trace") {
        let Some(time) = event.timestamp() else { continue };
        let instant = TimeSpan { begin: time, end: time };
        span = Some(span.map_or(instant, |span| span.join(instant)));
    }
    span
}

#[test]
fn the_span_of_a_small_trace_is_that_of_its_events() {
    for trace in open_all(TRACES).expect("the bundled traces") {
        let spans = (0..trace.tracefiles().len()).map(|t| span_of_events(&trace, t));
        let spans: Vec<_> = spans.collect();
        let found = (0..spans.len()).map(|t| trace.time_span_of(t));
        assert_eq!(found.collect::<Vec<_>>(), spans, "{:?}", trace.path());
        let all = spans.into_iter().flatten().reduce(TimeSpan::join);
        assert!(all.is_some());
        assert_eq!(trace.time_span(), all, "{:?}", trace.path());
    }
}

#[test]
fn the_span_of_a_large_trace_encloses_its_events() {
    let options = OpenOptions::new().verify_times_up_to(0);
    let trace = options.open(format!("{TRACES}/kernel/kernel")).expect("a bundled trace");
    let all = trace.time_span().expect("a time");
    for tracefile in 0..trace.tracefiles().len() {
        let Some(of_events) = span_of_events(&trace, tracefile) else { continue };
        let span = trace.time_span_of(tracefile).expect("a time");
        assert_eq!(span.join(of_events), span, "{tracefile}");
        assert_eq!(all.join(span), all, "{tracefile}");
    }
}

#[test]
fn a_trace_without_a_clock_has_no_span() {
    let metadata = br#"/* CTF 1.8 */
        trace { major = 1; minor = 8; byte_order = le; };
        event { name = "tick"; fields := struct { integer { size = 8; } n; }; };"#;
    let trace = Trace::from_memory(metadata, [("s".to_owned(), vec![7])]).unwrap();
    assert_eq!((trace.time_span(), trace.time_span_of(0)), (None, None));
    let empty = Trace::from_memory(metadata, []).unwrap();
    assert_eq!(empty.time_span(), None);
}
