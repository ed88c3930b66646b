//! Checkpoints stay within their memory limit and evenly spread, and can be stored in files and
//! loaded again. Files that do not fit are refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lttv_context::{
    Bounds, CheckpointFileFault, CheckpointPolicy, Codec, Extension, Handle, Setup, Subscription,
    Traceset, TracesetContext,
};

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");

/// An extension that counts events, and has a large part that changes every thousand events.
struct Log {
    events: u64,
    part: Arc<Vec<u8>>,
    version: u32,
}

/// The size of the part, in bytes.
const PART: usize = 10_000;

impl Log {
    fn of_version(version: u32) -> Self {
        Log { events: 0, part: Arc::new(vec![0; PART]), version }
    }
}

impl Extension for Log {
    type Checkpoint = (u64, Arc<Vec<u8>>);

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        setup.hooks.on_event(Subscription::to_every_event(), move |call| {
            let log = &mut call.extensions[handle];
            log.events += 1;
            if log.events.is_multiple_of(1000) {
                log.part = Arc::new(vec![(log.events / 1000) as u8; PART]);
            }
        });
    }

    fn reset(&mut self) {
        *self = Log::of_version(self.version);
    }

    fn save(&self) -> Self::Checkpoint {
        (self.events, self.part.clone())
    }

    fn restore(&mut self, (events, part): &Self::Checkpoint) {
        self.events = *events;
        self.part = part.clone();
    }

    fn checkpoint_bytes(saved: &Self::Checkpoint, before: Option<&Self::Checkpoint>) -> usize {
        let shared = before.is_some_and(|before| Arc::ptr_eq(&before.1, &saved.1));
        size_of::<Self::Checkpoint>() + if shared { 0 } else { PART }
    }

    fn codec(&self) -> Option<Codec<Self>> {
        Some(Codec {
            name: "log",
            version: self.version,
            options: 7,
            write: |saved, before, out| {
                out.extend_from_slice(&saved.0.to_le_bytes());
                if before.is_none_or(|before| before.1 != saved.1) {
                    out.push(saved.1[0]);
                }
            },
            read: |_, bytes, before| {
                let (events, rest) = bytes.split_first_chunk()?;
                let part = match rest {
                    [] => before?.1.clone(),
                    [byte] => Arc::new(vec![*byte; PART]),
                    _ => return None,
                };
                Some((u64::from_le_bytes(*events), part))
            },
        })
    }
}

/// An extension without a codec.
struct Other;

impl Extension for Other {
    type Checkpoint = ();
    fn install(_: Handle<Self>, _: &mut Setup<'_, '_>) {}
    fn reset(&mut self) {}
    fn save(&self) {}
    fn restore(&mut self, (): &()) {}

    fn checkpoint_bytes(_: &(), _: Option<&()>) -> usize {
        size_of::<Self::Checkpoint>()
    }
}

fn context(trace: &Path) -> (TracesetContext<'static>, Handle<Log>) {
    let mut context = TracesetContext::new(Traceset::open(trace).expect("a trace"));
    let log = context.attach(Log::of_version(1));
    (context, log)
}

fn read(saving: CheckpointPolicy) -> TracesetContext<'static> {
    let (mut context, _) = context(Path::new(TRACE));
    context.state().set_policy(saving);
    let read = context.state().replay(&Bounds::all()).expect("bounds have no position");
    assert_eq!(read.events, 6087);
    context
}

/// Returns the number of events before each checkpoint.
fn places(context: &mut TracesetContext<'_>) -> Vec<u64> {
    let log = context.extensions().find::<Log>().expect("it is attached");
    let positions: Vec<_> = context.checkpoints().positions().cloned().collect();
    let mut place = |position| {
        context.seek_position(position).unwrap();
        assert_eq!(context.state().update(), 0);
        context.extensions()[log].events
    };
    positions.iter().map(&mut place).collect()
}

#[test]
fn shared_memory_is_counted_once() {
    let bytes = |every| read(CheckpointPolicy::every(every)).checkpoints().bytes();
    // There is a part for each thousand events, and one for the events before the first thousand.
    assert!((7 * PART..9 * PART).contains(&bytes(500)), "{}", bytes(500));
    assert!((3 * PART..4 * PART).contains(&bytes(2000)), "{}", bytes(2000));
}

