//! The live blocks of all processes, as an extension.

use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use ltt_read::schema::EventTypeId;
use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{EventCall, Extension, Handle, Setup, Subscription};
use lttv_hooks::Priority;

use super::events::{Change, HeapEvent};
use super::figures::{LiveBlock, ProcessHeap, TraceHeap};
use super::missing::Missing;
use crate::call_stacks::{CallStackState, PathId, ThreadKey};

/// The maximum number of live blocks of a trace.
const MAX_BLOCKS: usize = 1 << 22;

/// The priority of the hooks: after the call stacks.
const AFTER_STACKS: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The live blocks of all processes at the current position of a context, as an extension beside the
/// [`CallStackState`].
#[derive(Debug)]
pub struct HeapState {
    stacks: Handle<CallStackState>,
    pub(super) traces: Vec<TraceBlocks>,
    /// The number that tells whether saved paths are those of this context.
    origin: u64,
}

/// The live blocks of a trace.
#[derive(Debug, Clone, Default)]
pub(super) struct TraceBlocks {
    blocks: HashMap<(u32, u64), Block>,
    /// The processes: their ids, and the number and bytes of their live blocks.
    processes: Vec<(Option<i64>, u64, u64)>,
    /// The process of each thread of the call stacks, counted from 1.
    of_threads: Vec<u32>,
    pub(super) missing: Missing,
    pub(super) collector: Option<Box<Collector>>,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    size: u64,
    time: i64,
    thread: u32,
    path: Option<PathId>,
}

/// The saved live blocks of a traceset, for checkpoints.
#[derive(Debug, Clone)]
pub struct SavedHeap {
    origin: u64,
    traces: Vec<SavedTrace>,
}

#[derive(Debug, Clone)]
struct SavedTrace {
    /// The process and the address of each block.
    blocks: Vec<(Option<i64>, u64, Block)>,
}

/// The collector of figures in a window.
#[derive(Debug, Clone)]
pub(super) struct Collector {
    pub(super) until: i64,
    pub(super) heap: TraceHeap,
    is_closed: bool,
}

impl HeapState {
    /// Creates the state before the first event.
    pub fn new(stacks: Handle<CallStackState>) -> Self {
        static STATES: AtomicU64 = AtomicU64::new(0);
        HeapState { stacks, traces: Vec::new(), origin: STATES.fetch_add(1, Ordering::Relaxed) }
    }

    /// Returns the number of bytes in live blocks of a process of a trace; `None` if it has not
    /// allocated any.
    pub fn live_bytes(&self, trace: TraceIndex, process: Option<i64>) -> Option<u64> {
        let processes = &self.traces.get(trace.0)?.processes;
        processes.iter().find(|(of, ..)| *of == process).map(|(_, _, bytes)| *bytes)
    }

    /// Registers the collector of a window that starts now.
    pub(super) fn collect(&mut self, until: i64) {
        for trace in &mut self.traces {
            let missing = trace.missing;
            let heap = TraceHeap { missing, ..TraceHeap::default() };
            trace.collector = Some(Box::new(Collector { until, heap, is_closed: false }));
        }
    }

    fn event(
        call: &mut EventCall<'_, '_>,
        handle: Handle<Self>,
        index: TraceIndex,
        fields: &HeapEvent,
    ) {
        let (tracefile, time) = (call.tracefile.number().0, call.delivery_time().as_ns());
        let is_heard = match call.known_to_reach_all_hooks() {
            Some(is_heard) => is_heard,
            None => call.reaches_all_hooks(),
        };
        let Some(stacks) = call.extensions.get(handle).map(|heap| heap.stacks) else { return };
        let Some((heap, stacks)) = call.extensions.get_pair_mut(handle, stacks) else { return };
        let Some(of) = heap.traces.get_mut(index.0) else { return };
        let found = stacks.find_thread(index, &call.event, &fields.identity, tracefile, time);
        let mut taken = of.collector.take();
        let mut collector = taken.as_deref_mut().filter(|_| is_heard);
        if let Some(collector) = collector.as_mut().filter(|of| time >= of.until) {
            collector.close(of, |thread| stacks.thread(index, thread));
        }
        match found {
            Some((thread, key, path)) => {
                let process = of.process_of(thread, key);
                let change = fields.change(&call.event);
                let place = Place { thread: thread as u32, path, time };
                of.apply(process, change, place, collector);
            }
            None => {
                if let Some(collector) = collector {
                    collector.heap.omitted_events += 1;
                }
            }
        }
        of.collector = taken;
    }
}

/// The place of an event.
#[derive(Debug, Clone, Copy)]
struct Place {
    thread: u32,
    path: Option<PathId>,
    time: i64,
}

