//! Generated traces of hosts with known clocks: they are synchronised, and their transformed times
//! are in all ways of reading those of traces that were written with these times.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clocks::{Parameters, Random, Topology, World};
use crate::recordings::{Content, Packet, Record, Recording, quantum};
use ltt_read::schema::{ByteOrder, ClockClass, FieldClass, Format, StreamClassId};
use ltt_read::writer::{MemoryTrace, presets};
use ltt_read::{ClockTransform, Event, Merge, Timestamp, Trace, TraceIndex, TracefileIndex};
use lttv_context::synchronize::matching::Hosts;
use lttv_context::synchronize::pairs::PairQuality;
use lttv_context::synchronize::{HostIndex, Options, Synchronized, synchronize};
use lttv_context::{Bounds, ParallelReader, Traceset, TracesetContext};

/// An event as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    time: Timestamp,
    trace: usize,
    tracefile: usize,
    kind: Kind,
    number: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Switch,
    Send,
    Receive,
    Segment,
    /// An event that describes a trace of LTTng 0.x.
    Marker,
}

fn known(event: &Event<'_>) -> Known {
    let (kind, field) = match event.event_type().name() {
        "sched_switch" => (Kind::Switch, "next_tid"),
        "sched_schedule" => (Kind::Switch, "skb"),
        "net_dev_queue" => (Kind::Send, "skbaddr"),
        "dev_xmit_extended" => (Kind::Send, "skb"),
        "net_if_receive_skb" => (Kind::Receive, "skbaddr"),
        "dev_receive" => (Kind::Receive, "skb"),
        "tcpv4_rcv_extended" => (Kind::Segment, "skb"),
        _ => (Kind::Marker, "event_id"),
    };
    let number = event.field(field).and_then(|value| value.as_u64()).unwrap_or_default() as u32;
    Known {
        time: event.timestamp().expect("a time"),
        trace: event.trace_index().0,
        tracefile: event.tracefile_index().0,
        kind,
        number,
    }
}

/// A traceset with recorded times, its transforms, and what follows from them.
struct Sample {
    recordings: Vec<Recording>,
    found: Synchronized,
    /// By trace.
    transforms: Vec<ClockTransform>,
    /// The traces with transformed times.
    transformed: Traceset,
    /// Traces that were written with transformed times.
    written: Traceset,
    /// All events with transformed times, in order.
    events: Vec<Known>,
}

impl Sample {
    /// Writes, synchronises and transforms traces.
    fn new(recordings: Vec<Recording>, options: impl Fn(&Traceset) -> Options) -> Self {
        let recorded: Traceset = recordings.iter().map(|of| of.trace()).collect();
        let found = synchronize(&recorded, &options(&recorded));
        assert!(found.errors.is_empty(), "{:?}", found.errors);
        let transform = |trace| {
            let host = found.hosts.of_trace(TraceIndex(trace)).expect("a host");
            let clock = found.clocks.host(host).expect("a clock");
            clock.transform().unwrap_or(ClockTransform::IDENTITY)
        };
        let transforms: Vec<_> = (0..recordings.len()).map(transform).collect();
        let transformed = recorded.traces().iter().zip(&transforms);
        let transformed = transformed
            .map(|(trace, transform)| trace.with_clock_transforms(|_| *transform).expect("a trace"))
            .collect();
        // The order is that of a sort, which knows nothing of merging.
        let mut events = Vec::new();
        for (index, trace) in recorded.traces().iter().enumerate() {
            for file in 0..trace.tracefiles().len() {
                let mut cursor = trace.cursor(TracefileIndex(file));
                while let Some(event) = cursor.next().expect("sound data") {
                    let of = known(&event);
                    events.push(Known {
                        time: transforms[index].apply(of.time),
                        trace: index,
                        ..of
                    });
                }
            }
        }
        let written = recorded.traces().iter().enumerate().map(|(index, trace)| {
            let events = events.iter().filter(|event| event.trace == index);
            write(trace.tracefiles().len(), events)
        });
        let written = written.collect();
        events.sort_by_key(|event| (event.time, event.trace, event.tracefile));
        Sample { recordings, found, transforms, transformed, written, events }
    }

    fn both(&self) -> [&Traceset; 2] {
        [&self.transformed, &self.written]
    }

