//! Babeltrace's text: byte for byte what `sink.text.pretty` of babeltrace 2.1
//! prints.

use std::sync::Arc;

use ltt_read::schema::{EventType, FieldClass, Schema, Scope};

use super::EventText;
use super::clock_text::{ClockStyle, ClockText};
use super::fields::{EnumStyle, Fields, Style, is_internal};
use super::nesting::Nesting;
use super::number::{self, HexCase};
use super::options::{HeaderFields, Names};
use super::palette::Palette;
use super::pretty_head::Head;
use crate::reader::{Event, Trace};

/// What can be chosen about the text.
#[derive(Debug, Clone, Copy)]
pub struct PrettyOptions {
    /// Names to show.
    pub names: Names,
    /// Header fields to show.
    pub fields: HeaderFields,
    /// Show the time since the event before.
    pub delta: bool,
    /// Terminal colours.
    pub colored: bool,
}

/// Prints events as babeltrace2 does.
#[derive(Debug)]
pub struct Pretty {
    clock: ClockText,
    delta: bool,
    names_in_header: bool,
    palette: Palette,
    styles: ScopeStyles,
    /// For each trace, what each of its event types decides.
    types: Vec<Vec<TypeText>>,
    nesting: Nesting,
    /// Time of the last event in nanoseconds or cycles.
    last: Option<u64>,
}

/// Styles of packet context, other contexts, payload.
#[derive(Debug)]
struct ScopeStyles {
    packet: Style,
    context: Style,
    payload: Style,
}

/// The part of a line that its event type decides.
#[derive(Debug)]
struct TypeText {
    has_clock: bool,
    head: String,
    /// The scopes that are printed, and the text before each.
    scopes: Vec<(Scope, String)>,
}

impl Pretty {
    /// Prints events of these traces, which are called by these names.
    pub fn new(
        traces: &[Arc<Trace>],
        trace_names: &[String],
        clock: ClockText,
        options: &PrettyOptions,
    ) -> Self {
        let palette = if options.colored { Palette::COLORED } else { Palette::PLAIN };
        let style = Style {
            names: options.names.context,
            indices: true,
            hide_roles: false,
            columns: false,
            hex: HexCase::Upper,
            enums: EnumStyle::Container,
            palette: options.colored.then_some(palette),
        };
        let types = traces.iter().zip(trace_names).map(|(trace, trace_name)| {
            let schema = trace.schema();
            let PrettyOptions { names, fields, .. } = *options;
            let head = Head { names, fields, palette, trace_name, schema };
            schema.event_types.iter().map(|t| TypeText::new(&head, t)).collect()
        });
        Pretty {
            clock,
            delta: options.delta,
            names_in_header: options.names.header,
            palette,
            styles: ScopeStyles {
                packet: Style { hide_roles: true, ..style },
                context: style,
                payload: Style { names: options.names.payload, ..style },
            },
            types: types.collect(),
            nesting: Nesting::default(),
            last: None,
        }
    }

    fn timestamp(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let Palette { heading, timestamp, reset, .. } = self.palette;
        let name = |out: &mut Vec<u8>, name: &str| {
            for part in [heading, name, reset, " = "] {
                out.extend_from_slice(part.as_bytes());
            }
        };
        if self.names_in_header {
            name(out, "timestamp");
        } else {
            out.push(b'[');
        }
        out.extend_from_slice(timestamp.as_bytes());
        let cycles = self.clock.style() == ClockStyle::Cycles;
        let now = if cycles {
            let now = event.cycles();
            number::padded(out, now.unwrap_or(0), 20);
            now
        } else {
            match event.timestamp() {
                Some(time) => self.clock.time(out, time),
                None => out.extend_from_slice(b"??:??:??.?????????"),
            }
            event.timestamp().map(|t| t.ns().cast_unsigned())
        };
        out.extend_from_slice(reset.as_bytes());
        if !self.names_in_header {
            out.extend_from_slice(b"] ");
        }
        if self.delta {
            if self.names_in_header {
                out.extend_from_slice(b", ");
                name(out, "delta");
            } else {
                out.push(b'(');
            }
            let delta = now.zip(self.last).map(|(now, last)| now.wrapping_sub(last));
            write_delta(out, delta, cycles);
            if !self.names_in_header {
                out.extend_from_slice(b") ");
            }
        }
        self.last = now.or(self.last);
    }
}

