//! Directories that are followed while they are written, with all that tracers do to files.

use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::config::cases;
use crate::support::recording::{Stream, numbers, time_of};
use crate::support::timeline::{Timeline, timeline};
use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, StreamWriter, metadata_text, packetized_metadata, presets};
use ltt_read::{ClockTransform, Follower, Merge, NoticeKind, open_all};
use proptest::prelude::*;

/// The time of an event in ns, its number and its stream.
type Seen = (i64, u64, Option<u32>);

/// A follower with the merge of its traces.
struct Reader {
    follower: Follower,
    merge: Merge,
    seen: Vec<Seen>,
    field: &'static str,
    now: Instant,
}

impl Reader {
    fn new(dir: &Path, field: &'static str) -> Reader {
        let (follower, merge) = (Follower::new([dir]), Merge::new(&[]));
        Reader { follower, merge, seen: Vec::new(), field, now: Instant::now() }
    }

    /// Reads what was written. Returns the number of events that are final.
    fn poll(&mut self) -> usize {
        self.follower.poll(self.now).expect("files can be read");
        self.read()
    }

    fn read(&mut self) -> usize {
        self.merge.continue_with(self.follower.traces());
        let before = self.seen.len();
        while let Some(event) = self.merge.next() {
            let number = event.field(self.field).and_then(|number| number.as_u64());
            let time = event.timestamp().expect("a time").as_ns();
            self.seen.push((time, number.expect("a number"), event.tracefile().cpu()));
        }
        self.follower.release(&self.merge);
        self.seen.len() - before
    }

    /// Returns `true` if a notice about late events was reported since the last call.
    fn has_late_events(&mut self) -> bool {
        let mut notices = self.merge.take_notices().into_iter();
        notices.any(|notice| matches!(notice.kind, NoticeKind::LateEvents { .. }))
    }

    /// Ends the recording and returns all events.
    fn finish(self) -> Vec<Seen> {
        self.finish_with_notices().0
    }

    /// Ends the recording and returns all events, and `true` if some were late.
    fn finish_with_notices(mut self) -> (Vec<Seen>, bool) {
        self.poll();
        self.follower.complete().expect("valid metadata");
        self.read();
        assert!(!self.merge.is_pending());
        let is_late = self.has_late_events();
        self.merge.finish().expect("sound data");
        (self.seen, is_late)
    }
}

/// Reads all events of a finished recording.
fn expected(dir: &Path) -> Vec<Seen> {
    let traces = open_all(dir).expect("a trace");
    let mut merge = Merge::new(&traces);
    let mut seen = Vec::new();
    while let Some(event) = merge.next() {
        let number = event.field("number").and_then(|number| number.as_u64());
        let time = event.timestamp().expect("a time").as_ns();
        seen.push((time, number.expect("a number"), event.tracefile().cpu()));
    }
    merge.finish().expect("sound data");
    seen
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a file");
    file.write_all(bytes).expect("space");
}

/// A step of a tracer, or of the reader.
#[derive(Debug, Clone)]
enum Step {
    /// Writes a part of the next file of a stream.
    Write {
        stream: usize,
        bytes: usize,
    },
    Metadata {
        bytes: usize,
    },
    Poll,
    /// Moves the directory of the trace.
    Move,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = || prop_oneof![0..100usize, 0..5000usize];
    let write = (0..4usize, bytes()).prop_map(|(stream, bytes)| Step::Write { stream, bytes });
    let step = prop_oneof![
        8 => write,
        2 => bytes().prop_map(|bytes| Step::Metadata { bytes }),
        4 => Just(Step::Poll),
        1 => Just(Step::Move),
    ];
    prop::collection::vec(step, 0..60)
}

/// The writer of a recording, in any pieces.
struct Recorder {
    root: PathBuf,
    dir: PathBuf,
    moves: usize,
    metadata: VecDeque<u8>,
    /// The files of each stream, with the bytes that remain to be written.
    streams: Vec<VecDeque<(String, VecDeque<u8>)>>,
}

