//! Spans as objects of JSON.

use ltt_read::schema::Scope;
use ltt_read::{Event, Value};
use lttv_state::spans::{PeriodValue, SpanThread, Waker, error_name};
use serde_json::{Map, json};

use super::shown::Shown;

/// Returns the object of a span in JSON: all that is known of it, with times and durations in ns.
pub fn object(shown: &mut Shown<'_, '_, '_>) -> serde_json::Value {
    let (span, names) = (shown.span, shown.names);
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let thread =
        |thread: &SpanThread| json!({ "tid": thread.tid, "comm": text(names.comm(span, thread)) });
    let waker = match &span.waker {
        Waker::Interrupt => json!("interrupt"),
        Waker::Thread(waker) => thread(waker),
        _ => serde_json::Value::Null,
    };
    let trace = shown.traceset.traces().get(span.trace.0);
    let mut events = Vec::new();
    for place in [span.first, span.last] {
        let read = |event: &Event<'_>| {
            let time = event.timestamp().map(|time| time.as_ns());
            let name = event.event_type().name().to_owned();
            json!({ "name": name, "time": time, "fields": fields(event) })
        };
        events.push(place.and_then(|place| shown.reader.read(span.trace, place, read)));
    }
    let mut events = events.into_iter();
    let name = shown.name();
    let values = values(shown);
    let mut object = json!({
        "begin": span.begin.as_ns(),
        "end": span.end.as_ns(),
        "duration": span.duration(),
        "completeness": span.completeness.key(),
        "family": span.family.key(),
        "name": text(&name),
        "comm": text(names.comm(span, &span.thread)),
        "tid": span.thread.tid,
        "pid": span.thread.pid,
        "cpu": Some(span.cpu).filter(|cpu| *cpu != u32::MAX),
        "file": text(&shown.reader.file(span, names)),
        "result": span.result,
        "error": span.error().and_then(error_name),
        "waker": waker,
        "trace": trace.map(|trace| trace.path().display().to_string()),
        "begin_event": events.next().flatten(),
        "end_event": events.next().flatten(),
    });
    if !values.is_empty() {
        object["values"] = serde_json::Value::Object(values);
    }
    object
}

/// Returns the labels and values of a period; empty for other spans.
pub fn values(shown: &mut Shown<'_, '_, '_>) -> Map<String, serde_json::Value> {
    let values = shown.reader.period_values(shown.span, shown.names).into_iter();
    values.map(|(name, value)| (name.to_owned(), value_of_period(value))).collect()
}

/// Returns a label or value of a period.
fn value_of_period(value: Option<PeriodValue<'_>>) -> serde_json::Value {
    match value {
        Some(PeriodValue::Integer(value)) => {
            let signed = i64::try_from(value).map(|value| json!(value));
            signed.unwrap_or_else(|_| json!(u64::try_from(value).ok()))
        }
        Some(PeriodValue::Float(value)) => value_of(&Value::Float(value)),
        Some(PeriodValue::Text(text)) => json!(text),
        _ => serde_json::Value::Null,
    }
}

/// Returns the fields of an event's payload.
fn fields(event: &Event<'_>) -> serde_json::Value {
    let Some(payload) = event.scope(Scope::Payload) else { return serde_json::Value::Null };
    let members = payload
        .members()
        .map(|(field, value)| (field.name().unwrap_or("").to_owned(), value_of(&value)));
    serde_json::Value::Object(members.collect::<Map<_, _>>())
}

fn value_of(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Uint(value) | Value::Bits(value) => json!(value),
        Value::Sint(value) => json!(value),
        Value::Bool(value) => json!(value),
        Value::Float(value) if value.is_finite() => json!(value),
        Value::Float(value) => json!(value.to_string()),
        Value::Str(text) => json!(text.to_str_lossy()),
        Value::Blob(bytes) => {
            json!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        Value::Struct(of) => {
            let members = of
                .members()
                .map(|(field, value)| (field.name().unwrap_or("").to_owned(), value_of(&value)));
            serde_json::Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(of) => serde_json::Value::Array(of.iter().map(|of| value_of(&of)).collect()),
        _ => serde_json::Value::Null,
    }
}