#[test]
fn memory_is_bounded_and_checkpoints_stay_even() {
    let all = read(CheckpointPolicy::every(50));
    let (count, bytes) = (all.checkpoints().len(), all.checkpoints().bytes());
    assert_eq!(count, 6087 / 50);
    for memory in [bytes, bytes * 3 / 4, bytes / 2, bytes / 3, bytes / 5, 2 * PART, PART, 0] {
        let mut some = read(CheckpointPolicy::every(50).memory(memory));
        assert!(some.checkpoints().bytes() <= memory);
        let kept = places(&mut some);
        let distances = kept.windows(2).map(|two| two[1] - two[0]);
        let (least, most) = (distances.clone().min(), distances.max());
        assert!(least == most, "{memory} bytes: {kept:?}");
        assert!(memory < 2 * PART || 2 * most.unwrap_or(6087) > kept[0], "{kept:?}");
        assert_eq!(kept.len() == count, memory >= bytes);
    }
    // The limit also applies afterwards, and to checkpoints of another context.
    let mut less = read(CheckpointPolicy::every(50));
    less.state().set_policy(CheckpointPolicy::every(50).memory(bytes / 2));
    assert!(less.checkpoints().bytes() <= bytes / 2 && !less.checkpoints().is_empty());
    let mut other = TracesetContext::new(all.traceset());
    other.attach(Log::of_version(1));
    other.state().set_policy(CheckpointPolicy::never().memory(bytes / 2));
    assert_eq!(other.state().set_checkpoints(all.checkpoints().clone()), Ok(()));
    assert!(other.checkpoints().bytes() <= bytes / 2 && !other.checkpoints().is_empty());
}

fn stored(dir: &Path) -> PathBuf {
    let path = dir.join("log.checkpoints");
    read(CheckpointPolicy::every(500)).state().store_checkpoints(&path).expect("it is stored");
    let names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [path.as_path()], "nothing else is left");
    path
}

#[test]
fn stored_checkpoints_can_be_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(dir.path());
    let (mut context, log) = context(Path::new(TRACE));
    assert_eq!(context.state().load_checkpoints(&path).ok(), Some(12));
    assert_eq!(places(&mut context), (1..=12).map(|n| n * 500).collect::<Vec<_>>());
    let last = context.checkpoints().positions().last().cloned().unwrap();
    context.seek_position(&last).unwrap();
    context.state().update();
    assert_eq!(*context.extensions()[log].part, [6; PART]);
    // Equal parts are shared again.
    assert_eq!(
        context.checkpoints().bytes(),
        read(CheckpointPolicy::every(500)).checkpoints().bytes()
    );

    // With less memory, fewer checkpoints are kept.
    context.state().set_policy(CheckpointPolicy::never().memory(PART * 4));
    let loaded = context.state().load_checkpoints(&path).unwrap();
    assert!((2..6).contains(&loaded), "{loaded}");
    assert!(context.checkpoints().bytes() <= PART * 4);
    let kept = places(&mut context);
    assert!(kept.windows(3).all(|three| three[2] - three[1] == three[1] - three[0]), "{kept:?}");
}

#[test]
fn files_of_other_extensions_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(dir.path());
    let traceset = Traceset::open(TRACE).unwrap();
    let mut newer = TracesetContext::new(&traceset);
    newer.attach(Log::of_version(2));
    let mut more = TracesetContext::new(&traceset);
    more.attach(Log::of_version(1));
    more.attach(Log::of_version(1));
    let mut other = TracesetContext::new(&traceset);
    other.attach(Other);
    for (context, has_codec) in [(&mut newer, true), (&mut more, true), (&mut other, false)] {
        let error = context.state().load_checkpoints(&path).unwrap_err();
        match has_codec {
            true => assert!(matches!(error.fault, CheckpointFileFault::Missing { .. }), "{error}"),
            false => assert!(matches!(error.fault, CheckpointFileFault::NoCodec { .. }), "{error}"),
        }
        assert!(context.checkpoints().is_empty());
    }
    let mut none = TracesetContext::new(&traceset);
    for result in
        [none.state().load_checkpoints(&path).map(|_| ()), none.state().store_checkpoints(&path)]
    {
        let error = result.unwrap_err();
        assert!(matches!(error.fault, CheckpointFileFault::NothingToStore), "{error}");
    }
    // Extensions without a codec are left out, and plain data makes no difference.
    let mut both = TracesetContext::new(&traceset);
    both.attach(Other);
    both.attach_data(1);
    both.attach(Log::of_version(1));
    both.state().set_policy(CheckpointPolicy::every(1000));
    _ = both.state().replay(&Bounds::all()).unwrap();
    both.state().store_checkpoints(&path).unwrap();
    let (mut one, _) = context(Path::new(TRACE));
    assert_eq!(one.state().load_checkpoints(&path).ok(), Some(6));
    assert_eq!(places(&mut one), [1000, 2000, 3000, 4000, 5000, 6000]);
}