impl Recorder {
    fn new(root: &Path, timeline: &Timeline) -> Recorder {
        let text = metadata_text(&timeline.schema).expect("metadata");
        let metadata = packetized_metadata(&timeline.schema, &text, 512).into();
        let mut streams = vec![VecDeque::new(); timeline.streams.len()];
        for (name, bytes) in timeline.data() {
            let stream: usize = name.split('_').nth(1).expect("a CPU").parse().expect("a number");
            streams[stream].push_back((name, bytes.into()));
        }
        let dir = root.join("ust");
        fs::create_dir(&dir).expect("a directory");
        Recorder { root: root.to_owned(), dir, moves: 0, metadata, streams }
    }

    fn write(&mut self, stream: usize, bytes: usize) {
        let stream = stream % self.streams.len();
        let files = &mut self.streams[stream];
        let Some((name, left)) = files.front_mut() else { return };
        let part: Vec<u8> = left.drain(..bytes.min(left.len())).collect();
        append(&self.dir.join(&*name), &part);
        if left.is_empty() {
            files.pop_front();
        }
    }

    fn write_metadata(&mut self, bytes: usize) {
        let part: Vec<u8> = self.metadata.drain(..bytes.min(self.metadata.len())).collect();
        append(&self.dir.join("metadata"), &part);
    }

    fn finish(&mut self) {
        self.write_metadata(usize::MAX);
        for stream in 0..self.streams.len() {
            while !self.streams[stream].is_empty() {
                self.write(stream, usize::MAX);
            }
        }
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Write { stream, bytes } => self.write(stream, bytes),
            Step::Metadata { bytes } => self.write_metadata(bytes),
            Step::Move => {
                self.moves += 1;
                let to = self.root.join(format!("archive-{}", self.moves));
                fs::rename(&self.dir, &to).expect("a directory");
                self.dir = to;
            }
            Step::Poll => {}
        }
    }
}

proptest! {
    #![proptest_config(cases(150))]

    /// Whatever the reader sees of files in whatever state, it returns each event once and in
    /// the order of its stream, and all of them in the order of time.
    #[test]
    fn files_are_read_as_they_grow(mut timeline in timeline(true), steps in steps()) {
        prop_assume!(timeline.has_known_order());
        timeline.transform = ClockTransform::IDENTITY;
        let root = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(root.path(), &timeline);
        let mut reader = Reader::new(root.path(), "number");
        for step in &steps {
            recorder.take(step);
            if matches!(step, Step::Poll) {
                reader.poll();
            }
        }
        recorder.finish();
        let (mut seen, is_late) = reader.finish_with_notices();
        let mut all = expected(root.path());
        // Tracefiles whose first packets are found late may have earlier events.
        prop_assert!(is_late || seen.is_sorted_by_key(|(time, ..)| *time));
        let stream = |seen: &[Seen], of| -> Vec<Seen> {
            seen.iter().filter(|(.., cpu)| *cpu == Some(of)).copied().collect()
        };
        for cpu in 0..timeline.streams.len() as u32 {
            prop_assert_eq!(stream(&seen, cpu), stream(&all, cpu));
        }
        // At equal times, tracefiles that are found later come last.
        seen.sort();
        all.sort();
        prop_assert_eq!(seen, all);
    }
}

fn times(packets: impl IntoIterator<Item = u64>) -> Vec<u64> {
    packets.into_iter().flat_map(|packet| numbers(0, packet)).collect()
}

fn seen_numbers(reader: Reader) -> Vec<u64> {
    reader.finish().iter().map(|(_, number, _)| *number).collect()
}

/// Returns the bytes of a file with some packets.
fn file(packets: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    Stream::default().write(dir.path(), "c_0", packets);
    fs::read(dir.path().join("c_0")).unwrap()
}

