//! 2,000 mutants of recordings of ftrace and perf: no panic, no endless reading, bounded memory, and the events before
//! the damage.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ltt_read::{Follower, Merge, Trace, TracefileIndex, ftrace, perf};

use crate::support::read_all::read_all;

/// The number of mutants of all recordings.
const MUTANTS: u64 = 2000;

/// The address space that reading all of them may take, in KiB, with the program itself.
#[cfg(target_os = "linux")]
const ADDRESS_SPACE: u32 = 1 << 20;

/// The time that reading all of them may take.
const TIME: Duration = Duration::from_secs(120);

/// A way to open a recording; `None` if it is refused.
type Open = fn(Vec<u8>) -> Option<Vec<Arc<Trace>>>;

/// A sound recording.
struct Recording {
    name: &'static str,
    bytes: Vec<u8>,
    open: Open,
    /// The place of each tracefile in the file in bytes, and its events; `None` if the file is compressed.
    events: Option<HashMap<String, (u64, Vec<Known>)>>,
}

impl Recording {
    /// Iterates over the places of its events in the file, in bytes.
    fn places(&self) -> impl Iterator<Item = u64> + '_ {
        let tracefiles = self.events.iter().flat_map(|known| known.values());
        tracefiles.flat_map(|(place, events)| events.iter().map(move |of| place + of.offset))
    }
}

/// An event of a sound recording.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    /// The place in the part of the file that is its tracefile, in bytes.
    offset: u64,
    time: Option<i64>,
    name: String,
}

fn open_ftrace(bytes: Vec<u8>) -> Option<Vec<Arc<Trace>>> {
    ftrace::from_memory(bytes).ok()
}

fn open_perf(bytes: Vec<u8>) -> Option<Vec<Arc<Trace>>> {
    Some(vec![perf::from_memory(bytes).ok()?])
}

/// Reads the events of each tracefile up to its first error, at most `limit` of all.
fn events(traces: &[Arc<Trace>], limit: usize) -> HashMap<String, Vec<Known>> {
    let (mut all, mut count) = (HashMap::new(), 0);
    for trace in traces {
        for (number, tracefile) in trace.tracefiles().iter().enumerate() {
            let mut found = Vec::new();
            let mut cursor = trace.cursor(TracefileIndex(number));
            while let Ok(Some(event)) = cursor.next() {
                found.push(Known {
                    offset: event.offset() / 8,
                    time: event.timestamp().map(|time| time.as_ns()),
                    name: event.event_type().name().to_owned(),
                });
                count += 1;
                assert!(count <= limit, "more events than bytes");
            }
            all.insert(tracefile.name().to_owned(), found);
        }
    }
    all
}

/// Finds the place of a tracefile in a file, by its events.
type Find = fn(&[u8], &[Known]) -> Option<u64>;

/// Returns the place of the first page of the generated recording, which begins with its time.
fn place_of_pages(file: &[u8], events: &[Known]) -> Option<u64> {
    let time = (events.first()?.time? - 1) as u64;
    let mut pages = file.chunks(256);
    pages.position(|page| page.starts_with(&time.to_le_bytes())).map(|page| 256 * page as u64)
}

/// Returns the place from which all events are at the begins of records of perf.
fn place_of_records(file: &[u8], events: &[Known]) -> Option<u64> {
    let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("8 bytes"));
    let (mut at, end) = (number(40), number(40) + number(48));
    let mut begins = Vec::new();
    while at < end {
        begins.push(at);
        let size = at as usize + 6;
        at += u64::from(u16::from_le_bytes([file[size], file[size + 1]]));
    }
    // A record contains its time.
    let fits = |begin: &u64| {
        events.iter().all(|event| {
            let at = begin + event.offset;
            let Ok(found) = begins.binary_search(&at) else { return false };
            let end = begins.get(found + 1).copied().unwrap_or(end);
            let record = &file[at as usize..end as usize];
            let time = event.time.unwrap_or(0).to_le_bytes();
            record.windows(time.len()).any(|word| word == time)
        })
    };
    begins.iter().copied().find(fits)
}

