//! Owned copies of events: the same contents as the borrowed events, in any thread.

use std::sync::mpsc;
use std::thread;

use ltt_read::schema::Scope;
use ltt_read::{
    Event, FieldInfo, Merge, OwnedEvent, OwnedStruct, OwnedValue, StructView, Value, open_all,
};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces");

/// Calls a function for each event of the bundled traces, and returns the number of events.
fn each(mut call: impl FnMut(&Event<'_>)) -> usize {
    let traces = open_all(TRACES).expect("the bundled traces");
    let (mut merge, mut events) = (Merge::new(&traces), 0);
    while let Some(event) = merge.next() {
        call(&event);
        events += 1;
    }
    events
}

fn is_same(owned: &OwnedValue, value: &Value<'_>) -> bool {
    match (owned, value) {
        (OwnedValue::Uint(a), Value::Uint(b)) => a == b,
        (OwnedValue::Sint(a), Value::Sint(b)) => a == b,
        (OwnedValue::Bool(a), Value::Bool(b)) => a == b,
        (OwnedValue::Bits(a), Value::Bits(b)) => a == b,
        (OwnedValue::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (OwnedValue::Str(a), Value::Str(b)) => *a == b.to_str_lossy(),
        (OwnedValue::Blob(a), Value::Blob(b)) => a == b,
        (OwnedValue::Struct(a), Value::Struct(b)) => is_same_struct(a, b),
        (OwnedValue::Array(a), Value::Array(b)) => {
            a.len() as u64 == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, &b))
        }
        _ => false,
    }
}

fn is_same_struct(owned: &OwnedStruct, view: &StructView<'_>) -> bool {
    let same = |((name, a), (info, b)): ((&str, &OwnedValue), (&FieldInfo, Value<'_>))| {
        Some(name) == info.name() && is_same(a, &b)
    };
    owned.len() == view.members().count() && owned.members().zip(view.members()).all(same)
}

#[test]
fn owned_events_have_the_contents_of_borrowed_ones() {
    let (mut fields, mut arrays) = (0, 0);
    let events = each(|event| {
        let owned = event.to_owned_event();
        assert_eq!(owned.timestamp(), event.timestamp());
        assert_eq!(owned.type_id(), event.type_id());
        assert_eq!(owned.name(), event.event_type().name());
        assert_eq!(owned.trace_index(), event.trace_index());
        assert_eq!(owned.tracefile_index(), event.tracefile_index());
        assert_eq!(owned.tracefile_name(), event.tracefile().name());
        assert_eq!(owned.cpu(), event.tracefile().cpu());
        for scope in Scope::ALL {
            let (owned_root, root) = (owned.scope(scope), event.scope(scope));
            assert_eq!(owned_root.is_some(), root.is_some());
            let Some((owned_root, root)) = owned_root.zip(root) else { continue };
            assert!(is_same_struct(owned_root, &root), "{owned_root} is not {root}");
            for (name, value) in owned_root.members() {
                fields += 1;
                arrays += usize::from(matches!(value, OwnedValue::Array(_)));
                assert_eq!(owned.field(name).is_some(), event.field(name).is_some());
            }
        }
        let (again, text) = (event.to_owned_event(), format!("{owned:?}"));
        assert_eq!(format!("{again:?}"), text);
        // NaN does not equal itself.
        assert_eq!(owned == again, !text.contains("Float(NaN)"), "{text}");
    });
    assert!(events > 6000 && fields > events && arrays > 0, "{events} {fields} {arrays}");
}

#[test]
fn owned_events_can_be_sent_to_another_thread() {
    fn is_independent<T: Send + Sync + 'static>() {}
    is_independent::<OwnedEvent>();
    let (sender, receiver) = mpsc::channel::<OwnedEvent>();
    let longest_name = thread::spawn(move || {
        let name = |event: &OwnedEvent| event.field("next_comm")?.as_str().map(str::len);
        let events: Vec<_> = receiver.iter().collect();
        (events.len(), events.iter().filter_map(name).max())
    });
    let mut expected = None;
    let events = each(|event| {
        let name = event.field("next_comm").and_then(|name| name.as_str());
        expected = expected.max(name.map(|name| name.to_str_lossy().len()));
        sender.send(event.to_owned_event()).expect("the thread receives until the end");
    });
    drop(sender);
    assert!(expected.is_some());
    assert_eq!(longest_name.join().expect("no panic"), (events, expected));
}

#[cfg(feature = "serde")]
#[test]
fn owned_events_are_serialized_in_a_plain_form() {
    let mut switch = None;
    each(|event| {
        if event.event_type().name() == "sched_switch" && switch.is_none() {
            switch = Some(event.to_owned_event());
        }
    });
    let switch = switch.expect("a kernel trace");
    let json = serde_json::to_value(&switch).expect("every key is a string");
    assert_eq!(json["time"], switch.timestamp().expect("a clock").as_ns());
    assert_eq!(json["name"], "sched_switch");
    assert_eq!(json["type"], switch.type_id().0);
    assert_eq!(json["tracefile"], switch.tracefile_name());
    assert_eq!(json["cpu"], switch.cpu().expect("a kernel trace"));
    assert_eq!(json["common_context"].is_null(), switch.scope(Scope::CommonContext).is_none());
    let payload = switch.scope(Scope::Payload).expect("a payload");
    assert_eq!(json["payload"].as_object().expect("a map").len(), payload.len());
    assert_eq!(json["payload"]["next_tid"], payload.get("next_tid").unwrap().as_i64().unwrap());
    assert_eq!(json["payload"]["next_comm"], payload.get("next_comm").unwrap().as_str().unwrap());
}

#[cfg(feature = "serde")]
#[test]
fn values_and_timestamps_are_serialized_in_a_plain_form() {
    let array = [OwnedValue::Sint(-1), OwnedValue::Bits(2), OwnedValue::Float(0.5)];
    let values = OwnedValue::Array(array.to_vec());
    assert_eq!(serde_json::to_string(&values).unwrap(), "[-1,2,0.5]");
    let blob = OwnedValue::Array(vec![OwnedValue::Blob(vec![1, 2]), OwnedValue::Bool(true)]);
    assert_eq!(serde_json::to_string(&blob).unwrap(), "[[1,2],true]");
    let time = ltt_read::Timestamp::from_ns(-5);
    assert_eq!(serde_json::to_string(&time).unwrap(), "-5");
    assert_eq!(serde_json::from_str::<ltt_read::Timestamp>("-5").unwrap(), time);
}
