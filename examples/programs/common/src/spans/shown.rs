//! A span with what its parts are read from.

use std::borrow::Cow;

use ltt_read::Event;
use lttv_context::Traceset;
use lttv_state::spans::{EventReader, Span, SpanNames, call_of_number};

/// A span to be shown, with what its parts are read from.
#[derive(Debug)]
pub struct Shown<'s, 't, 'n> {
    /// The span.
    pub span: &'s Span,
    /// The names that it refers to.
    pub names: &'s SpanNames<'n>,
    /// The reader of its events.
    pub reader: &'s mut EventReader<'t>,
    /// The traces.
    pub traceset: &'t Traceset,
}

impl<'n> Shown<'_, '_, 'n> {
    /// Returns the name of the span: of a system call, or its description.
    pub fn name(&mut self) -> Cow<'n, str> {
        match self.names.call(self.span) {
            Some("") => self.call().into(),
            Some(call) => call.into(),
            None => self.names.label(self.span).into(),
        }
    }

    /// Returns the name of the system call that its events name; empty if there is none.
    pub fn call(&mut self) -> String {
        let place = self.span.first.or(self.span.last);
        let name = place.and_then(|place| {
            let read = |event: &Event<'_>| match call_of_number(event) {
                Some(call) => call.to_owned(),
                None => call_of(event.event_type().name()),
            };
            self.reader.read(self.span.trace, place, read)
        });
        name.unwrap_or_default()
    }
}

/// Returns the name of the system call that an event begins or ends.
fn call_of(event: &str) -> String {
    let prefixes = ["syscall_entry_", "syscall_exit_", "sys_enter_", "sys_exit_", "sys_"];
    let name = event.rsplit(':').next().unwrap_or(event);
    if matches!(name, "sys_enter" | "sys_exit") {
        // The event has a number whose name is not known.
        return "?".to_owned();
    }
    let name = name.strip_prefix("compat_").unwrap_or(name);
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name).to_owned()
}