    /// Checks that both tracesets contain the same events in the same order, whatever the way of
    /// reading.
    fn check_reading(&self, random: &mut Random, seed: u64) {
        let events = &self.events;
        for traceset in self.both() {
            assert_eq!(
                &merged(&mut Merge::new(traceset.traces()), u64::MAX),
                events,
                "seed {seed}"
            );
        }
        let mut contexts = self.both().map(Reader::new);
        for _ in 0..3 {
            let place = random.range(0, events.len() as i64) as usize;
            let near = events.get(place).or(events.last()).expect("an event").time;
            let time = Timestamp::from_ns(near.as_ns() + random.range(-1, 1));
            let after = &events[events.partition_point(|event| event.time < time)..];
            let after = &after[..after.len().min(4)];
            for traceset in self.both() {
                let mut merge = Merge::new(traceset.traces());
                merge.seek(time);
                assert_eq!(merged(&mut merge, 4), after, "seed {seed}, {time}");
            }
            let other = events[random.range(0, events.len() as i64 - 1) as usize].time;
            let (begin, end) = (time.min(other), time.max(other));
            let between: Vec<_> =
                events.iter().filter(|event| begin <= event.time && event.time < end).collect();
            for reader in &mut contexts {
                reader.context.seek_time(time);
                assert_eq!(reader.read(&Bounds::all().events(4)), after, "seed {seed}, {time}");
                // A position is before the event of this number, also after reading elsewhere.
                reader.context.seek_time(Timestamp::MIN);
                let read = reader.read(&Bounds::all().events(place as u64));
                assert_same(&read, &events[..place], &format!("seed {seed}"));
                let position = reader.context.position();
                assert_eq!(position.time(), events.get(place).map(|event| event.time));
                reader.context.seek_time(begin);
                let read = reader.read(&Bounds::all().since(begin).until(end));
                assert!(read.iter().eq(between.iter().copied()), "seed {seed}, {begin} to {end}");
                reader.context.seek_position(&position).expect("a position of this traceset");
                let next = &events[place..events.len().min(place + 4)];
                assert_eq!(reader.read(&Bounds::all().events(4)), next, "seed {seed}");
            }
        }
        let (slices, threads) = (random.range(2, 6) as usize, random.range(1, 2) as usize);
        for traceset in self.both() {
            let parallel = ParallelReader::new(traceset).threads(threads).slices(slices);
            let read = parallel.run(|slice| {
                let mut seen = Vec::new();
                let mut context = slice.context();
                context.on_event("*", |call| seen.push(known(&call.event)));
                slice.read(&mut context).expect("no extension");
                drop(context);
                seen
            });
            let place = format!("seed {seed}, {slices} slices");
            assert_same(&read.results.concat(), events, &place);
        }
    }

    /// Returns the records by trace, kind and number.
    fn records(&self) -> HashMap<(usize, Kind, u32), Record> {
        let mut records = HashMap::new();
        for (trace, recording) in self.recordings.iter().enumerate() {
            for record in recording.files.iter().flatten() {
                let kind = match record.content {
                    Content::Switch => Kind::Switch,
                    Content::Send(_) => Kind::Send,
                    Content::Receive(_) => Kind::Receive,
                    Content::Segment(_) => Kind::Segment,
                };
                assert!(records.insert((trace, kind, record.number), *record).is_none());
            }
        }
        records
    }

    /// Checks that each message is received after it was sent, in the order of events, and returns
    /// the number of messages between related hosts.
    fn check_messages(&self, seed: u64) -> usize {
        let (records, mut sent, mut messages) = (self.records(), HashMap::new(), 0);
        let mut early = Vec::new();
        let island = |host| {
            let trace = self.recordings.iter().position(|of| of.host == host).expect("a trace");
            let host = self.found.hosts.of_trace(TraceIndex(trace)).expect("a host");
            self.found.clocks.host(host).expect("a clock").island()
        };
        for (place, event) in self.events.iter().enumerate() {
            match records.get(&(event.trace, event.kind, event.number)).map(|of| of.content) {
                Some(Content::Send(Packet { key, .. })) => {
                    sent.entry(key).or_insert(place);
                }
                Some(Content::Receive(Packet { key, from, to })) if island(from) == island(to) => {
                    messages += 1;
                    early.extend((!sent.contains_key(&key)).then_some(key));
                }
                _ => {}
            }
        }
        assert!(early.is_empty(), "seed {seed}: {early:?} are received before they were sent");
        messages
    }