/// Copies the trace to a directory of its own, for tests that change it.
fn copy_of_trace(dir: &Path) -> PathBuf {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let from = entry.unwrap().path();
            let to = to.join(from.file_name().unwrap());
            if from.is_dir() { copy(&from, &to) } else { _ = fs::copy(&from, &to).unwrap() }
        }
    }
    let to = dir.join("trace");
    copy(Path::new(TRACE), &to);
    to
}

#[test]
fn a_copy_is_the_same_and_a_changed_trace_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let file = tempfile::tempdir().unwrap();
    let path = stored(file.path());
    let trace = copy_of_trace(dir.path());
    assert!(context(&trace).0.state().load_checkpoints(&path).is_ok());
    let stream = fs::read_dir(trace.join("kernel")).unwrap().map(|entry| entry.unwrap().path());
    let stream = stream.filter(|path| path.is_file() && !path.ends_with("metadata")).min();
    let mut bytes = fs::read(stream.as_ref().unwrap()).unwrap();
    // The trace has grown by a packet.
    bytes.extend_from_within(..);
    fs::write(stream.unwrap(), bytes).unwrap();
    let error = context(&trace).0.state().load_checkpoints(&path).unwrap_err();
    assert!(matches!(error.fault, CheckpointFileFault::Stale), "{error}");
}

#[test]
fn a_damaged_file_is_not_used_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(dir.path());
    let bytes = fs::read(&path).unwrap();
    let (mut context, _) = context(Path::new(TRACE));
    let mut refused = |bytes: &[u8], what: String| {
        fs::write(&path, bytes).unwrap();
        let error = context.state().load_checkpoints(&path).expect_err(&what);
        assert!(error.to_string().contains("log.checkpoints"), "{what}: {error}");
        assert!(context.checkpoints().is_empty(), "{what}");
        error
    };
    for length in 0..bytes.len() {
        let error = refused(&bytes[..length], format!("{length} bytes"));
        let truncated = matches!(error.fault, CheckpointFileFault::Truncated { .. });
        assert!(truncated || length < 8, "{length} bytes: {error}");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        refused(&changed, format!("byte {at}"));
    }
    let error = refused(&[&bytes[..], &[0]].concat(), "longer".to_owned());
    assert!(matches!(error.fault, CheckpointFileFault::Damaged { .. }), "{error}");
    let error = refused(b"some other file altogether", "another file".to_owned());
    assert!(matches!(error.fault, CheckpointFileFault::NotCheckpoints), "{error}");
    let mut newer = bytes.clone();
    newer[8] += 1;
    let error = refused(&newer, "a newer file".to_owned());
    assert!(matches!(error.fault, CheckpointFileFault::Format { found: 2, known: 1 }), "{error}");

    fs::write(&path, bytes).unwrap();
    assert!(context.state().load_checkpoints(&path).is_ok());
    let error = context.state().load_checkpoints(dir.path().join("none")).unwrap_err();
    assert!(matches!(error.fault, CheckpointFileFault::Io { .. }), "{error}");
}

#[test]
fn a_failed_write_keeps_the_old_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut context = read(CheckpointPolicy::every(500));
    let error = context.state().store_checkpoints(dir.path().join("no/such/folder")).unwrap_err();
    assert!(matches!(error.fault, CheckpointFileFault::Io { .. }), "{error}");
    // A directory cannot be replaced by a file.
    assert!(context.state().store_checkpoints(dir.path()).is_err());
}