/// Creates the directory of a trace without data.
fn trace_dir() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    Stream::default().write(dir.path(), "c_0", []);
    fs::remove_file(dir.path().join("c_0")).unwrap();
    dir
}

#[test]
fn files_that_are_written_anew_continue_their_stream() {
    // A ring of two files, truncated in place like those of local sessions, or removed and
    // created again like those of relay daemons.
    for in_place in [true, false] {
        let dir = trace_dir();
        let mut reader = Reader::new(dir.path(), "n");
        for packet in 0..40u64 {
            let path = dir.path().join(format!("c_0_{}", packet / 4 % 2));
            if packet % 4 == 0 {
                match in_place {
                    true => drop(fs::File::create(&path).unwrap()),
                    false => _ = fs::remove_file(&path),
                }
            }
            append(&path, &file([packet]));
            // Sometimes the reader sees a file only after it has as many packets as before.
            if packet % 3 == 0 || packet % 4 == 3 {
                reader.poll();
            }
        }
        assert_eq!(seen_numbers(reader), times(0..40), "in place: {in_place}");
    }
}

#[test]
fn packets_that_were_overwritten_before_they_were_read_are_reported_as_lost() {
    let dir = trace_dir();
    let path = dir.path().join("c_0");
    let mut reader = Reader::new(dir.path(), "n");
    fs::write(&path, file(0..4)).unwrap();
    reader.poll();
    fs::write(&path, file(6..9)).unwrap();
    reader.poll();
    reader.poll();
    let notices = reader.merge.take_notices();
    assert!(notices.iter().any(|notice| notice.to_string().contains("2 packets are missing")));
    assert_eq!(seen_numbers(reader), times((0..4).chain(6..9)));
}

#[test]
fn copies_of_packets_in_other_files_are_not_read_again() {
    let dir = trace_dir();
    let mut reader = Reader::new(dir.path(), "n");
    fs::write(dir.path().join("c_0"), file(0..4)).unwrap();
    reader.poll();
    fs::write(dir.path().join("copy_0"), file(2..6)).unwrap();
    reader.poll();
    assert_eq!(seen_numbers(reader), times(0..6));
}

#[test]
fn a_packet_whose_predecessor_is_in_a_file_read_before_waits_for_it() {
    let dir = trace_dir();
    let mut reader = Reader::new(dir.path(), "n");
    fs::write(dir.path().join("c_0_0"), file([0])).unwrap();
    reader.poll();
    // As if the first file was read before packet 1 was written to it.
    fs::write(dir.path().join("c_0_1"), file([2])).unwrap();
    assert_eq!(reader.poll(), 0);
    append(&dir.path().join("c_0_0"), &file([1]));
    assert_eq!(reader.poll(), times(1..3).len());
    assert_eq!(seen_numbers(reader), times(0..3));
}

#[test]
fn silent_streams_hold_up_others_for_the_limit_of_silence() {
    let dir = trace_dir();
    let start = Instant::now();
    let mut reader = Reader::new(dir.path(), "n");
    let limit = Duration::from_secs(2);
    reader.follower = Follower::new([dir.path()]).with_silence(limit);
    Stream { cpu: 1, ..Stream::default() }.write(dir.path(), "c_1", [0]);
    fs::write(dir.path().join("c_0"), file(0..3)).unwrap();
    // The declared end of the only packet of CPU 1 is the time of the first event of packet 1.
    assert_eq!(reader.poll(), 2 * times([0]).len() + 1);
    reader.now = start + Duration::from_millis(1900);
    assert_eq!(reader.poll(), 0);
    reader.now = start + Duration::from_millis(2100);
    assert_eq!(reader.poll(), times(1..3).len() - 1);
    assert!(reader.merge.is_pending());
    // A later event of CPU 1 is in order if it is later than all that was known.
    Stream { cpu: 1, ..Stream::default() }.write(dir.path(), "c_1", [0, 5]);
    fs::write(dir.path().join("c_0"), file(0..7)).unwrap();
    reader.poll();
    assert!(!reader.has_late_events());
    let all = reader.finish();
    assert_eq!(all.len(), 9 * times([0]).len());
    assert!(all.is_sorted_by_key(|(time, ..)| *time));
    assert_eq!(all[0].0, time_of(0) as i64);
}