fn recordings() -> Vec<Recording> {
    let perf_file: &[u8] = include_bytes!("../../../examples/traces/perf/perf.data");
    let generated = crate::ftrace_damage::recording().version_6();
    let all: [(&'static str, &[u8], Open, Option<Find>); 5] = [
        ("ftrace, version 7", include_bytes!("../data/ftrace/synthetic.dat"), open_ftrace, None),
        ("ftrace, version 6", &generated, open_ftrace, Some(place_of_pages)),
        (
            "perf, a task",
            include_bytes!("../data/perf/task.data"),
            open_perf,
            Some(place_of_records),
        ),
        ("perf, compressed pipe", include_bytes!("../data/perf/pipe-z.data"), open_perf, None),
        ("perf, a clock", perf_file, open_perf, Some(place_of_records)),
    ];
    let recording = |(name, bytes, open, find): (&'static str, &[u8], Open, Option<Find>)| {
        let traces = open(bytes.to_vec()).expect("a sound recording");
        let events = events(&traces, 10 * bytes.len());
        assert!(events.values().map(Vec::len).sum::<usize>() > 50, "{name}");
        let placed = |find: Find| {
            let place = |(tracefile, events): (String, Vec<Known>)| {
                let place = find(bytes, &events).unwrap_or_else(|| panic!("{name}: {tracefile}"));
                (tracefile, (place, events))
            };
            events.into_iter().map(place).collect()
        };
        Recording { name, bytes: bytes.to_vec(), open, events: find.map(placed) }
    };
    all.into_iter().map(recording).collect()
}

/// A sequence of numbers without a pattern, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number below an upper limit.
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Lengths that lead astray.
const LENGTHS: [u64; 10] =
    [0, 1, 7, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, i64::MAX as u64, u64::MAX];

/// Damages a file and returns the place of the first damage.
fn damage(bytes: &mut Vec<u8>, numbers: &mut Numbers) -> usize {
    let len = bytes.len();
    match numbers.below(5) {
        // Some bits.
        0 | 1 => {
            let mut first = len;
            for _ in 0..=numbers.below(4) {
                let at = numbers.below(len);
                bytes[at] ^= 1 << numbers.below(8);
                first = first.min(at);
            }
            first
        }
        // The end is missing.
        2 => {
            let at = numbers.below(len);
            bytes.truncate(at);
            at
        }
        // A length.
        3 => {
            let (size, value) =
                ([2, 4, 8][numbers.below(3)], LENGTHS[numbers.below(LENGTHS.len())]);
            let at = numbers.below(len / size) * size;
            bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            at
        }
        // A part of the file in the place of another one.
        _ => {
            let size = 1 + numbers.below(64.min(len / 2));
            let (from, to) = (numbers.below(len - size), numbers.below(len - size));
            bytes.copy_within(from..from + size, to);
            to
        }
    }
}

/// Compares the events before the damage with those of the sound recording. Returns their number. Names are
/// compared if their descriptions are undamaged.
fn check_events_before(
    recording: &Recording,
    traces: &[Arc<Trace>],
    (at, has_names): (usize, bool),
    label: &str,
) -> usize {
    let Some(known) = &recording.events else { return 0 };
    let places = || recording.places();
    let (first, last) = (places().min().unwrap_or(0), places().max().unwrap_or(0));
    // Damage elsewhere is to the descriptions of what is read.
    if !(first..last).contains(&(at as u64)) {
        return 0;
    }
    let found = events(traces, recording.bytes.len() + (1 << 16));
    let mut compared = 0;
    for (name, (place, expected)) in known {
        // An event ends before the next one of its CPU begins.
        let before = expected.windows(2).take_while(|of| place + of[1].offset <= at as u64).count();
        let found = found.get(name).map_or(&[][..], Vec::as_slice);
        assert!(found.len() >= before, "{label}: {name} has {} of {before} events", found.len());
        let different = (0..before).find(|at| {
            let (found, expected) = (&found[*at], &expected[*at]);
            let is_same_place = (found.offset, found.time) == (expected.offset, expected.time);
            !is_same_place || has_names && found.name != expected.name
        });
        assert_eq!(different, None, "{label}: {name}, the number of an event that differs");
        compared += before;
    }
    compared
}

/// Reads all mutants. The test below runs this in a process of its own.
#[test]
#[ignore = "a part of another test"]
fn mutants_are_read() {
    let (recordings, start) = (recordings(), Instant::now());
    let (mut opened, mut compared) = (0, 0);
    for seed in 0..MUTANTS {
        let recording = &recordings[seed as usize % recordings.len()];
        let mut numbers = Numbers(seed);
        let mut bytes = recording.bytes.clone();
        let at = damage(&mut bytes, &mut numbers);
        // The descriptions of events are at the end of a file of perf.
        let last = recording.places().max().unwrap_or(0) as usize;
        let has_names = bytes.get(last..) == recording.bytes.get(last..);
        let label = format!("mutant {seed} of {}, damaged at {at}", recording.name);
        let Some(traces) = (recording.open)(bytes) else {
            let is_in_events = recording.places().any(|place| place < at as u64)
                && recording.places().any(|place| place > at as u64);
            assert!(!is_in_events, "{label}: not opened");
            continue;
        };
        opened += 1;
        for trace in &traces {
            read_all(trace);
            _ = trace.time_span();
        }
        compared += check_events_before(recording, &traces, (at, has_names), &label);
        assert!(start.elapsed() < TIME, "{label}: after {:?}", start.elapsed());
    }
    assert!(opened > MUTANTS / 2, "{opened} were opened");
    assert!(compared > 20_000, "{compared} events were compared");
    println!(
        "{opened} of {MUTANTS} mutants were opened, {compared} events before the damage compared"
    );
}

/// The time for which each of the next two tests reads mutants.
const LONG: Duration = Duration::from_secs(300);

/// Tells which mutant was read when a test failed.
struct Label(u64, &'static str);

impl Drop for Label {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("mutant {} of {}", self.0, self.1);
        }
    }
}

