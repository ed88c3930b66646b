//! Errors and notes for expressions that are compiled for several traces.

use std::path::Path;
use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use lttv_filter::{Expression, FilterError, Filters};

const LE: ByteOrder = ByteOrder::Little;

/// Builds a trace with one type of events.
fn write(dir: &Path, event: &str, fields: &[(&'static str, FieldClass)]) -> Arc<Trace> {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let class = FieldClass::structure(fields.iter().cloned());
    let event = schema.add_event_type(StreamClassId(0), event, class);
    let trace = TraceWriter::create(dir, schema).expect("a directory to write to");
    let stream = trace.stream(StreamClassId(0), "channel0_0").expect("a stream class");
    let mut stream = stream.with_packet_context(FieldValue::fields([("cpu_id", 0_u64)]));
    stream.event(event, 1000, FieldValue::fields::<&str, FieldValue>([])).expect("an event");
    stream.finish().expect("a sound stream");
    Trace::open(dir).expect("a sound trace")
}

/// Builds two traces: one with the event `corp:arrays`, the other without it.
struct Traces {
    _dir: tempfile::TempDir,
    other: Arc<Trace>,
    arrays: Arc<Trace>,
}

fn traces() -> Traces {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let other = [("tid", FieldClass::sint(32, LE)), ("size", FieldClass::uint(8, LE))];
    let arrays = [("length", FieldClass::uint(32, LE)), ("text", FieldClass::string())];
    Traces {
        other: write(&dir.path().join("a-other"), "sched_switch", &other),
        arrays: write(&dir.path().join("b-arrays"), "corp:arrays", &arrays),
        _dir: dir,
    }
}

/// Returns the error, which has to be independent of the order of the traces.
fn error(traces: &Traces, text: &str) -> FilterError {
    let expression = Expression::parse(text).expect(text);
    let [one, other] = [[&traces.other, &traces.arrays], [&traces.arrays, &traces.other]]
        .map(|order| Filters::new(&expression, &order.map(Arc::clone)).expect_err(text));
    assert_eq!(one, other, "{text}");
    one
}

#[test]
fn the_reported_fault_is_from_the_trace_with_the_names() {
    let traces = traces();
    let path = traces.arrays.path().display().to_string();
    for (text, fault) in [
        (
            "event.fields.corp:arrays.length == \"x\"",
            "column 36: an integer cannot be compared with text: \
             `event.fields.corp:arrays.length` is an integer, in the trace PATH",
        ),
        (
            "event.fields.corp:arrays.lenght == 1",
            "column 26: `corp:arrays` has no field `lenght`: in the trace PATH (perhaps `length`)",
        ),
        (
            "text > \"a\"",
            "column 1: text has no order for `>`: `text` is text, in the trace PATH \
             (text is compared by `==`, `!=`, `in` and `=~`)",
        ),
        (
            "event.fields.corp:arrays.length == 1 && length in (1, x)",
            "column 55: an integer cannot be compared with text: \
             `length` is an integer, in the trace PATH",
        ),
    ] {
        let error = error(&traces, text);
        assert_eq!(error.to_string(), fault.replace("PATH", &path));
        #[cfg(feature = "render")]
        assert!(error.render(false).contains(&format!("in the trace {path}\n")), "{text}");
    }
}

/// A name that is missing only in the other trace is no fault; further faults are
/// reported for the trace that has the name.
#[test]
fn a_name_that_is_nowhere_is_reported_for_the_best_trace() {
    let traces = traces();
    let error =
        error(&traces, "event.fields.corp:arrays.length == 1 && event.fields.corp:arays.x == 1");
    let path = traces.arrays.path().display();
    assert_eq!(
        error.to_string(),
        format!(
            "column 54: there is no event `corp:arays` in the trace: \
             in the trace {path} (perhaps `corp:arrays`)"
        )
    );
}

#[test]
fn a_fault_common_to_all_traces_names_no_trace() {
    let traces = traces();
    let error = error(&traces, "event.name == 5");
    assert!(!error.to_string().contains("in the trace"));
}

/// A part that is never true in one trace may be true in another one.
#[test]
fn notes_cover_all_traces_together() {
    let traces = traces();
    let notes = |text: &str, of: &[&Arc<Trace>]| {
        let of: Vec<Arc<Trace>> = of.iter().map(|trace| Arc::clone(trace)).collect();
        let filters = Filters::new(&Expression::parse(text).expect(text), &of).expect(text);
        filters.notes().to_string()
    };
    let (other, arrays) = (&traces.other, &traces.arrays);
    let text = "event.name == sched_switch";
    assert_eq!(
        notes(text, &[arrays]),
        "column 15: nothing passes this filter: `event.name` never equals this"
    );
    assert_eq!(notes(text, &[arrays, other]), "");
    assert_eq!(notes(text, &[other]), "column 1: everything passes this filter");
    let text = "size == 300";
    let noted = "column 1: nothing passes this filter: `size` holds integers from 0 to 255";
    assert_eq!(notes(text, &[other]), noted);
    assert_eq!(notes(text, &[other, arrays]), noted);
    let text = "size == 300 || length == 1";
    let noted = "column 1: this part is never true: `size` holds integers from 0 to 255";
    assert_eq!(notes(text, &[other, arrays]), noted);
    assert_eq!(
        notes("size < 300 || size == 1", &[other]),
        "column 1: everything passes this filter\n\
        column 1: this part is always true: `size` holds integers from 0 to 255"
    );
    // Traces that are added later count, too.
    let expression = Expression::parse("event.name == sched_switch").expect("sound");
    let mut filters = Filters::new(&expression, &[Arc::clone(arrays)]).expect("sound");
    assert!(filters.matches_none() && !filters.notes().is_empty());
    filters.set_traces(&[Arc::clone(arrays), Arc::clone(other)]).expect("sound");
    assert!(!filters.matches_none() && filters.notes().is_empty());
}

#[test]
fn the_end_of_a_damaged_read_is_an_error() {
    let metadata = b"/* CTF 1.8 */
        trace { major = 1; minor = 8; byte_order = le; };
        stream { packet.context := struct { integer { size = 8; } packet_size; }; };
        event { name = e; fields := struct { integer { size = 8; } n; }; };";
    // A packet of 2 bytes, and one that declares more bytes than the file has.
    for (bytes, is_sound) in [(vec![16, 1], true), (vec![16, 1, 200], false)] {
        let trace = Trace::from_memory(metadata, vec![("s".to_owned(), bytes)]).unwrap();
        let filters = Filters::new(&Expression::parse("n == 1").unwrap(), &[trace]).unwrap();
        let mut events = filters.read();
        assert!(events.next().is_some() && events.next().is_none());
        assert!(events.take_notices().is_empty());
        assert_eq!(events.finish().is_ok(), is_sound);
    }
}