#[test]
fn a_torn_packet_is_damage_only_at_the_end_of_the_recording() {
    let dir = trace_dir();
    let mut reader = Reader::new(dir.path(), "n");
    let bytes = file(0..2);
    let path = dir.path().join("c_0");
    append(&path, &bytes[..bytes.len() - 1]);
    reader.poll();
    assert!(reader.merge.errors().is_empty());
    reader.follower.complete().unwrap();
    reader.read();
    // The last event of the packet lacks a byte.
    assert_eq!(reader.seen.len(), times(0..2).len() - 1);
    let error = reader.merge.finish().unwrap_err().to_string();
    assert!(error.contains("c_0: packet 1, byte "), "{error}");
    assert!(error.contains("ends 1 bytes before the end of this packet"), "{error}");
}

#[test]
fn a_packet_without_a_size_is_read_at_the_end_of_the_recording() {
    let dir = tempfile::tempdir().unwrap();
    let metadata = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
        clock { name = c; };
        stream { event.header := struct { integer { size = 8; map = clock.c.value; } timestamp; }; };
        event { name = \"tick\"; fields := struct { integer { size = 8; } n; }; };";
    fs::write(dir.path().join("metadata"), metadata).unwrap();
    let mut reader = Reader::new(dir.path(), "n");
    append(&dir.path().join("stream"), &[1, 7]);
    assert_eq!(reader.poll(), 0);
    append(&dir.path().join("stream"), &[2, 8]);
    assert_eq!(reader.poll(), 0);
    assert_eq!(seen_numbers(reader), [7, 8]);
}

#[test]
fn metadata_that_never_becomes_valid_is_an_error_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut follower = Follower::new([dir.path()]);
    assert!(!follower.poll(Instant::now()).unwrap());
    fs::write(dir.path().join("metadata"), "trace { major = 1;").unwrap();
    assert!(!follower.poll(Instant::now()).unwrap());
    let error = follower.complete().unwrap_err().to_string();
    assert!(error.contains("metadata:"), "{error}");
}

#[test]
fn new_traces_join_while_others_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut reader = Reader::new(dir.path(), "n");
    let write = |name: &str, uuid: u8, time: u64| {
        let mut schema = presets::lttng_ust(Format::Ctf1);
        schema.uuid = Some(ltt_read::uuid::Uuid([uuid; 16]));
        let fields = FieldClass::structure([("n", FieldClass::uint(8, ByteOrder::Little))]);
        let tick = schema.add_event_type(StreamClassId(0), "tick", fields);
        let text = metadata_text(&schema).unwrap();
        let dir = dir.path().join(name);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("metadata"), text).unwrap();
        let schema = std::sync::Arc::new(schema);
        let writer = StreamWriter::new(schema, StreamClassId(0), "ch_0", Vec::new()).unwrap();
        let mut writer = writer.with_stream_id(0);
        writer.begin_packet(time).unwrap();
        writer.event(tick, time, FieldValue::structure([u64::from(uuid).into()])).unwrap();
        writer.end_packet(time).unwrap();
        append(&dir.join("ch_0"), &writer.finish().unwrap());
    };
    write("pid/a-1", 1, 10);
    reader.poll();
    write("pid/b-2", 2, 20);
    reader.poll();
    write("pid/a-1", 1, 30);
    reader.poll();
    assert!(reader.merge.watermark().is_some_and(|time| time.as_ns() >= 20));
    assert_eq!(seen_numbers(reader), [1, 2, 1]);
}