/// Reads mutants of the recordings of a format for a long time, also as streams.
fn read_for_long(format: &str) {
    let recordings: Vec<Recording> =
        recordings().into_iter().filter(|of| of.name.starts_with(format)).collect();
    let (start, mut seed) = (Instant::now(), MUTANTS);
    while start.elapsed() < LONG {
        let recording = &recordings[seed as usize % recordings.len()];
        let _label = Label(seed, recording.name);
        let mut numbers = Numbers(seed);
        let mut bytes = recording.bytes.clone();
        for _ in 0..=numbers.below(3) {
            if bytes.len() > 64 {
                damage(&mut bytes, &mut numbers);
            }
        }
        if format == "perf" {
            read_stream(&bytes, 1 + numbers.below(1 << 14));
        }
        for trace in (recording.open)(bytes).into_iter().flatten() {
            read_all(&trace);
            _ = trace.time_span();
        }
        seed += 1;
    }
    println!("{} mutants in {LONG:?}", seed - MUTANTS);
}

/// Follows a recording that arrives in parts of a size.
fn read_stream(bytes: &[u8], size: usize) {
    let (sender, stream) = std::sync::mpsc::sync_channel(1);
    let mut follower = Follower::new([""; 0]).with_stream("-", stream);
    let mut merge = Merge::new(&[]);
    for part in bytes.chunks(size) {
        // What is no recording is not received.
        if sender.send(Ok(part.to_vec())).is_err() {
            break;
        }
        _ = follower.poll(Instant::now());
        merge.continue_with(follower.traces());
        while merge.next().is_some() {}
    }
    drop(sender);
    _ = follower.poll(Instant::now());
    merge.continue_with(follower.traces());
    while merge.next().is_some() {}
    assert!(!merge.is_pending());
}

#[test]
#[ignore = "takes five minutes"]
fn recordings_of_ftrace_for_long() {
    read_for_long("ftrace");
}

#[test]
#[ignore = "takes five minutes"]
fn recordings_of_perf_for_long() {
    read_for_long("perf");
}

/// A process of its own has limits of memory and time.
#[cfg(target_os = "linux")]
#[test]
fn mutants_are_read_within_limits() {
    use std::process::Command;
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {ADDRESS_SPACE} && exec \"$@\""), "sh"])
        .arg(program)
        .args(["--exact", "mutants::mutants_are_read", "--ignored", "--nocapture"])
        .args(["--test-threads", "1"])
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}\n{text}\n{errors}", output.status);
    assert!(text.contains("1 passed"), "{text}");
}