impl TraceBlocks {
    /// Returns the number of the process of a thread.
    #[inline]
    fn process_of(&mut self, thread: usize, key: ThreadKey) -> u32 {
        match self.of_threads.get(thread) {
            Some(process) if *process > 0 => *process - 1,
            _ => self.find_process(thread, key),
        }
    }

    #[cold]
    fn find_process(&mut self, thread: usize, key: ThreadKey) -> u32 {
        let process = self.process(key.process);
        if self.of_threads.len() <= thread {
            self.of_threads.resize(thread + 1, 0);
        }
        self.of_threads[thread] = process + 1;
        process
    }

    fn process(&mut self, id: Option<i64>) -> u32 {
        let at = self.processes.iter().position(|(of, ..)| *of == id);
        at.unwrap_or_else(|| {
            self.processes.push((id, 0, 0));
            self.processes.len() - 1
        }) as u32
    }

    #[inline]
    fn apply(
        &mut self,
        process: u32,
        change: Change,
        place: Place,
        mut collector: Option<&mut Collector>,
    ) {
        let mut counts = collector.as_mut().filter(|of| !of.is_closed).map(|of| &mut of.heap);
        if let Some(block) = change.freed {
            self.free(process, block, counts.as_deref_mut());
        }
        if let Some((block, size)) = change.allocated {
            self.allocate(process, block, size, place, counts.as_deref_mut());
        }
        if let Some(counts) = counts {
            let bytes = self.processes[process as usize].2;
            let of = counts.process(process, &self.processes);
            of.curve.add(place.time, bytes);
            if bytes > of.peak_bytes {
                of.peak_bytes = bytes;
                of.peak_time = Some(Timestamp::from_ns(place.time));
            }
        }
    }

    fn free(&mut self, process: u32, block: u64, counts: Option<&mut TraceHeap>) {
        let freed = self.blocks.remove(&(process, block)).map(|block| block.size);
        if let Some(size) = freed {
            let of = &mut self.processes[process as usize];
            of.1 = of.1.saturating_sub(1);
            of.2 = of.2.saturating_sub(size);
        }
        let Some(counts) = counts else { return };
        let of = counts.process(process, &self.processes);
        if block == 0 {
            of.null_frees += 1;
            return;
        }
        of.frees += 1;
        match freed {
            Some(size) => of.freed_bytes = of.freed_bytes.saturating_add(size),
            None => of.unknown_frees += 1,
        }
    }

    fn allocate(
        &mut self,
        process: u32,
        address: u64,
        size: u64,
        place: Place,
        mut counts: Option<&mut TraceHeap>,
    ) {
        if address == 0 {
            if let Some(counts) = counts {
                counts.process(process, &self.processes).failed += 1;
            }
            return;
        }
        let Place { thread, path, time } = place;
        let is_full = self.blocks.len() >= MAX_BLOCKS;
        let before = match is_full && !self.blocks.contains_key(&(process, address)) {
            true => {
                if let Some(counts) = counts.as_mut() {
                    counts.omitted_blocks += 1;
                }
                None
            }
            false => {
                let of = &mut self.processes[process as usize];
                of.1 += 1;
                of.2 = of.2.saturating_add(size);
                self.blocks.insert((process, address), Block { size, time, thread, path })
            }
        };
        if let Some(before) = before {
            let of = &mut self.processes[process as usize];
            of.1 = of.1.saturating_sub(1);
            of.2 = of.2.saturating_sub(before.size);
        }
        let Some(counts) = counts else { return };
        let of = counts.process(process, &self.processes);
        of.allocations += 1;
        of.allocated_bytes = of.allocated_bytes.saturating_add(size);
        of.overwritten += u64::from(before.is_some());
        let class = of.class(size);
        class.allocations += 1;
        class.bytes = class.bytes.saturating_add(size);
        let site = counts.allocated.entry((process as usize, path)).or_default();
        *site = (site.0 + 1, site.1.saturating_add(size));
    }
}

impl TraceHeap {
    /// Returns the figures of a process, among those of the state.
    #[inline]
    fn process(&mut self, process: u32, all: &[(Option<i64>, u64, u64)]) -> &mut ProcessHeap {
        let process = process as usize;
        if self.processes.len() <= process {
            self.add_processes(all);
        }
        &mut self.processes[process]
    }

    /// Adds the processes of the state that are new, with the live bytes that they have.
    #[cold]
    fn add_processes(&mut self, all: &[(Option<i64>, u64, u64)]) {
        let new = all.iter().skip(self.processes.len());
        let new = new.map(|(id, _, bytes)| ProcessHeap {
            process: *id,
            peak_bytes: *bytes,
            ..ProcessHeap::default()
        });
        self.processes.extend(new.collect::<Vec<_>>());
    }
}

