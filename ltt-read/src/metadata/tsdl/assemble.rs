//! Building of a schema from the declarations of the blocks.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::blocks::{Declared, EventBlock, StreamBlock};
use super::error::Error;
use super::parser::Parser;
use super::roles::{Rebuild, first_clock, has_integer};
use crate::metadata::Span;
use crate::schema::{
    ClockClass, ClockOrigin, EventType, FieldClass, Format, Schema, Slots, StreamClass,
    StreamClassId,
};

impl Parser<'_> {
    /// Builds the schema. Errors are added to `errors`.
    pub(super) fn assemble(&mut self) -> Schema {
        let mut schema = Schema::new(Format::Ctf1);
        schema.native_byte_order = self.native;
        let Declared { trace, env, clocks, mut clock_names, mut streams, events, .. } =
            std::mem::take(&mut self.declared);
        match trace {
            Some(trace) => {
                schema.uuid = trace.uuid;
                schema.packet_header = trace.packet_header.map(|root| self.packet_header(&root));
            }
            None => self.record(
                *Error::new(Span::default(), "missing `trace` block")
                    .help("CTF 1.8 metadata declares version and byte order in a `trace` block"),
            ),
        }
        schema.env = env;
        schema.clocks = clocks;
        self.check_clock_maps(&clock_names);
        if streams.is_empty() && !events.is_empty() {
            // A single stream class does not have to be declared.
            streams.push(StreamBlock::default());
        }
        let mut by_id = HashMap::new();
        for stream in &streams {
            let class = self.stream_class(stream, &mut schema.clocks, &mut clock_names);
            if by_id.insert(class.id, schema.stream_classes.len()).is_some() {
                let message = format!("duplicate `stream` block with id {}", class.id);
                self.record(*Error::new(stream.span, message));
            }
            schema.stream_classes.push(class);
        }
        self.event_types(events, &by_id, &mut schema);
        schema
    }

    fn check_clock_maps(&mut self, clocks: &HashMap<Arc<str>, usize>) {
        let mut unknown: Vec<_> = self
            .clock_maps
            .values()
            .filter(|m| !clocks.contains_key(m.clock))
            .map(|m| (m.span, m.clock))
            .collect();
        unknown.sort_unstable_by_key(|(span, _)| span.start);
        unknown.dedup();
        for (span, clock) in unknown.into_iter().take(5) {
            self.record(*Error::new(span, format!("unknown clock `{clock}`")));
        }
    }

    fn stream_class(
        &mut self,
        block: &StreamBlock,
        clocks: &mut Vec<ClockClass>,
        clock_names: &mut HashMap<Arc<str>, usize>,
    ) -> StreamClass {
        let mut stream = StreamClass::new(block.id.unwrap_or(0));
        let header = block.event_header.as_ref();
        let context = block.packet_context.as_ref();
        let mapped = |root: Option<&(Arc<FieldClass>, Span)>| {
            root.and_then(|(class, _)| first_clock(class, &self.clock_maps))
        };
        let mut clock = mapped(header).or(mapped(context)).map(str::to_owned);
        if clock.is_none() {
            clock = self.implicit_clock(header, context, clocks);
            if let Some(name) = &clock {
                clock_names.entry(name.as_str().into()).or_insert(clocks.len() - 1);
            }
        }
        stream.default_clock =
            clock.as_deref().and_then(|name| clock_names.get(name)).map(|n| *n as u32);
        let maps = std::mem::take(&mut self.clock_maps);
        let clock = clock.as_deref();
        let header_ticks = header.is_some_and(|(h, _)| first_clock(h, &maps).is_some());
        stream.packet_context =
            context.map(|root| self.packet_context(root, Rebuild::context(&maps, clock)));
        stream.event_header = header.map(|(root, _)| {
            Rebuild::header(&maps, clock, clock.is_some() && !header_ticks).tree(root)
        });
        stream.common_context = block.event_context.as_ref().map(|(class, _)| class.clone());
        self.clock_maps = maps;
        stream
    }

    /// Returns the clock of a stream class without mapped fields but with fields that are
    /// named like timestamps: the only clock of the trace.
    fn implicit_clock(
        &mut self,
        header: Option<&(Arc<FieldClass>, Span)>,
        context: Option<&(Arc<FieldClass>, Span)>,
        clocks: &mut Vec<ClockClass>,
    ) -> Option<String> {
        let has = |root: Option<&(Arc<FieldClass>, Span)>, name| {
            root.filter(|(class, _)| has_integer(class, name)).map(|(_, span)| *span)
        };
        let span = has(header, "timestamp")
            .or(has(context, "timestamp_begin"))
            .or(has(context, "timestamp_end"))?;
        match clocks.as_slice() {
            [] => {
                // The clock is undeclared; only its values are known.
                let clock =
                    ClockClass { origin: ClockOrigin::Unknown, ..ClockClass::new("default") };
                clocks.push(clock);
                Some("default".into())
            }
            [clock] => Some(clock.name.to_string()),
            _ => {
                self.warn(span, "timestamps are not mapped to any of the clocks: ignored");
                None
            }
        }
    }

    fn event_types(
        &mut self,
        events: Vec<EventBlock>,
        by_id: &HashMap<u64, usize>,
        schema: &mut Schema,
    ) {
        let only = match schema.stream_classes.as_slice() {
            [stream] => stream.id,
            _ => 0,
        };
        let streams = schema.stream_classes.len();
        let mut ids = HashSet::with_capacity(events.len());
        let event_type = |event: EventBlock| {
            if event.stream.is_none() && streams > 1 {
                let message = "`event` needs the attribute `stream_id`";
                let help = "there are several stream classes";
                self.record(*Error::new(event.span, message).help(help));
                return None;
            }
            let (stream_id, span) = event.stream.unwrap_or((only, event.span));
            let Some(&index) = by_id.get(&stream_id) else {
                self.record(*Error::new(span, format!("unknown stream with id {stream_id}")));
                return None;
            };
            let id = event.id.unwrap_or(0);
            if !ids.insert((index, id)) {
                let message = format!("duplicate event id {id} in stream {stream_id}");
                self.record(*Error::new(event.span, message));
            }
            Some(EventType {
                id,
                stream: StreamClassId(index as u32),
                identity: event.identity,
                log_level: event.log_level,
                emf_uri: event.emf_uri,
                specific_context: event.context,
                payload: event.fields,
                attributes: None,
                format: None,
                slots: Slots::default(),
            })
        };
        // The memory of the blocks becomes that of the event types, which are not larger.
        schema.event_types = events.into_iter().filter_map(event_type).collect();
        schema.event_types.shrink_to_fit();
    }
}
