//! Babeltrace's text: byte for byte what `sink.text.pretty` of babeltrace 2.1
//! prints.

use std::sync::Arc;

use ltt_read::schema::{EventType, FieldClass, Schema, Scope};
use ltt_read::{Event, Trace};

use super::EventText;
use super::clock_text::ClockText;
use super::fields::{EnumStyle, Fields, Style, is_internal};
use super::nesting::Nesting;
use super::number::HexCase;
use super::options::{HeaderFields, Names};
use super::palette::Palette;
use super::per_trace::PerTrace;
use super::pretty_head::Head;
use super::pretty_time::PrettyTime;

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
    time: PrettyTime,
    styles: ScopeStyles,
    /// What each event type decides.
    types: PerTrace<Vec<TypeText>>,
    nesting: Nesting,
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
        let types = PerTrace::new(traces, |i, trace| {
            let PrettyOptions { names, fields, .. } = *options;
            let trace_name = trace_names.get(i).map_or("", |n| n);
            let head = Head { names, fields, palette, trace_name, schema: trace.schema() };
            head.schema.event_types.iter().map(|t| TypeText::new(&head, t)).collect()
        });
        Pretty {
            time: PrettyTime::new(clock, options.names.header, options.delta, palette),
            styles: ScopeStyles {
                packet: Style { hide_roles: true, ..style },
                context: style,
                payload: Style { names: options.names.payload, ..style },
            },
            types,
            nesting: Nesting::default(),
        }
    }
}

impl EventText for Pretty {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let types = self.types.of(event.trace());
        let Some(text) = types.and_then(|types| types.get(event.type_id().index())) else { return };
        if text.has_clock {
            self.time.event(event, out);
        }
        out.extend_from_slice(text.head.as_bytes());
        for (scope, lead) in &text.scopes {
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