impl Collector {
    /// Ends the window, with the live blocks at its end.
    #[cold]
    pub(super) fn close(
        &mut self,
        of: &TraceBlocks,
        thread: impl Fn(usize) -> Option<(ThreadKey, std::sync::Arc<str>)>,
    ) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        self.heap.add_processes(&of.processes);
        for (process, (_, blocks, bytes)) in self.heap.processes.iter_mut().zip(&of.processes) {
            (process.live_blocks, process.live_bytes) = (*blocks, *bytes);
        }
        for ((process, address), block) in &of.blocks {
            let (process, known) = (*process as usize, thread(block.thread as usize));
            let class = self.heap.processes[process].class(block.size);
            class.live_blocks += 1;
            class.live_bytes = class.live_bytes.saturating_add(block.size);
            self.heap.blocks.push(LiveBlock {
                process,
                address: *address,
                size: block.size,
                time: Timestamp::from_ns(block.time),
                thread: known.map(|(key, _)| key),
                path: block.path,
            });
        }
        self.heap.blocks.sort_by_key(|block| (block.time, block.process, block.address));
        for (number, process) in of.of_threads.iter().enumerate() {
            let process =
                process.checked_sub(1).and_then(|at| self.heap.processes.get_mut(at as usize));
            if let (Some(process), Some((_, name))) = (process, thread(number))
                && process.name.is_empty()
            {
                process.name = name;
            }
        }
    }
}

impl HeapState {
    /// Returns the figures of a trace, as final.
    pub(super) fn figures(&self, index: TraceIndex, stacks: &CallStackState) -> Option<TraceHeap> {
        let of = self.traces.get(index.0)?;
        let mut collector = of.collector.clone()?;
        collector.close(of, |thread| stacks.thread(index, thread));
        Some(collector.heap)
    }

    pub(super) fn stacks(&self) -> Handle<CallStackState> {
        self.stacks
    }
}

impl Extension for HeapState {
    type Checkpoint = SavedHeap;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        for trace in setup.contexts.traces() {
            let (index, trace) = (trace.index(), trace.trace());
            let mut missing = Missing::default();
            let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
            for id in types {
                let Some(fields) = HeapEvent::of(trace, id) else { continue };
                match fields.frees() {
                    true => missing.frees = false,
                    false => missing.allocations = false,
                }
                missing.processes |= !fields.identity.has_process();
                let fields = Box::new(fields);
                let events = Subscription::to_type(index, id).priority(AFTER_STACKS);
                setup.hooks.on_event(events, move |call| Self::event(call, handle, index, &fields));
            }
            missing.processes &= trace.schema().env_int("vpid").is_none();
            let blocks = TraceBlocks { missing, ..TraceBlocks::default() };
            setup.extensions[handle].traces.push(blocks);
        }
    }

    fn reset(&mut self) {
        for trace in &mut self.traces {
            trace.clear();
        }
    }

    fn save(&self) -> SavedHeap {
        let trace = |of: &TraceBlocks| {
            let block = |(key, block): (&(u32, u64), &Block)| {
                (of.processes[key.0 as usize].0, key.1, *block)
            };
            SavedTrace { blocks: of.blocks.iter().map(block).collect() }
        };
        SavedHeap { origin: self.origin, traces: self.traces.iter().map(trace).collect() }
    }

    fn restore(&mut self, saved: &SavedHeap) {
        let is_own = saved.origin == self.origin;
        for (of, saved) in self.traces.iter_mut().zip(&saved.traces) {
            of.clear();
            for (process, address, block) in &saved.blocks {
                let process = of.process(*process);
                // Threads and paths have other numbers in other contexts.
                let block = match is_own {
                    true => *block,
                    false => Block { thread: u32::MAX, path: None, ..*block },
                };
                let counts = &mut of.processes[process as usize];
                (counts.1, counts.2) = (counts.1 + 1, counts.2.saturating_add(block.size));
                of.blocks.insert((process, *address), block);
            }
        }
    }

    fn checkpoint_bytes(saved: &SavedHeap, _: Option<&SavedHeap>) -> usize {
        let of_trace = |trace: &SavedTrace| size_of_val(trace.blocks.as_slice());
        size_of::<SavedHeap>() + saved.traces.iter().map(of_trace).sum::<usize>()
    }
}

impl TraceBlocks {
    fn clear(&mut self) {
        self.blocks.clear();
        for process in &mut self.processes {
            (process.1, process.2) = (0, 0);
        }
    }
}
