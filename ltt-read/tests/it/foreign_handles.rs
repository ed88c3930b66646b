//! Handles of fields belong to one trace: for events of others, all ways to read return nothing.

use std::sync::Arc;

use ltt_read::columns::{ColumnError, Columns};
use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::selection::{Shortcut, Verdict};
use ltt_read::tuning::{EventSequence, KeyFields, RangeTests};
use ltt_read::{ClockTransform, Event, Field, GrowingTrace, Merge, Trace, TracefileIndex};

fn example(name: &str) -> Arc<Trace> {
    let path = format!("{}/../examples/traces/{name}", env!("CARGO_MANIFEST_DIR"));
    ltt_read::open_all(path).unwrap().remove(0)
}

/// Returns the members of the payloads and contexts of all event types.
fn fields(trace: &Trace) -> Vec<Field> {
    let mut fields = Vec::new();
    for id in (0..trace.schema().event_types.len() as u32).map(EventTypeId) {
        for scope in
            [Scope::PacketContext, Scope::EventHeader, Scope::SpecificContext, Scope::Payload]
        {
            let root = trace.schema().root(id, scope).map(|root| root.kind.clone());
            let Some(ltt_read::schema::FieldKind::Struct(root)) = root else { continue };
            fields.extend(root.members.iter().filter_map(|it| trace.field(id, scope, &it.name)));
        }
    }
    fields
}

/// Calls a function with some events of a trace.
fn each(trace: &Arc<Trace>, mut call: impl FnMut(&Event<'_>)) {
    let mut merge = Merge::new(std::slice::from_ref(trace));
    for _ in 0..500 {
        let Some(event) = merge.next() else { return };
        call(&event);
    }
}

/// Pairs of a trace with fields, and one with events: other traces, and the same one opened again.
fn pairs() -> Vec<(Vec<Field>, Arc<Trace>, Arc<Trace>)> {
    let [kernel, again, user] = [example("kernel"), example("kernel"), example("ust")];
    let pairs = [(&kernel, &user), (&user, &kernel), (&kernel, &again)];
    pairs.map(|(of, events)| (fields(of), of.clone(), events.clone())).into()
}

#[test]
fn events_of_another_trace_have_no_such_field() {
    for (fields, _, events) in pairs() {
        assert!(fields.len() > 10);
        each(&events, |event| {
            for field in &fields {
                assert!(event.get(field).is_none());
                assert_eq!(event.integer(field), None);
                assert_eq!((event.bytes(field), event.text(field)), (None, None));
            }
        });
    }
}

#[test]
fn events_of_another_trace_have_no_key_and_pass_no_range_test() {
    for (fields, _, events) in pairs() {
        let keys: Vec<_> = fields.iter().filter_map(|field| KeyFields::new([(field, 4)])).collect();
        let tests = fields.iter().filter_map(|field| {
            let mut tests = RangeTests::default();
            tests.add(field, 0, u64::MAX).then_some(tests)
        });
        let tests: Vec<_> = tests.collect();
        assert!(keys.len() > 5 && tests.len() > 5);
        each(&events, |event| {
            let mut key = Vec::new();
            assert!(!keys.iter().any(|fields| event.key(fields, &mut key)) && key.is_empty());
            for tests in &tests {
                assert!(!event.all_in_range(tests));
                let shortcut = Shortcut::new(tests.clone(), false, Verdict::Always);
                assert!(!shortcut.passes(event, || unreachable!("it is not undecided")));
            }
        });
    }
}

#[test]
fn fields_of_two_traces_are_no_common_key_and_no_common_test() {
    let (a, b) = (example("kernel"), example("kernel"));
    let switch = a.event_types_named("sched_switch").next().unwrap();
    let field = |trace: &Trace| trace.field(switch, Scope::Payload, "next_tid").unwrap();
    assert!(KeyFields::new([(&field(&a), 4), (&field(&a), 4)]).is_some());
    assert!(KeyFields::new([(&field(&a), 4), (&field(&b), 4)]).is_none());
    let mut tests = RangeTests::default();
    assert!(tests.add(&field(&a), 0, 5) && !tests.add(&field(&b), 0, 5));
}

/// Columns take fields and events of their trace only, whichever way they are filled.
#[test]
fn columns_have_no_rows_of_another_trace() {
    for (fields, of, events) in pairs() {
        let types = of.schema().event_types.len() as u32;
        for field in &fields {
            let id = field.event_type();
            let Ok(mut columns) = Columns::new(&of, id, [field.clone()]) else { continue };
            each(&events, |event| assert!(!columns.push(event)));
            let mut cursor = events.cursor(TracefileIndex(0));
            assert!(cursor.read_columns(&mut columns, u64::MAX).unwrap() > 0);
            assert!(columns.is_empty());
            if id.0 < events.schema().event_types.len() as u32 {
                let error = Columns::new(&events, id, [field.clone()]).unwrap_err();
                assert!(matches!(error, ColumnError::OtherEventType { .. }), "{error}");
            }
        }
        for id in [types, u32::MAX].map(EventTypeId) {
            let error = Columns::new(&of, id, []).unwrap_err();
            assert!(matches!(error, ColumnError::NoEventType { event_type } if event_type == id));
        }
    }
}

/// A number of a sequence stands for one cursor, but events of several traces may be in one sequence.
#[test]
fn replayed_events_have_the_fields_of_their_own_trace() {
    let traces = [example("kernel"), example("ust")];
    let own = traces.each_ref().map(|trace| fields(trace));
    let (mut merge, mut sequence) = (Merge::new(&traces), EventSequence::default());
    while let Some(number) = merge.next().is_some().then(|| merge.current_tracefile()).flatten() {
        sequence.push(number, &merge.current().unwrap());
    }
    let mut read = [0; 2];
    sequence.replay(|_, event| {
        let of = event.trace_index().0;
        read[of] += own[of].iter().filter(|field| event.get(field).is_some()).count();
        assert!(own[1 - of].iter().all(|field| event.get(field).is_none()));
    });
    assert!(read.iter().all(|read| *read > 100), "{read:?}");
}

/// Other times, and a longer recording, are the same trace.
#[test]
fn handles_stay_valid_in_all_versions_of_their_trace() {
    let trace = example("kernel");
    let fields = fields(&trace);
    let later = trace.with_clock_transforms(|_| ClockTransform::from_offset(5)).unwrap();
    let mut read = 0;
    each(&later, |event| read += fields.iter().filter_map(|field| event.get(field)).count());
    assert!(read > 500);

    let event = |id| {
        format!(
            "event {{ name = e{id}; id = {id}; fields := struct {{ integer {{ size = 8; }} n; }}; }};"
        )
    };
    let metadata = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
        stream { event.header := struct { integer { size = 8; } id; }; };"
        .to_owned()
        + &event(0);
    let mut growing = GrowingTrace::new("ticks", metadata.as_bytes()).unwrap();
    let stream = growing.add_tracefile("stream");
    let n = growing.version().field(EventTypeId(0), Scope::Payload, "n").unwrap();
    assert!(growing.extend_metadata((metadata + &event(1)).as_bytes()).unwrap());
    growing.append(stream, vec![0, 7, 1, 8]);
    let mut merge = Merge::new(&[growing.version().clone()]);
    assert_eq!(merge.next().unwrap().integer(&n), Some(7));
    assert_eq!(merge.next().unwrap().integer(&n), None);
}
