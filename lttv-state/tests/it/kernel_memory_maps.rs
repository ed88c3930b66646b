//! Memory maps compared with a plain model of pages, and from checkpoints.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use ltt_read::TraceIndex;
use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, StreamFile, StreamWriter, TraceWriter, presets};
use lttv_context::{Bounds, CheckpointPolicy, Extension, Traceset, TracesetContext};
use lttv_state::kernel::{Backing, KernelState, MemoryMaps, TraceState};
use proptest::prelude::*;

use crate::support;

const PAGE: u64 = 4096;
const PAGES: u64 = 24;

/// A range of pages: the first one and their number.
type Place = (u64, u64);

/// A step of the only CPU.
#[derive(Debug, Clone)]
enum Step {
    Map {
        at: Place,
        access: u64,
        is_shared: bool,
        descriptor: i64,
    },
    Unmap(Place),
    Protect {
        at: Place,
        access: u64,
    },
    Remap {
        from: Place,
        to: Place,
        keeps: bool,
    },
    Break(u64),
    /// Calls that fail with this error.
    Fail(i64),
    Dumped {
        thread: usize,
        at: Place,
        access: u64,
        inode: u64,
    },
    Switch(usize),
    Fork {
        is_thread: bool,
    },
    Exec,
    Exit,
}

fn step() -> impl Strategy<Value = Step> {
    let place = || (0..PAGES, 1..9u64);
    let access = || 0..8u64;
    prop_oneof![
        6 => (place(), access(), any::<bool>(), -1..5i64).prop_map(
            |(at, access, is_shared, descriptor)| Step::Map { at, access, is_shared, descriptor }
        ),
        4 => place().prop_map(Step::Unmap),
        2 => (place(), access()).prop_map(|(at, access)| Step::Protect { at, access }),
        2 => (place(), place(), any::<bool>())
            .prop_map(|(from, to, keeps)| Step::Remap { from, to, keeps }),
        3 => (0..PAGES).prop_map(Step::Break),
        1 => (1..4096i64).prop_map(Step::Fail),
        1 => (0..4usize, place(), access(), 0..2u64)
            .prop_map(|(thread, at, access, inode)| Step::Dumped { thread, at, access, inode }),
        2 => (0..6usize).prop_map(Step::Switch),
        1 => any::<bool>().prop_map(|is_thread| Step::Fork { is_thread }),
        1 => Just(Step::Exec),
        1 => Just(Step::Exit),
    ]
}