    /// Checks that the true times are within the bands, and that the errors are at most the
    /// accuracies. Returns the greatest error in ns.
    fn check_truth(&self, world: &World, seed: u64) -> u64 {
        let (records, mut most) = (self.records(), 0);
        let recording_of =
            |host: HostIndex| &self.recordings[self.found.hosts.all()[host.0].traces[0].0];
        // Each clock shows whole cycles, and each step of a path rounds to ns.
        let inexact: u64 = self.recordings.iter().map(|of| quantum(of.frequency)).sum();
        for event in self.events.iter().step_by(5) {
            let Some(record) = records.get(&(event.trace, event.kind, event.number)) else {
                continue;
            };
            let host = self.found.hosts.of_trace(TraceIndex(event.trace)).expect("a host");
            let clock = self.found.clocks.host(host).expect("a clock");
            if clock.transform().is_none() {
                continue;
            }
            let island = &self.found.clocks.islands()[clock.island()];
            let reference = recording_of(island.reference);
            let truth = reference.recorded(world.clocks[reference.host].at(record.at));
            let recorded = self.transforms[event.trace].inverse(event.time);
            let Some(band) = clock.band_at(recorded) else { panic!("seed {seed}: no band") };
            let outside = band.start.signed_ns_since(truth).max(truth.signed_ns_since(band.end));
            let place = format!("seed {seed}, trace {}, {recorded}", event.trace);
            assert!(
                outside <= i128::from(inexact),
                "{place}: {truth} is {outside} ns out of {band:?}"
            );
            let error = event.time.signed_ns_since(truth).unsigned_abs() as u64;
            let accuracy = clock.accuracy_at(recorded).expect("a band");
            assert!(error <= accuracy + inexact, "{place}: {error} ns, not {accuracy}");
            most = most.max(error);
        }
        most
    }
}

/// Writes the events of one trace with a clock of 1 GHz that starts at the Unix epoch. The events of
/// each tracefile are in order.
fn write<'e>(tracefiles: usize, events: impl Iterator<Item = &'e Known> + Clone) -> Arc<Trace> {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    schema.clocks = vec![ClockClass::new("merged")];
    let channel = StreamClassId(0);
    let names = ["sched_schedule", "dev_xmit_extended", "dev_receive", "tcpv4_rcv_extended"];
    let types = names.map(|name| {
        let fields = [("skb", FieldClass::uint(64, ByteOrder::Little))];
        schema.add_event_type(channel, name, FieldClass::structure(fields))
    });
    let fields = [("event_id", FieldClass::uint(64, ByteOrder::Little))];
    let marker = schema.add_event_type(channel, "marker", FieldClass::structure(fields));
    let mut trace = MemoryTrace::new(schema);
    for tracefile in 0..tracefiles {
        let stream = trace.stream(channel, &format!("stream_{tracefile:03}")).expect("a stream");
        let mut stream = stream.with_stream_id(tracefile as u64).with_packet_limit(1024);
        for event in events.clone().filter(|event| event.tracefile == tracefile) {
            let id = match event.kind {
                Kind::Switch => types[0],
                Kind::Send => types[1],
                Kind::Receive => types[2],
                Kind::Segment => types[3],
                Kind::Marker => marker,
            };
            let number = u64::from(event.number).to_le_bytes();
            stream.encoded_event(id, event.time.as_ns() as u64, 8, &number).expect("an event");
        }
        trace.add(stream).expect("a stream");
    }
    let trace = trace.open().expect("a sound trace");
    assert_eq!(trace.tracefiles().len(), tracefiles);
    trace
}

/// Compares events, and shows the first difference.
fn assert_same(found: &[Known], expected: &[Known], place: &str) {
    let different = found.iter().zip(expected).position(|(found, expected)| found != expected);
    if let Some(at) = different {
        panic!("{place}, event {at}: {:?}, not {:?}", found[at], expected[at]);
    }
    assert_eq!(found.len(), expected.len(), "{place}");
}

fn merged(merge: &mut Merge, most: u64) -> Vec<Known> {
    let mut read = Vec::new();
    while (read.len() as u64) < most
        && let Some(event) = merge.next()
    {
        read.push(known(&event));
    }
    read
}

/// A context whose hook notes the events.
struct Reader {
    context: TracesetContext<'static>,
    seen: std::rc::Rc<std::cell::RefCell<Vec<Known>>>,
}

impl Reader {
    fn new(traceset: &Traceset) -> Self {
        let seen = std::rc::Rc::<std::cell::RefCell<Vec<Known>>>::default();
        let mut context = TracesetContext::new(traceset);
        let noted = seen.clone();
        context.on_event("*", move |call| {
            noted.borrow_mut().push(known(&call.event));
        });
        Reader { context, seen }
    }

    fn read(&mut self, bounds: &Bounds) -> Vec<Known> {
        let end = self.context.read(bounds).expect("a position of this traceset");
        assert_eq!(end.errors, 0);
        self.seen.take()
    }
}

/// Few messages for each link, so that many networks can be read.
fn small(random: &mut Random) -> Parameters {
    let parameters = Parameters::random(random);
    let links = match parameters.topology {
        Topology::Full => parameters.hosts * (parameters.hosts - 1) / 2,
        Topology::Chain | Topology::Star => parameters.hosts - 1,
    };
    let messages = random.range(8, 40) as usize;
    Parameters { messages: messages.min(240 / links), ..parameters }
}

