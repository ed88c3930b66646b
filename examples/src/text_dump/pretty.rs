//! Babeltrace's text: byte for byte what `sink.text.pretty` of babeltrace 2.1
//! prints.

use std::sync::Arc;

use ltt_read::schema::{EventType, Scope};
use ltt_read::{Event, Trace};

use super::EventText;
use super::chunk::Chunk;
use super::clock_text::ClockText;
use super::fields::{EnumStyle, Fields, Style};
use super::nesting::Nesting;
use super::number::HexCase;
use super::options::{HeaderFields, Names};
use super::packet_text::PacketText;
use super::palette::Palette;
use super::per_trace::PerTrace;
use super::pretty_head::Head;
use super::pretty_time::PrettyTime;
use super::scopes::{self, Member};

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
    traces: PerTrace<TraceText>,
    nesting: Nesting,
}

/// Styles of contexts and payload.
#[derive(Debug)]
struct ScopeStyles {
    context: Style,
    payload: Style,
}

impl ScopeStyles {
    fn of(&self, scope: Scope) -> &Style {
        if scope == Scope::Payload { &self.payload } else { &self.context }
    }
}

/// What the lines of one trace have in common.
#[derive(Debug)]
struct TraceText {
    types: Vec<TypeText>,
    /// Of each tracefile the packet context that was printed last.
    packets: Vec<PacketText>,
}

/// The part of a line that its event type decides.
#[derive(Debug)]
struct TypeText {
    has_clock: bool,
    head: Chunk,
    scopes: Vec<ScopeText>,
}

/// A scope that is printed.
#[derive(Debug)]
struct ScopeText {
    scope: Scope,
    /// What comes before it.
    lead: Chunk,
    members: Vec<Member>,
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
        let context = Style {
            names: options.names.context,
            indices: true,
            braces: true,
            hex: HexCase::Upper,
            enums: EnumStyle::Container,
            palette: options.colored.then_some(palette),
        };
        let styles =
            ScopeStyles { payload: Style { names: options.names.payload, ..context }, context };
        let traces = PerTrace::new(traces, |i, trace| {
            let PrettyOptions { names, fields, .. } = *options;
            let trace_name = trace_names.get(i).map_or("", |n| n);
            let head = Head { names, fields, palette, trace_name, schema: trace.schema() };
            let types = head.schema.event_types.iter();
            TraceText {
                types: types.map(|t| TypeText::new(&head, &styles, t)).collect(),
                packets: trace.tracefiles().iter().map(|_| PacketText::default()).collect(),
            }
        });
        Pretty {
            time: PrettyTime::new(clock, options.names.header, options.delta, palette),
            styles,
            traces,
            nesting: Nesting::default(),
        }
    }
}

impl EventText for Pretty {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let Some(TraceText { types, packets }) = self.traces.of(event.trace()) else { return };
        let Some(text) = types.get(event.type_id().index()) else { return };
        if text.has_clock {
            self.time.event(event, out);
        }
        text.head.append(out);
        for ScopeText { scope, lead, members } in &text.scopes {
            lead.append(out);
            let style = self.styles.of(*scope);
            let mut visit = |out: &mut Vec<u8>| {
                event.visit(*scope, &mut Fields::new(out, &mut self.nesting, style, members));
            };
            match packets.get_mut(event.tracefile_index()) {
                Some(packet) if *scope == Scope::PacketContext => {
                    packet.append(event.packet(), out, visit);
                }
                _ => visit(out),
            }
        }
        out.push(b'\n');
    }
}

impl TypeText {
    fn new(head: &Head<'_>, styles: &ScopeStyles, event_type: &EventType) -> Self {
        let mut scopes = Vec::new();
        for (scope, class) in scopes::shown(head.schema, event_type) {
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
            let members = scopes::members(class, scope, styles.of(scope));
            scopes.push(ScopeText { scope, lead: Chunk::new(lead), members });
        }
        let stream = &head.schema.stream_classes[event_type.stream.index()];
        let head = Chunk::new(head.of(event_type));
        TypeText { has_clock: stream.default_clock.is_some(), head, scopes }
    }
}