/// The state of a page: protection and 8 for shared, kind, file, position in the file.
type Page = (u8, &'static str, u64, u64);

/// The pages of a process, and its program break.
#[derive(Debug, Clone, Default)]
struct Pages {
    all: BTreeMap<u64, Page>,
    program_break: Option<u64>,
}

impl Pages {
    fn unmap(&mut self, (page, pages): Place) {
        (page..page + pages).for_each(|page| _ = self.all.remove(&page));
    }

    fn map(&mut self, (page, pages): Place, (access, kind, file, position): Page) {
        for at in 0..pages {
            let position = if is_file(kind) { position + at * PAGE } else { 0 };
            self.all.insert(page + at, (access, kind, file, position));
        }
    }
}

fn is_file(kind: &str) -> bool {
    matches!(kind, "file" | "inode")
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Thread {
    tid: i64,
    pid: i64,
}

/// The plain model: the pages of each process, and the threads, the running one first.
#[derive(Debug, Clone, Default)]
struct Model {
    pages: BTreeMap<i64, Pages>,
    threads: Vec<Thread>,
}

/// The event types with their fields: numbers, and texts where the name ends in `$`.
const TYPES: [(&str, &[&str]); 18] = [
    ("syscall_entry_mmap", &["addr", "len", "prot", "flags", "fd", "offset"]),
    ("syscall_exit_mmap", &["ret"]),
    ("syscall_entry_munmap", &["addr", "len"]),
    ("syscall_exit_munmap", &["ret"]),
    ("syscall_entry_mprotect", &["start", "len", "prot"]),
    ("syscall_exit_mprotect", &["ret"]),
    ("syscall_entry_mremap", &["addr", "old_len", "new_len", "flags", "new_addr"]),
    ("syscall_exit_mremap", &["ret"]),
    ("syscall_entry_brk", &["brk"]),
    ("syscall_exit_brk", &["ret"]),
    ("syscall_entry_openat", &["filename$"]),
    ("syscall_exit_openat", &["ret"]),
    ("sched_switch", &["prev_comm$", "prev_tid", "prev_state", "next_comm$", "next_tid"]),
    ("sched_process_fork", &["parent_tid", "child_comm$", "child_tid", "child_pid"]),
    ("sched_process_exec", &["filename$", "tid", "old_tid"]),
    ("sched_process_exit", &["tid"]),
    ("lttng_statedump_process_state", &["tid", "pid", "ppid"]),
    ("lttng_statedump_vm_map", &["pid", "start", "end", "flags", "inode", "pgoff"]),
];

/// The writer of a trace.
struct Writer {
    stream: StreamWriter<StreamFile>,
    ids: Vec<EventTypeId>,
    time: u64,
    events: usize,
}

fn schema() -> (Schema, Vec<EventTypeId>) {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let ids = TYPES.map(|(name, fields)| {
        let fields = fields.iter().map(|field| match field.strip_suffix('$') {
            Some(text) => (text, presets::text_array(16)),
            None => (*field, FieldClass::sint(64, ByteOrder::Little)),
        });
        let class = FieldClass::structure(fields);
        schema.add_event_type(StreamClassId(0), name, class)
    });
    (schema, ids.into())
}

impl Writer {
    /// Writes an event with these numbers, and with texts that contain a number.
    fn event(&mut self, name: &str, values: &[i64]) {
        let at = TYPES.iter().position(|of| of.0 == name).expect("a known name");
        let fields =
            TYPES[at].1.iter().zip(values).map(|(field, value)| match field.strip_suffix('$') {
                Some(text) => (text, FieldValue::Str(format!("text {value}"))),
                None => (*field, FieldValue::from(*value)),
            });
        assert_eq!(TYPES[at].1.len(), values.len());
        self.time += 10;
        self.events += 1;
        let fields = FieldValue::fields(fields.collect::<Vec<_>>());
        self.stream.event(self.ids[at], self.time, fields).unwrap();
    }

    fn call(&mut self, name: &str, arguments: &[i64], result: i64) {
        self.event(&format!("syscall_entry_{name}"), arguments);
        self.event(&format!("syscall_exit_{name}"), &[result]);
    }
}

fn bytes(pages: u64) -> i64 {
    (pages * PAGE) as i64
}

/// Writes a trace, and returns the model after each event.
fn write(dir: &Path, steps: &[Step]) -> Vec<Model> {
    let (schema, ids) = schema();
    let writer = TraceWriter::create(dir, schema).unwrap();
    let stream = writer.stream(StreamClassId(0), "channel_0").unwrap();
    let context = FieldValue::fields([("cpu_id", 0u64)]);
    let mut stream = stream.with_stream_id(0).with_packet_context(context);
    stream.begin_packet(1000).unwrap();
    let mut out = Writer { stream, ids, time: 1000, events: 0 };
    let mut model = Model::default();
    for (tid, pid) in [(100, 100), (200, 200), (201, 200)] {
        out.event("lttng_statedump_process_state", &[tid, pid, 1]);
        model.threads.push(Thread { tid, pid });
    }
    out.event("sched_switch", &[0, 0, 0, 1, 100]);
    (0..4).for_each(|descriptor| out.call("openat", &[descriptor], descriptor));
    let mut models = vec![model.clone(); out.events];
    let mut next = 300;
    for step in steps {
        apply(&mut out, &mut model, step, &mut next);
        models.resize(out.events, model.clone());
    }
    drop(out.stream.finish().unwrap());
    models
}

/// Writes the events of a step, and applies it to the model.
fn apply(out: &mut Writer, model: &mut Model, step: &Step, next: &mut i64) {
    let running = model.threads[0];
    let pages = model.pages.entry(running.pid).or_default();
    match *step {
        Step::Map { at, access, is_shared, descriptor } => {
            let (kind, file) = match descriptor {
                ..0 => ("memory", 0),
                _ => ("file", descriptor as u64),
            };
            let flags = if is_shared { 1 } else { 2 } | if descriptor < 0 { 32 } else { 0 };
            // The length need not be a multiple of the page size.
            let length = bytes(at.1) - 100;
            let arguments = [0, length, access as i64, flags, descriptor, bytes(3)];
            out.call("mmap", &arguments, bytes(at.0));
            let access = access as u8 | if is_shared { 8 } else { 0 };
            pages.map(at, (access, kind, file, 3 * PAGE));
        }
        Step::Unmap(at) => {
            out.call("munmap", &[bytes(at.0), bytes(at.1)], 0);
            pages.unmap(at);
        }
        Step::Protect { at, access } => {
            out.call("mprotect", &[bytes(at.0), bytes(at.1), access as i64], 0);
            for (_, page) in pages.all.range_mut(at.0..at.0 + at.1) {
                page.0 = page.0 & 8 | access as u8;
            }
        }
        Step::Remap { from, to, keeps } => {
            let flags = if keeps { 5 } else { 1 };
            let arguments = [bytes(from.0), bytes(from.1), bytes(to.1), flags, 0];
            out.call("mremap", &arguments, bytes(to.0));
            if let Some(first) = pages.all.get(&from.0).copied() {
                if !keeps {
                    pages.unmap(from);
                }
                pages.map(to, first);
            }
        }
        Step::Break(page) => {
            out.call("brk", &[bytes(page)], bytes(page));
            let before = pages.program_break.replace(page).unwrap_or(page);
            if page > before {
                pages.map((before, page - before), (3, "heap", 0, 0));
            } else {
                pages.unmap((page, before - page));
            }
        }
        Step::Fail(error) => {
            out.call("munmap", &[0, bytes(PAGES)], -error);
            out.call("mmap", &[0, bytes(PAGES), 3, 34, -1, 0], -error);
        }
        Step::Dumped { thread, at, access, inode } => {
            let pid = model.threads[thread % model.threads.len()].pid;
            let (start, end) = (bytes(at.0), bytes(at.0 + at.1));
            let values = [pid, start, end, (access | 0x70) as i64, inode as i64, bytes(1)];
            out.event("lttng_statedump_vm_map", &values);
            let of = model.pages.entry(pid).or_default();
            if of.all.range(at.0..at.0 + at.1).next().is_none() {
                let kind = if inode > 0 { "inode" } else { "memory" };
                of.map(at, (access as u8, kind, inode, PAGE));
            }
        }
        Step::Switch(to) => {
            let to = to % model.threads.len();
            if to > 0 {
                out.event("sched_switch", &[0, running.tid, 0, 1, model.threads[to].tid]);
                model.threads.swap(0, to);
            }
        }
        Step::Fork { is_thread } => {
            let tid = std::mem::replace(next, *next + 1);
            let pid = if is_thread { running.pid } else { tid };
            out.event("sched_process_fork", &[running.tid, 0, tid, pid]);
            if !is_thread {
                let copy = pages.clone();
                model.pages.insert(pid, copy);
            }
            model.threads.push(Thread { tid, pid });
        }
        // An exec of another thread than the first one ends that one.
        Step::Exec if running.tid == running.pid => {
            out.event("sched_process_exec", &[0, running.tid, running.tid]);
            model.pages.remove(&running.pid);
        }
        // All threads of the process end with its first one, and another process remains.
        Step::Exit => {
            let ends = |of: &Thread| match running.tid == running.pid {
                true => of.pid == running.pid,
                false => *of == running,
            };
            if model.threads.iter().all(ends) {
                return;
            }
            out.event("sched_process_exit", &[running.tid]);
            model.threads.retain(|of| !ends(of));
            if running.tid == running.pid {
                model.pages.remove(&running.pid);
            }
            out.event("sched_switch", &[0, running.tid, 0, 1, model.threads[0].tid]);
        }
        Step::Exec => {}
    }
}

/// Returns the pages of all processes of the model that have any.
fn pages_of_model(model: &Model) -> BTreeMap<i64, BTreeMap<u64, Page>> {
    let live = model.threads.iter().map(|of| of.pid);
    let pages = live.filter_map(|pid| Some((pid, model.pages.get(&pid)?.all.clone())));
    pages.filter(|(_, pages)| !pages.is_empty()).collect()
}

/// Returns the pages of the processes of the model's threads.
fn pages_of(
    maps: &MemoryMaps,
    state: &TraceState,
    model: &Model,
) -> BTreeMap<i64, BTreeMap<u64, Page>> {
    let mut all: BTreeMap<i64, BTreeMap<u64, Page>> = BTreeMap::new();
    for thread in &model.threads {
        // The first events are dumps of further threads.
        let Some((_, process)) = state.find(thread.tid as i32) else { continue };
        let (mut pages, mut last) = (BTreeMap::new(), 0);
        for mapping in maps.of(TraceIndex(0), state, process) {
            let range = mapping.addresses();
            assert!(last <= range.start && range.start < range.end, "{mapping:?}");
            last = range.end;
            let access = u8::from(mapping.is_readable())
                | u8::from(mapping.is_writable()) << 1
                | u8::from(mapping.is_executable()) << 2
                | u8::from(mapping.is_shared()) << 3;
            let (kind, file, offset) = match mapping.backing() {
                Backing::Anonymous => ("memory", 0, 0),
                Backing::Heap => ("heap", 0, 0),
                Backing::File { descriptor, name, offset } => {
                    // The first process opened the files.
                    if thread.pid == 100 && descriptor < 4 {
                        assert_eq!(state.name(name), format!("text {descriptor}"));
                    }
                    ("file", descriptor as u64, offset)
                }
                Backing::Inode { number, offset } => ("inode", number, offset),
                other => panic!("{other:?}"),
            };
            for page in range.start / PAGE..range.end / PAGE {
                let passed = page * PAGE - range.start;
                let offset = if is_file(kind) { offset + passed } else { 0 };
                pages.insert(page, (access, kind, file, offset));
            }
        }
        let first = all.entry(thread.pid).or_insert_with(|| pages.clone());
        assert_eq!(*first, pages, "threads share their maps");
    }
    all.retain(|_, pages| !pages.is_empty());
    all
}

/// Attaches the maps to a context.
fn attach(
    context: &mut TracesetContext<'_>,
) -> (lttv_context::Handle<KernelState>, lttv_context::Handle<MemoryMaps>) {
    let kernel = context.attach(KernelState::new());
    (kernel, context.attach(MemoryMaps::new(kernel)))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(96)
    })]

    #[test]
    fn maps_are_those_of_a_model_of_pages(
        steps in prop::collection::vec(step(), 0..150),
        middle in any::<prop::sample::Index>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let models = write(folder.path(), &steps);
        let traceset = Traceset::open(folder.path()).unwrap();
        let mut context = TracesetContext::new(&traceset);
        let (kernel, maps) = attach(&mut context);
        let (number, expected) = (Rc::new(RefCell::new(0)), models.clone());
        let numbers = Rc::clone(&number);
        context.on_event("*", move |call| {
            let model = &expected[*numbers.borrow()];
            *numbers.borrow_mut() += 1;
            let name = call.event.event_type().name();
            // A step takes effect at its last event.
            if name.starts_with("syscall_") && !name.starts_with("syscall_exit")
                || name == "sched_process_exit"
            {
                return;
            }
            let state = call.extensions[kernel].trace(TraceIndex(0)).expect("one trace");
            let found = pages_of(&call.extensions[maps], state, model);
            assert_eq!(found, pages_of_model(model), "event {} {name}", numbers.borrow());
        });
        prop_assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
        prop_assert_eq!(*number.borrow(), models.len());

        // The same from a checkpoint.
        let at = middle.index(models.len()) as u64;
        let mut from_checkpoint = TracesetContext::new(&traceset);
        let (_, maps) = attach(&mut from_checkpoint);
        from_checkpoint.state().set_policy(CheckpointPolicy::every(17));
        _ = from_checkpoint.state().replay(&Bounds::all()).unwrap();
        let mut replayed = TracesetContext::new(&traceset);
        let (_, replayed_maps) = attach(&mut replayed);
        _ = replayed.state().replay(&Bounds::all().events(at)).unwrap();
        from_checkpoint.seek_position(&replayed.position()).unwrap();
        from_checkpoint.state().update();
        let saved = from_checkpoint.extensions()[maps].save();
        prop_assert!(saved == replayed.extensions()[replayed_maps].save());
    }
}

/// A program that starts within the bundled trace has a heap.
#[test]
fn programs_map_memory_in_the_bundled_trace() {
    let mut context = TracesetContext::new(Traceset::open(support::bundled()).unwrap());
    let (kernel, maps) = attach(&mut context);
    let most = context.attach_data(0);
    context.on_event("*", move |call| {
        let extensions = &call.extensions;
        let state = extensions[kernel].trace(TraceIndex(0)).expect("one trace");
        let mappings = state
            .processes()
            .flat_map(|(_, process)| extensions[maps].of(TraceIndex(0), state, process));
        let heap = mappings.filter(|of| of.backing() == Backing::Heap && of.is_writable());
        let heap: u64 = heap.map(|of| of.addresses().end - of.addresses().start).sum();
        call.extensions[most] = heap.max(call.extensions[most]);
    });
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    assert!(context.extensions()[most] > 0);
}