fn sample(parameters: &Parameters, random: &mut Random) -> (World, Sample) {
    let world = World::new(parameters, random);
    let recordings = Recording::all(&world, parameters.duration, random);
    let sample = Sample::new(recordings, |_| Options::default());
    (world, sample)
}

/// Returns the number of receives between hosts.
fn receives(sample: &Sample) -> u64 {
    let events = sample.recordings.iter().flat_map(|of| of.files.iter().flatten());
    events.filter(|event| matches!(event.content, Content::Receive(_))).count() as u64
}

#[test]
fn a_thousand_networks_are_read_as_if_written_in_order() {
    let (mut related, mut all, mut errors) = (0, 0, Vec::new());
    for seed in 0..1000 {
        let mut random = Random(seed);
        let parameters = small(&mut random);
        let (world, sample) = sample(&parameters, &mut random);
        assert_eq!(sample.found.hosts.all().len(), parameters.hosts);
        assert_eq!(sample.found.counts.messages, receives(&sample), "seed {seed}");
        sample.check_reading(&mut random, seed);
        related += sample.check_messages(seed);
        all += receives(&sample) as usize;
        errors.push(sample.check_truth(&world, seed));
    }
    errors.sort_unstable();
    println!(
        "{related} of {all} messages; errors in ns: half {}, most {}",
        errors[500], errors[999]
    );
    assert!(related * 100 > all * 98, "{related} of {all} messages are between related hosts");
}

/// Messages in one direction make no transform, so that all clocks stay as they are.
#[test]
fn one_way_networks_keep_the_recorded_times() {
    for seed in 0..30 {
        let mut random = Random(seed);
        let parameters = Parameters { is_one_way: true, ..small(&mut random) };
        let (_, sample) = sample(&parameters, &mut random);
        assert!(sample.transforms.iter().all(ClockTransform::is_identity));
        let pairs = sample.found.clocks.pairs();
        assert!(pairs.iter().all(|pair| pair.bounds.quality() == PairQuality::OneWay));
        sample.check_reading(&mut random, seed);
        assert_eq!(sample.check_messages(seed), 0);
    }
}

/// The rate of host 1 changes by 200 ppm in the middle. The others of the chain beyond it are then
/// an island of their own.
#[test]
fn clocks_that_change_their_rates_are_left_out() {
    let mut contradictions = 0;
    for seed in 0..30 {
        let mut random = Random(seed);
        let parameters = Parameters {
            topology: Topology::Chain,
            messages: 60,
            step: 200_000,
            duration: 60_000_000_000,
            ..small(&mut random)
        };
        let (_, sample) = sample(&parameters, &mut random);
        sample.check_reading(&mut random, seed);
        sample.check_messages(seed);
        let pairs = sample.found.clocks.pairs().iter();
        let of_step = |host: HostIndex| {
            let trace = sample.found.hosts.all()[host.0].traces[0];
            sample.recordings[trace.0].host == 1
        };
        for pair in pairs {
            let contradicts = matches!(pair.bounds.quality(), PairQuality::Contradiction(_));
            assert!(!contradicts || of_step(pair.first) || of_step(pair.second), "seed {seed}");
            contradictions += usize::from(contradicts);
        }
    }
    assert!(contradictions >= 25, "{contradictions}");
}

/// Traces of LTTng 0.x, which contain no identity of the clock.
#[test]
fn pairs_of_lttng_0_are_synchronised() {
    for seed in 0..100 {
        let mut random = Random(seed);
        let parameters = Parameters { hosts: 2, messages: 60, ..Parameters::random(&mut random) };
        let world = World::new(&parameters, &mut random);
        let recordings = Recording::all(&world, parameters.duration, &mut random);
        let recordings: Vec<_> = recordings.into_iter().map(Recording::into_legacy).collect();
        let hosts: Vec<_> = recordings.iter().map(|of| of.host).collect();
        let sample = Sample::new(recordings, |traceset| {
            let mut hosts = hosts.iter();
            let mut options = Options::default();
            options.hosts = Some(Hosts::by(traceset, |_| format!("host-{:?}", hosts.next())));
            options
        });
        assert_eq!(sample.found.hosts.all().len(), 2);
        assert_eq!(sample.found.clocks.islands().len(), 1, "seed {seed}");
        assert_eq!(sample.found.counts.messages, receives(&sample), "seed {seed}");
        sample.check_reading(&mut random, seed);
        assert_eq!(sample.check_messages(seed) as u64, receives(&sample));
        sample.check_truth(&world, seed);
    }
}