/// A time that went back shows as a huge one, as in babeltrace.
fn write_delta(out: &mut Vec<u8>, delta: Option<u64>, cycles: bool) {
    match delta {
        None if cycles => out.extend_from_slice(b"+????????????"),
        None => out.extend_from_slice(b"+?.?????????"),
        Some(delta) if cycles => {
            out.push(b'+');
            number::padded(out, delta, 12);
        }
        Some(delta) => {
            out.push(b'+');
            number::decimal(out, delta / 1_000_000_000);
            out.push(b'.');
            number::nanoseconds(out, (delta % 1_000_000_000) as u32);
        }
    }
}

impl EventText for Pretty {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let (trace, id) = (event.trace_index(), event.type_id().index());
        if self.types[trace][id].has_clock {
            self.timestamp(event, out);
        }
        let text = &self.types[trace][id];
        out.extend_from_slice(text.head.as_bytes());
        for (scope, lead) in &text.scopes {
            if !event.has_scope(*scope) {
                continue;
            }
            let style = match scope {
                Scope::PacketContext => &self.styles.packet,
                Scope::Payload => &self.styles.payload,
                _ => &self.styles.context,
            };
            out.extend_from_slice(lead.as_bytes());
            event.visit(*scope, &mut Fields::new(out, &mut self.nesting, style));
        }
        out.push(b'\n');
    }
}

impl TypeText {
    fn new(head: &Head<'_>, event_type: &EventType) -> Self {
        let mut scopes = Vec::new();
        for scope in shown_scopes(head.schema, event_type) {
            let mut lead = String::new();
            if !scopes.is_empty() {
                lead.push_str(", ");
            }
            if head.names.scope {
                let Palette { heading, reset, .. } = head.palette;
                for part in [heading, scope.tsdl_name(), reset, " = "] {
                    lead.push_str(part);
                }
            }
            scopes.push((scope, lead));
        }
        let stream = &head.schema.stream_classes[event_type.stream.index()];
        TypeText { has_clock: stream.default_clock.is_some(), head: head.of(event_type), scopes }
    }
}

/// The scopes with something for the user, in the order of printing.
pub(super) fn shown_scopes(schema: &Schema, event_type: &EventType) -> Vec<Scope> {
    let stream = &schema.stream_classes[event_type.stream.index()];
    let seen = |class: &Option<Arc<FieldClass>>| class.is_some();
    let packet = stream.packet_context.as_ref().is_some_and(|class| {
        let members = class.members();
        !members.is_empty() && !is_internal(&class.kind)
    });
    [
        (Scope::PacketContext, packet),
        (Scope::CommonContext, seen(&stream.common_context)),
        (Scope::SpecificContext, seen(&event_type.specific_context)),
        (Scope::Payload, seen(&event_type.payload)),
    ]
    .into_iter()
    .filter_map(|(scope, shown)| shown.then_some(scope))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(delta: Option<u64>, cycles: bool) -> String {
        let mut out = Vec::new();
        write_delta(&mut out, delta, cycles);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn deltas() {
        assert_eq!(delta(None, false), "+?.?????????");
        assert_eq!(delta(None, true), "+????????????");
        assert_eq!(delta(Some(1_000_000_731), false), "+1.000000731");
        assert_eq!(delta(Some(731), true), "+000000000731");
        assert_eq!(delta(Some(0u64.wrapping_sub(2)), false), "+18446744073.709551614");
    }
}
