//! All fields of an event, one per line, with their types.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use ltt_read::Event;
use ltt_read::schema::{EventType, LogLevel, Scope};
use lttv_context::{Bounds, Traceset, TracesetContext, TracesetPosition};

use self::fields::Fields;

mod fields;

/// An event with all fields of all its scopes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventDetail {
    /// The name of the event.
    pub name: String,
    /// The place in which the event was recorded, and its type: names and values.
    pub facts: Vec<(&'static str, String)>,
    /// The fields, by scope.
    pub fields: Vec<FieldLine>,
}

/// A field, or the heading of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldLine {
    /// The depth in the structure: 0 for the heading of a scope.
    pub depth: u16,
    /// The name, or the index of an element in brackets.
    pub name: String,
    /// The value; empty for fields with parts.
    pub value: String,
    /// The type; empty for the heading of a scope.
    pub class: String,
}

/// The scopes: those first that vary most between events.
const SCOPES: [(Scope, &str); 6] = [
    (Scope::Payload, "payload"),
    (Scope::SpecificContext, "specific context"),
    (Scope::CommonContext, "common context"),
    (Scope::EventHeader, "event header"),
    (Scope::PacketContext, "packet context"),
    (Scope::PacketHeader, "packet header"),
];

impl EventDetail {
    /// Reads the event at a position; `None` if there is none.
    pub fn read(traceset: &Traceset, position: &TracesetPosition) -> Option<Self> {
        let found = Rc::new(RefCell::new(None));
        let to = found.clone();
        let mut context = TracesetContext::new(traceset);
        context.seek_position(position).ok()?;
        context.on_event("*", move |call| {
            *to.borrow_mut() = Some(EventDetail::of(&call.event));
            ControlFlow::<()>::Break(())
        });
        // No bound is a position, which could be of another traceset.
        let _ = context.read(&Bounds::all());
        found.take()
    }

    /// Copies an event.
    pub fn of(event: &Event<'_>) -> Self {
        let (trace, tracefile, of) = (event.trace(), event.tracefile(), event.event_type());
        let mut facts = vec![
            ("trace", trace.path().display().to_string()),
            ("tracefile", tracefile.name().to_owned()),
        ];
        let some = |name, value: Option<String>| value.map(|value| (name, value));
        facts.extend(some("CPU", tracefile.cpu().map(|cpu| cpu.to_string())));
        facts.extend(some("channel", Some(tracefile.channel().to_owned())));
        facts.extend(some("event id", Some(of.id.to_string())));
        facts.extend(some("log level", of.log_level.map(log_level)));
        facts.extend(some("model URI", of.emf_uri.as_ref().map(ToString::to_string)));
        facts.extend(some("clock", event.cycles().map(|cycles| format!("{cycles} cycles"))));
        facts.retain(|(_, value)| !value.is_empty());
        let mut fields = Fields::default();
        for (scope, title) in SCOPES {
            if event.has_scope(scope) {
                fields.open_scope(title);
                event.visit(scope, &mut fields);
                fields.close_scope();
            }
        }
        EventDetail { name: name(of), facts, fields: fields.finish() }
    }
}

/// Returns the name of an event type, or its number if it has none.
fn name(of: &EventType) -> String {
    match of.name() {
        "" => format!("event {}", of.id),
        name => name.to_owned(),
    }
}

/// Returns the name and the number of a log level of LTTng.
fn log_level(level: i64) -> String {
    match LogLevel::of(level) {
        Some(LogLevel { name, .. }) => format!("{} ({level})", name.replace(':', ": ")),
        None => level.to_string(),
    }
}
