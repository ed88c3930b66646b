//! Time spans of traces, compared with the times of all events.

use std::sync::Arc;

use ltt_read::{OpenOptions, TimeSpan, Trace, TracefileIndex, open_all};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces");

fn span_of_events(trace: &Arc<Trace>, tracefile: usize) -> Option<TimeSpan> {
    let (mut cursor, mut span) = (trace.cursor(TracefileIndex(tracefile)), None::<TimeSpan>);
    while let Some(event) = cursor.next().expect("a sound trace") {
        let Some(time) = event.timestamp() else { continue };
        let instant = TimeSpan { start: time, end: time };
        span = Some(span.map_or(instant, |span| span.join(instant)));
    }
    span
}

/// Checks that spans enclose the events, which may lie within the packets.
fn check(trace: &Arc<Trace>) {
    let mut spans = Vec::new();
    for tracefile in 0..trace.tracefiles().len() {
        let (events, span) =
            (span_of_events(trace, tracefile), trace.time_span_of(TracefileIndex(tracefile)));
        spans.extend(span);
        let Some(events) = events else { continue };
        let span = span.expect("a time");
        assert_eq!(span.join(events), span, "{:?} {tracefile}", trace.path());
    }
    assert!(!spans.is_empty());
    assert_eq!(trace.time_span(), spans.into_iter().reduce(TimeSpan::join));
}

#[test]
fn the_span_of_a_small_trace_encloses_its_events() {
    open_all(TRACES).expect("the bundled traces").iter().for_each(check);
}

#[test]
fn the_span_of_a_large_trace_encloses_its_events() {
    let options = OpenOptions::new().verify_times_up_to(0);
    check(&options.open(format!("{TRACES}/kernel/kernel")).expect("a bundled trace"));
}

#[test]
fn a_trace_without_a_clock_has_no_span() {
    let metadata = br#"/* CTF 1.8 */
        trace { major = 1; minor = 8; byte_order = le; };
        event { name = "tick"; fields := struct { integer { size = 8; } n; }; };"#;
    let trace = Trace::from_memory(metadata, [("s".to_owned(), vec![7])]).unwrap();
    assert_eq!((trace.time_span(), trace.time_span_of(TracefileIndex(0))), (None, None));
    let empty = Trace::from_memory(metadata, []).unwrap();
    assert_eq!(empty.time_span(), None);
}
