//! The text format of babeltrace: byte for byte the output of `sink.text.pretty` of
//! babeltrace 2.1.

use std::ops::Range;
use std::sync::Arc;

use ltt_read::schema::{FieldClass, Member, Scope, StreamClass};
use ltt_read::{Event, Trace};

use super::fields::{EnumStyle, Fields, Style};
use super::options::{HeaderFields, Names};
use super::packet_text::PacketText;
use super::per_trace::PerTrace;
use super::plan::{How, Plan};
use super::pretty_head::Head;
use super::pretty_time::PrettyTime;
use super::scopes;
use super::{EventText, PartEnds, StateAt};
use crate::text::clock_text::{ClockRange, ClockText};
use crate::text::number::HexCase;
use crate::text::palette::Palette;
use crate::text::{Chunk, Text};

/// The options of the text.
#[derive(Debug, Clone, Copy)]
pub struct PrettyOptions {
    /// The names to print.
    pub names: Names,
    /// The header fields to print.
    pub fields: HeaderFields,
    /// Prints the time since the previous event.
    pub delta: bool,
    /// Prints terminal colours.
    pub colored: bool,
    /// Escapes control characters, which babeltrace prints as they are.
    pub escaped: bool,
}

/// A format that prints events as babeltrace2 does.
#[derive(Debug)]
pub struct Pretty {
    time: PrettyTime,
    styles: Styles,
    traces: PerTrace<TraceText>,
}

/// The options, resolved to styles.
#[derive(Debug)]
struct Styles {
    names: Names,
    fields: HeaderFields,
    palette: Palette,
    escaped: bool,
    context: Style,
    payload: Style,
}

/// The parts that the lines of one trace share.
#[derive(Debug)]
struct TraceText {
    name: String,
    /// The parts by event type, created at the first event of the type.
    types: Vec<Option<Box<TypeText>>>,
    /// For each stream class, the plan of its packet context, if it is printed.
    contexts: Vec<Option<Plan>>,
    /// For each tracefile, the packet context that was printed last.
    packets: Vec<PacketText>,
}

/// The parts that the lines of one event type share.
#[derive(Debug)]
struct TypeText {
    clock: ClockRange,
    /// The text after the time, up to the event name.
    head: Chunk,
    body: Plan,
}

impl Pretty {
    /// Creates a format for the events of these traces, with their names in the same order.
    pub fn new(
        traces: &[Arc<Trace>],
        trace_names: &[String],
        clock: ClockText,
        options: &PrettyOptions,
    ) -> Self {
        let styles = Styles::new(options);
        let traces =
            PerTrace::new(traces, |number, trace| styles.trace(trace, number, trace_names));
        let time = PrettyTime::new(clock, options.names.header, options.delta, styles.palette);
        Pretty { time, styles, traces }
    }
}

impl EventText for Pretty {
    fn continue_with(&mut self, traces: &[Arc<Trace>], names: &[String]) {
        let styles = &self.styles;
        self.traces.continue_with(traces, |number, trace| styles.trace(trace, number, names));
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn start_part(&mut self) {
        self.time.start_part();
    }

    fn end_part(&mut self) -> PartEnds {
        self.time.end_part()
    }

    fn continue_after(&mut self, part: &PartEnds) -> Option<(Range<usize>, Text)> {
        self.time.continue_after(part)
    }

    fn event(&mut self, event: &Event<'_>, _: Option<StateAt<'_>>, out: &mut Text) {
        let Pretty { time, styles, traces } = self;
        let Some(trace) = traces.of(event.trace()) else { return };
        let Some(text) = trace.types.get_mut(event.type_id().index()) else { return };
        let text = text.get_or_insert_with(|| styles.event_type(event, &trace.name, time.tail()));
        if text.clock != ClockRange::NoClock {
            time.event(event, text.clock, out);
        }
        text.head.append(out);
        let packet = event.packet();
        if let Some(Some(plan)) = trace.contexts.get_mut(packet.stream_class.index())
            && let Some(text) = trace.packets.get_mut(event.tracefile_index().0)
        {
            text.append(event, out, |out| {
                event.visit(Scope::PacketContext, &mut Fields::new(out, plan, &styles.context));
            });
        }
        event.visit_body(&mut Fields::new(out, &mut text.body, &styles.payload));
        out.push(b'\n');
    }
}

impl Styles {
    fn new(options: &PrettyOptions) -> Self {
        let PrettyOptions { names, fields, colored, escaped, .. } = *options;
        let palette = if colored { Palette::COLORED } else { Palette::PLAIN };
        let context = Style {
            names: names.context,
            indices: true,
            hex: HexCase::Upper,
            enums: EnumStyle::Container,
            palette: colored.then_some(palette),
            is_safe: escaped,
        };
        let payload = Style { names: names.payload, ..context };
        Styles { names, fields, palette, escaped, context, payload }
    }

    /// Creates the parts that the lines of a trace share, given its place in a list of names.
    fn trace(&self, trace: &Trace, number: usize, names: &[String]) -> TraceText {
        let classes = &trace.schema().stream_classes;
        TraceText {
            name: names.get(number).cloned().unwrap_or_default(),
            types: trace.schema().event_types.iter().map(|_| None).collect(),
            contexts: classes.iter().map(|class| self.packet_context(class)).collect(),
            packets: trace.tracefiles().iter().map(|_| PacketText::default()).collect(),
        }
    }

    fn packet_context(&self, stream: &StreamClass) -> Option<Plan> {
        let class = scopes::packet_context(stream)?;
        let mut plan = Plan::default();
        self.add_scope(&mut plan, true, Scope::PacketContext, class);
        Some(plan)
    }

    /// Creates the parts from the first event of a type.
    #[cold]
    #[inline(never)]
    fn event_type(&self, event: &Event<'_>, trace_name: &str, tail: &str) -> Box<TypeText> {
        let (schema, event_type) = (event.trace().schema(), event.event_type());
        let Styles { names, fields, palette, escaped, .. } = *self;
        let head = Head { names, fields, palette, escaped, trace_name, schema };
        let mut body = Plan::default();
        let stream = &schema.stream_classes[event_type.stream.index()];
        let mut first = scopes::packet_context(stream).is_none();
        for (scope, class) in scopes::body(schema, event_type) {
            self.add_scope(&mut body, first, scope, class);
            first = false;
        }
        let clock = ClockRange::of(schema, event_type);
        let tail = if clock == ClockRange::NoClock { "" } else { tail };
        let head = Chunk::new(format!("{tail}{}", head.of(event_type)));
        Box::new(TypeText { clock, head, body })
    }

    fn add_scope(&self, plan: &mut Plan, first: bool, scope: Scope, class: &FieldClass) {
        let mut lead = if first { String::new() } else { ", ".to_owned() };
        if self.names.scope {
            let Palette { heading, reset, .. } = self.palette;
            for part in [heading, scope.tsdl_name(), reset, " = "] {
                lead.push_str(part);
            }
        }
        lead.push('{');
        let style = if scope == Scope::Payload { &self.payload } else { &self.context };
        let is_internal =
            |member: &Member| scope == Scope::PacketContext && scopes::is_internal(&member.class);
        plan.root(style, class, &lead, How::Class, &is_internal);
    }
}
