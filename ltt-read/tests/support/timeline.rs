//! Random traces for tests of order, seeking and notices. Events are only numbers and
//! times here; packets and files vary. All expected results are computed naively from
//! lists.

use std::fmt;
use std::io::Write;
use std::ops::RangeFrom;
use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::*;
use ltt_read::writer::{FieldValue, StreamWriter, TraceWriter, WriteError, metadata_text, presets};
use ltt_read::{ClockTransform, NoticeKind, Timestamp, Trace};
use proptest::prelude::*;

/// A trace with a list of its events.
#[derive(Clone)]
pub(crate) struct Timeline {
    variation: Variation,
    pub(crate) schema: Arc<Schema>,
    /// The transform of the clock. All expected times are transformed.
    pub(crate) transform: ClockTransform,
    /// The packets, by stream and then by file.
    pub(crate) streams: Vec<Vec<Vec<Packet>>>,
}

/// The schema, which varies little, is left out.
impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}, {:?}, {:?}", self.schema.format, self.variation, self.transform)?;
        for (name, _, packets) in self.files() {
            writeln!(f, "{name}:")?;
            packets.iter().try_for_each(|packet| writeln!(f, "    {packet:?}"))?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Packet {
    /// In cycles, like all times here.
    begin: u64,
    end: u64,
    sequence: u64,
    discarded: u64,
    pub(crate) events: Vec<Event>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    cycles: u64,
    /// The only field of the event, unique in the trace.
    pub(crate) number: u32,
}

/// Differences from the usual packets of LTTng.
#[derive(Debug, Clone, Copy)]
struct Variation {
    no_begin: bool,
    no_end: bool,
    /// The counters have 8 bits.
    narrow: bool,
    /// Events may come after the end of their packet, as in LTTng before 2.11.
    late: bool,
    /// All packets have the same size, larger than their content.
    padded: bool,
    frequency: u64,
}

const CHANNEL: StreamClassId = StreamClassId(0);

fn schema(format: Format, variation: Variation) -> Schema {
    let mut schema = presets::lttng_kernel(format);
    schema.clocks[0].frequency = variation.frequency;
    if variation.late {
        let minor = schema.env.iter_mut().find(|(key, _)| &**key == "tracer_minor");
        minor.expect("the preset has one").1 = EnvValue::Int(10);
    }
    let stream = &mut schema.stream_classes[0];
    let context = stream.packet_context.take().expect("the preset has one");
    let members = context.members().iter().filter_map(|m| {
        let mut class = (*m.class).clone();
        match &*m.name {
            "timestamp_begin" if variation.no_begin => return None,
            "timestamp_end" if variation.no_end => return None,
            "packet_seq_num" | "events_discarded" if variation.narrow => {
                if let FieldKind::Integer(fixed, _) = &mut class.kind {
                    fixed.bits = 8;
                }
            }
            _ => {}
        }
        Some((&*m.name, class))
    });
    stream.packet_context = Some(Arc::new(FieldClass::structure(members)));
    let number = || ("number", FieldClass::uint(32, ByteOrder::Little));
    let (length, elements) = ("length", FieldClass::uint(16, ByteOrder::Little));
    let elements = presets::sequence(length, elements);
    let length = (length, FieldClass::uint(8, ByteOrder::Little));
    let fixed = FieldClass::structure([number()]);
    let text = FieldClass::structure([number(), ("text", FieldClass::string())]);
    let counted = FieldClass::structure([length, ("elements", elements), number()]);
    let strings = ["before", "behind"].map(|name| (name, FieldClass::string()));
    let [before, behind] = strings;
    let texts = FieldClass::structure([before, number(), behind]);
    for (name, payload) in
        [("fixed", fixed), ("dynamic", text), ("counted", counted), ("texts", texts)]
    {
        schema.add_event_type(CHANNEL, name, payload);
    }
    schema
}

/// Returns the type and fields of an event, of fixed size or with parts of various
/// lengths. Every third is `dynamic`.
fn written(number: u32) -> (EventTypeId, FieldValue) {
    let text = |length| FieldValue::from("x".repeat(length as usize));
    let value = FieldValue::from(number);
    let (id, fields) = match number % 6 {
        0 | 3 => (1, vec![value, text(number * 5 % 43)]),
        1 => {
            let elements = (0..number as u8 % 7).map(FieldValue::from).collect::<Vec<_>>();
            let length = FieldValue::from(elements.len() as u64);
            (2, vec![length, FieldValue::array(elements), value])
        }
        2 => (3, vec![text(number % 5), value, text(number % 3)]),
        _ => (0, vec![value]),
    };
    (EventTypeId(id), FieldValue::structure(fields))
}

/// Generates transforms of the clock of all traces: often none, else of any slope.
fn transform() -> impl Strategy<Value = ClockTransform> {
    const ONE: u64 = ClockTransform::ONE;
    let near = (ONE - ONE / 1000)..=(ONE + ONE / 1000);
    let slope = prop_oneof![3 => Just(ONE), 2 => near, 1 => ONE / 2..=ONE * 2];
    let offset = prop_oneof![Just(0), -1000..1000_i64, -1_i64 << 60..1 << 60];
    let origin = presets::lttng_kernel(Format::Ctf1).clocks[0].offset_ns().expect("in range");
    let transform = (slope, offset, 0..1_i64 << 31).prop_map(move |(slope, offset, later)| {
        let origin = Timestamp::from_ns(origin + later);
        let image = Timestamp::from_ns(origin.as_ns() + offset);
        ClockTransform::new(origin, image, slope).expect("a slope in range")
    });
    prop_oneof![1 => Just(ClockTransform::IDENTITY), 1 => transform]
}

/// Generates traces. If `steady`, their clocks never go back.
pub(crate) fn timeline(steady: bool) -> impl Strategy<Value = Timeline> {
    let format = prop_oneof![Just(Format::Ctf1), Just(Format::Ctf2)];
    let rarely = || prop::bool::weighted(0.2);
    let frequency =
        prop_oneof![3 => Just(1_000_000_000u64), 1 => Just(3_000_000_000), 1 => Just(1_000_003)];
    let likely = any::<bool>;
    let variation = (rarely(), rarely(), likely(), rarely(), likely(), frequency).prop_map(
        move |(no_begin, no_end, narrow, late, padded, frequency)| {
            // A packet of unknown end is assumed to end at the start of the next one.
            let no_end = no_end && steady;
            Variation { no_begin, no_end, narrow, late: late && steady, padded, frequency }
        },
    );
    let gap = || prop_oneof![2 => Just(0u64), 3 => 1..50u64, 1 => 0..1u64 << 28];
    let back =
        if steady { Just(0).boxed() } else { prop_oneof![3 => Just(0u64), 1 => 0..200u64].boxed() };
    let events = prop::collection::vec((gap(), back.clone()), 0..6);
    let lost = || prop_oneof![3 => Just(0u64), 1 => 1..100u64];
    let packet = ((gap(), back, gap()), events, (lost(), lost()));
    let file = prop::collection::vec(packet, 1..4);
    let streams = prop::collection::vec(prop::collection::vec(file, 1..4), 1..4);
    let all = (format, variation, transform(), streams);
    all.prop_map(|(format, variation, transform, streams)| {
        let mut numbers = 1..;
        let streams = streams.into_iter().map(|files| {
            let mut tracer = Tracer {
                now: 1 << 30,
                file_begin: 0,
                sequence: 250,
                discarded: 0,
                late: variation.late,
            };
            let file = |packets| tracer.file(packets, &mut numbers);
            files.into_iter().map(file).collect()
        });
        let streams = streams.collect();
        Timeline { variation, schema: Arc::new(schema(format, variation)), transform, streams }
    })
}

/// Creates a CTF 1.8 trace with one file per stream, from the packets of each stream: their begin
/// and end, and the times of their events. With `no_begin` and `no_end`, packets do not declare these.
pub(crate) fn timeline_of(
    streams: &[&[(u64, u64, &[u64])]],
    no_begin: bool,
    no_end: bool,
) -> Timeline {
    let variation = Variation {
        no_begin,
        no_end,
        narrow: false,
        late: false,
        padded: false,
        frequency: 1_000_000_000,
    };
    let mut numbers = 1..;
    let mut event =
        |cycles: &u64| Event { cycles: *cycles, number: numbers.next().expect("a number") };
    let mut packet = |(sequence, (begin, end, times)): (u64, &(u64, u64, &[u64]))| {
        let events = times.iter().map(&mut event).collect();
        Packet { begin: *begin, end: *end, sequence, discarded: 0, events }
    };
    let streams =
        streams.iter().map(|packets| vec![(0..).zip(*packets).map(&mut packet).collect()]);
    let streams = streams.collect();
    let schema = Arc::new(schema(Format::Ctf1, variation));
    Timeline { variation, schema, transform: ClockTransform::IDENTITY, streams }
}

/// A fault in the times that a packet declares.
#[derive(Debug, Clone, Copy)]
enum Lie {
    None,
    Begin {
        early: bool,
        by: u64,
    },
    End {
        early: bool,
        by: u64,
    },
    /// The end is 0, as after a crash of the tracer.
    NoEnd,
    /// The packet is swapped with the previous one.
    Swapped,
}

/// Generates traces with one file per stream, whose packets may be in any order, whose
/// clocks may go back, and whose packets may declare wrong times.
pub(crate) fn deceptive() -> impl Strategy<Value = Timeline> {
    let by = || prop_oneof![0..60u64, 0..1u64 << 28];
    let lie = prop_oneof![
        6 => Just(Lie::None),
        1 => (any::<bool>(), by()).prop_map(|(early, by)| Lie::Begin { early, by }),
        1 => (any::<bool>(), by()).prop_map(|(early, by)| Lie::End { early, by }),
        1 => Just(Lie::NoEnd),
        1 => Just(Lie::Swapped),
    ];
    let rarely = || prop::bool::weighted(0.1);
    let frequency = prop_oneof![3 => Just(1_000_000_000u64), 1 => Just(1_000_003)];
    let format = prop_oneof![Just(Format::Ctf1), Just(Format::Ctf2)];
    let variation = (rarely(), rarely(), rarely(), any::<bool>(), frequency).prop_map(
        |(no_begin, no_end, late, padded, frequency)| Variation {
            no_begin,
            no_end,
            narrow: false,
            late,
            padded,
            frequency,
        },
    );
    let gap = || prop_oneof![1 => Just(0u64), 6 => 1..50u64, 1 => 0..1u64 << 28];
    let back = || prop_oneof![8 => Just(0u64), 1 => 0..200u64];
    let events = prop::collection::vec((gap(), back()), 0..6);
    let packet = ((gap(), back(), gap()), events, (Just(0), Just(0)));
    let packets = prop::collection::vec((packet, lie), 1..10);
    (format, variation, transform(), prop::collection::vec(packets, 1..5)).prop_map(
        |(format, variation, transform, streams)| {
            let mut numbers = 1..;
            let streams = streams.into_iter().map(|packets| {
                let late = variation.late;
                let mut tracer =
                    Tracer { now: 1 << 30, file_begin: 0, sequence: 250, discarded: 0, late };
                let (packets, lies): (Vec<_>, Vec<_>) = packets.into_iter().unzip();
                let mut packets = tracer.file(packets, &mut numbers);
                for (at, lie) in lies.into_iter().enumerate() {
                    let changed = |time: u64, early, by| match early {
                        true => time.saturating_sub(by),
                        false => time + by,
                    };
                    let packet = &mut packets[at];
                    match lie {
                        Lie::None => {}
                        Lie::Begin { early, by } => packet.begin = changed(packet.begin, early, by),
                        Lie::End { early, by } => packet.end = changed(packet.end, early, by),
                        Lie::NoEnd => packet.end = 0,
                        Lie::Swapped => packets.swap(at.saturating_sub(1), at),
                    }
                }
                vec![packets]
            });
            let streams = streams.collect();
            Timeline { variation, schema: Arc::new(schema(format, variation)), transform, streams }
        },
    )
}

/// A description of a packet: the time before it, the distance by which the clock then
/// goes back, the time after its last event, the distances of its events, and the numbers
/// of packets lost and events discarded before its end.
type Draft = ((u64, u64, u64), Vec<(u64, u64)>, (u64, u64));

/// The writer of one stream.
struct Tracer {
    now: u64,
    file_begin: u64,
    sequence: u64,
    discarded: u64,
    late: bool,
}

impl Tracer {
    fn file(&mut self, packets: Vec<Draft>, numbers: &mut RangeFrom<u32>) -> Vec<Packet> {
        // Files are sorted by their start times.
        self.now = self.now.max(self.file_begin);
        let packets = packets.into_iter().enumerate();
        packets
            .map(|(i, draft)| {
                let ((before, back, after), events, (lost, discarded)) = draft;
                self.now = self.now + before - if i == 0 { back.min(before) } else { back };
                let begin = self.now;
                if i == 0 {
                    self.file_begin = begin;
                }
                let mut end = begin;
                let events =
                    events.into_iter().zip(numbers.by_ref()).map(|((gap, back), number)| {
                        self.now = self.now + gap - back;
                        end = end.max(self.now);
                        Event { cycles: self.now, number }
                    });
                let events = events.collect();
                // The packet declares an end before or after its last events.
                let end =
                    if self.late { begin.max(end.saturating_sub(after)) } else { end + after };
                self.now = self.now.max(end);
                self.sequence += 1 + lost;
                self.discarded += discarded;
                let (sequence, discarded) = (self.sequence, self.discarded);
                Packet { begin, end, sequence, discarded, events }
            })
            .collect()
    }
}

impl Timeline {
    /// Returns the name and packets of all files.
    fn files(&self) -> impl Iterator<Item = (String, usize, &Vec<Packet>)> {
        let rotated = self.streams.iter().any(|files| files.len() > 1);
        self.streams.iter().enumerate().flat_map(move |(stream, files)| {
            let name = move |file| match rotated {
                true => format!("chan_{stream}_{file}"),
                false => format!("chan_{stream}"),
            };
            files.iter().enumerate().map(move |(file, packets)| (name(file), stream, packets))
        })
    }

    fn fill<W: Write>(
        &self,
        writer: StreamWriter<W>,
        stream: usize,
        packets: &[Packet],
    ) -> Result<W, WriteError> {
        let context = FieldValue::fields([("cpu_id", stream as u64)]);
        let mut writer = writer.with_stream_id(stream as u64).with_packet_context(context);
        if self.variation.padded {
            writer = writer.with_packet_limit(4096).with_padding();
        }
        for packet in packets {
            writer.set_packet_sequence(packet.sequence);
            writer.set_discarded(packet.discarded);
            writer.begin_packet(packet.begin)?;
            for event in &packet.events {
                let (event_type, fields) = written(event.number);
                writer.event(event_type, event.cycles, fields)?;
            }
            writer.end_packet(packet.end)?;
        }
        writer.finish()
    }

    /// Returns the name and bytes of all files.
    pub(crate) fn data(&self) -> Vec<(String, Vec<u8>)> {
        let bytes = |(name, stream, packets): (String, usize, &Vec<Packet>)| {
            let writer = StreamWriter::new(self.schema.clone(), CHANNEL, &name, Vec::new());
            let bytes = writer.and_then(|w| self.fill(w, stream, packets));
            (name, bytes.unwrap_or_else(|e| panic!("{e}")))
        };
        self.files().map(bytes).collect()
    }

    /// Opens the trace with its files in this order.
    pub(crate) fn in_memory(&self, files: Vec<(String, Vec<u8>)>) -> Arc<Trace> {
        let metadata = metadata_text(&self.schema).expect("metadata");
        self.transformed(Trace::from_memory(metadata.as_bytes(), files).expect("a trace"))
    }

    /// Transforms the times of a trace that was opened.
    pub(crate) fn transformed(&self, trace: Arc<Trace>) -> Arc<Trace> {
        match self.transform == ClockTransform::IDENTITY {
            true => trace,
            false => trace.with_clock_transforms(|_| self.transform).expect("it was opened"),
        }
    }

    /// Writes the trace to a directory, with index files.
    pub(crate) fn write(&self, dir: &Path) -> Result<(), WriteError> {
        let trace = TraceWriter::create(dir, self.schema.clone())?.with_index();
        for (name, stream, packets) in self.files() {
            self.fill(trace.stream(CHANNEL, &name)?, stream, packets)?;
        }
        Ok(())
    }

    /// Returns `true` if the times or the numbers of packets tell the order of its files.
    pub(crate) fn has_known_order(&self) -> bool {
        let Variation { narrow, no_begin, no_end, .. } = self.variation;
        !(narrow && no_begin && no_end)
    }

    /// Returns `true` if index files can be verified against the packets.
    pub(crate) fn is_indexable(&self) -> bool {
        !self.variation.no_begin
    }

    pub(crate) fn time(&self, event: &Event) -> Timestamp {
        self.at(event.cycles)
    }

    /// Returns the time of cycles.
    pub(crate) fn at(&self, cycles: u64) -> Timestamp {
        let recorded = self.recorded(cycles);
        self.transform.checked_apply(recorded).expect("no time overflows")
    }

    /// Returns the time of cycles before the transform.
    pub(crate) fn recorded(&self, cycles: u64) -> Timestamp {
        self.schema.clocks[0].timestamp(cycles).expect("no time overflows")
    }

    pub(crate) fn packets(&self, stream: usize) -> impl Iterator<Item = &Packet> {
        self.streams[stream].iter().flatten()
    }

    /// Returns the events of a stream in file order.
    pub(crate) fn events(&self, stream: usize) -> Vec<Event> {
        self.packets(stream).flat_map(|p| &p.events).copied().collect()
    }

    /// Returns the times at, just before and just after all events and packets.
    pub(crate) fn interesting_times(&self) -> Vec<Timestamp> {
        let streams = 0..self.streams.len();
        let packets = streams.flat_map(|s| self.packets(s));
        let cycles = packets.flat_map(|p| {
            p.events.iter().map(|e| e.cycles).chain([p.begin, p.end]).collect::<Vec<_>>()
        });
        let around = |t: Timestamp| [-1, 0, 1].map(|d| Timestamp::from_ns(t.as_ns() + d));
        let mut times: Vec<_> = cycles.flat_map(|c| around(self.at(c))).collect();
        times.extend([Timestamp::MIN, Timestamp::MAX]);
        times.sort();
        times.dedup();
        times
    }

    /// Returns the events of a stream from the first one at or after a time on.
    pub(crate) fn events_from(&self, stream: usize, time: Timestamp) -> Vec<Event> {
        let events = self.events(stream);
        let first = events.iter().position(|e| self.time(e) >= time).unwrap_or(events.len());
        events[first..].to_vec()
    }

    /// Returns the events of all streams from a time on, merged: the earliest next event
    /// comes first, and among equal ones that of the first stream.
    pub(crate) fn merged_from(&self, time: Timestamp) -> Vec<Event> {
        let streams = 0..self.streams.len();
        let mut rest: Vec<_> =
            streams.map(|s| self.events_from(s, time).into_iter().peekable()).collect();
        let mut merged = Vec::new();
        loop {
            let heads = rest.iter_mut().enumerate();
            let heads = heads.filter_map(|(s, r)| Some((self.time(r.peek()?), s)));
            let Some((_, stream)) = heads.min() else { return merged };
            merged.extend(rest[stream].next());
        }
    }

    /// Returns the notices of a reader of the whole stream.
    pub(crate) fn notices(&self, stream: usize) -> Vec<NoticeKind> {
        let begin = |p: &Packet| (!self.variation.no_begin).then(|| self.at(p.begin));
        let end = |p: &Packet| (!self.variation.no_end).then(|| self.at(p.end));
        let mut notices = Vec::new();
        let (mut before, mut last): (Option<&Packet>, Option<Timestamp>) = (None, None);
        for packet in self.packets(stream) {
            if let Some(before) = before {
                let lost = packet.sequence - before.sequence - 1;
                if lost > 0 {
                    let (begin, end) = (end(before), begin(packet));
                    notices.push(NoticeKind::LostPackets { count: lost, start: begin, end });
                }
                let discarded = packet.discarded - before.discarded;
                if discarded > 0 {
                    let (begin, end, count) = (end(before), end(packet), Some(discarded));
                    notices.push(NoticeKind::DiscardedEvents { count, start: begin, end });
                }
            }
            before = Some(packet);
            for event in &packet.events {
                let to = self.time(event);
                if let Some(from) = last.filter(|from| to < *from) {
                    notices.push(NoticeKind::ClockBackwards { from, to });
                }
                last = Some(to);
            }
        }
        notices
    }
}
