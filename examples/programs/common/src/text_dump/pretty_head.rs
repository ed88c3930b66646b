//! The text before the fields of an event that depends only on the event type: trace, log
//! level, name.

use std::borrow::Cow;

use ltt_read::schema::{EnvValue, EventType, LogLevel, Schema};

use super::options::{HeaderFields, Names};
use crate::escape;
use crate::text::palette::Palette;

/// The formatter of the start of lines, from after the timestamp to the first scope.
pub(super) struct Head<'a> {
    pub(super) names: Names,
    pub(super) fields: HeaderFields,
    pub(super) palette: Palette,
    /// Escapes control characters.
    pub(super) escaped: bool,
    pub(super) trace_name: &'a str,
    pub(super) schema: &'a Schema,
}

impl Head<'_> {
    /// Formats the start of the lines of an event type.
    pub(super) fn of(&self, event_type: &EventType) -> String {
        let stream = &self.schema.stream_classes[event_type.stream.index()];
        let mut line = Line {
            text: String::new(),
            names: self.names.header,
            // A timestamp without a name ends in a blank; one with a name needs a comma
            // after it.
            commas: stream.default_clock.is_some() && self.names.header,
            origin: false,
            palette: self.palette,
            escaped: self.escaped,
        };
        if self.fields.trace {
            line.field("trace", "", self.trace_name);
            line.origin = false;
            if line.names {
                line.text.push_str(", ");
            }
        }
        let env = |wanted: bool, name| self.schema.env(name).filter(|_| wanted);
        if let Some(host) = env(self.fields.hostname, "hostname") {
            line.field("trace:hostname", "", &host.to_string());
        }
        if let Some(domain) = env(self.fields.domain, "domain") {
            line.field("trace:domain", ":", &domain.to_string());
        }
        if let Some(procname) = env(self.fields.procname, "procname") {
            line.field("trace:procname", ":", &procname.to_string());
        }
        if let Some(EnvValue::Int(vpid)) = env(self.fields.vpid, "vpid") {
            line.field("trace:vpid", ":", &format!("({vpid})"));
        }
        if self.fields.loglevel
            && let Some(level) = event_type.log_level
            && let Some(LogLevel { constant, .. }) = LogLevel::of(level)
        {
            line.field("loglevel", ":", &format!("{constant} ({level})"));
        }
        if self.fields.emf
            && let Some(uri) = &event_type.emf_uri
        {
            line.field("model.emf.uri", ":", uri);
        }
        line.finish(event_type.identity.name.as_deref())
    }
}

/// The start of a line under construction.
struct Line {
    text: String,
    /// Prints the names of fields.
    names: bool,
    /// Prints a comma before each field.
    commas: bool,
    /// `true` after a field about the origin of the event.
    origin: bool,
    palette: Palette,
    escaped: bool,
}

impl Line {
    /// Adds a header field. `glue` separates it from the previous one if names are not
    /// printed.
    fn field(&mut self, name: &str, glue: &str, value: &str) {
        if self.commas {
            self.text.push_str(", ");
        }
        if self.names {
            self.name(name);
        } else if self.origin {
            self.text.push_str(glue);
        }
        let value = self.shown(value);
        self.text.push_str(&value);
        self.origin = true;
    }

    /// Returns a text of the trace, escaped if necessary.
    fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.escaped { escape::name(text) } else { text.into() }
    }

    fn name(&mut self, name: &str) {
        for part in [self.palette.heading, name, self.palette.reset, " = "] {
            self.text.push_str(part);
        }
    }

    /// Adds the event name, and returns the text.
    fn finish(mut self, event_name: Option<&str>) -> String {
        if self.origin && !self.names {
            self.text.push(' ');
        }
        if self.commas {
            self.text.push_str(", ");
        }
        if self.names {
            self.name("name");
        }
        let code = match event_name {
            Some(_) => self.palette.event_name,
            None => self.palette.unknown,
        };
        let end = if self.names { ", " } else { ": " };
        let event_name = self.shown(event_name.unwrap_or("<unknown>"));
        for part in [code, &*event_name, self.palette.reset, end] {
            self.text.push_str(part);
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::schema::{Format, StreamClass, StreamClassId};

    use super::*;
    use crate::text_dump::options::{HeaderField, NameGroup};

    fn head(clock: bool, names: &[NameGroup], fields: &[HeaderField], trace_name: &str) -> String {
        let mut schema = Schema::new(Format::Ctf1);
        let mut stream = StreamClass::new(0);
        stream.default_clock = clock.then_some(0);
        schema.stream_classes.push(stream);
        if !trace_name.is_empty() {
            let text = |s: &str| EnvValue::Str(s.to_owned());
            schema.env = vec![
                ("hostname".into(), text("vm")),
                ("domain".into(), text("ust")),
                ("procname".into(), text("app")),
                ("vpid".into(), EnvValue::Int(77)),
            ];
        }
        let mut event_type = EventType::new(StreamClassId(0), 1, "ev");
        event_type.log_level = Some(13);
        event_type.emf_uri = Some("http://x".into());
        let (names, fields) = (Names::of(names), HeaderFields::of(fields));
        let head = Head {
            names,
            fields,
            palette: Palette::PLAIN,
            escaped: false,
            trace_name,
            schema: &schema,
        };
        head.of(&event_type)
    }

    /// The expected texts come from babeltrace2 for traces like these.
    #[test]
    fn commas_and_colons() {
        use HeaderField::{All, Domain, Emf, Hostname, Loglevel, Trace};
        let names = &[NameGroup::All];
        assert_eq!(head(true, &[], &[], "vm/k"), "vm:app:(77) ev: ");
        assert_eq!(
            head(true, &[], &[All], "vm/k"),
            "vm/kvm:ust:app:(77):TRACE_DEBUG_LINE (13):http://x ev: "
        );
        assert_eq!(
            head(true, names, &[All], "vm/k"),
            ", trace = vm/k, , trace:hostname = vm, trace:domain = ust, trace:procname = app, \
             trace:vpid = (77), loglevel = TRACE_DEBUG_LINE (13), model.emf.uri = http://x, \
             name = ev, "
        );
        assert_eq!(head(false, &[], &[Trace, Domain], ""), "ev: ");
        assert_eq!(head(false, names, &[Trace, Hostname], ""), "trace = , name = ev, ");
        assert_eq!(head(false, names, &[Domain], "x"), "trace:domain = ustname = ev, ");
        assert_eq!(head(true, &[], &[Trace], "vm/k"), "vm/kev: ");
        assert_eq!(head(true, &[], &[Loglevel, Emf], ""), "TRACE_DEBUG_LINE (13):http://x ev: ");
        assert_eq!(head(true, &[], &[HeaderField::None], "x"), "ev: ");
    }
}
