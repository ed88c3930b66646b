//! The figures of heaps.

use std::sync::Arc;

use hashbrown::HashMap;
use ltt_read::Timestamp;

use super::curve::{Curve, CurvePoint};
use super::missing::Missing;
use crate::call_stacks::{PathId, ThreadKey};
use crate::kernel::needs::Need;

/// The figures of the heaps of a traceset.
#[derive(Debug, Clone, Default)]
pub struct Heap {
    pub(super) traces: Vec<TraceHeap>,
}

/// The figures of the heaps of a trace.
#[derive(Debug, Clone, Default)]
pub struct TraceHeap {
    pub(super) processes: Vec<ProcessHeap>,
    pub(super) blocks: Vec<LiveBlock>,
    /// The number and bytes of allocations, by process and path.
    pub(super) allocated: HashMap<(usize, Option<PathId>), (u64, u64)>,
    pub(super) missing: Missing,
    pub(super) omitted_blocks: u64,
    pub(super) omitted_events: u64,
}

/// The heap of a process. Sizes are those that the program requested, in bytes.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ProcessHeap {
    /// The id of the process; `None` if the trace does not contain it.
    pub process: Option<i64>,
    /// The name of the process; empty if unknown.
    pub name: Arc<str>,
    /// The number of allocations.
    pub allocations: u64,
    /// The number of bytes in them.
    pub allocated_bytes: u64,
    /// The number of frees of any block, also by `realloc`.
    pub frees: u64,
    /// The number of bytes in the known blocks that were freed.
    pub freed_bytes: u64,
    /// The number of calls of `free` without a block.
    pub null_frees: u64,
    /// The number of allocations that failed.
    pub failed: u64,
    /// The number of frees of blocks that are not known to be live.
    pub unknown_frees: u64,
    /// The number of allocations of blocks that were live: their `free` was lost.
    pub overwritten: u64,
    /// The number of live blocks at the end.
    pub live_blocks: u64,
    /// The number of bytes in live blocks at the end.
    pub live_bytes: u64,
    /// The maximum number of bytes in live blocks.
    pub peak_bytes: u64,
    /// The time of the maximum; `None` if there was no allocation.
    pub peak_time: Option<Timestamp>,
    pub(super) classes: Vec<SizeClass>,
    pub(super) curve: Curve,
}

/// The allocations of blocks of similar sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SizeClass {
    /// The number of allocations.
    pub allocations: u64,
    /// The number of bytes in them.
    pub bytes: u64,
    /// The number of them that are live at the end.
    pub live_blocks: u64,
    /// The number of bytes in those.
    pub live_bytes: u64,
}

/// A block that is live at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveBlock {
    /// The number of the process among those of the trace.
    pub process: usize,
    /// The address.
    pub address: u64,
    /// The requested size in bytes.
    pub size: u64,
    /// The time of the allocation.
    pub time: Timestamp,
    /// The thread that allocated it; `None` if unknown.
    pub thread: Option<ThreadKey>,
    /// The call path that allocated it, valid for the figures of the same context; `None` outside of all
    /// recorded calls.
    pub path: Option<PathId>,
}

/// The allocations by one call path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SiteHeap {
    /// The number of the process among those of the trace.
    pub process: usize,
    /// The call path; `None` outside of all recorded calls.
    pub path: Option<PathId>,
    /// The number of allocations.
    pub allocations: u64,
    /// The number of bytes in them.
    pub bytes: u64,
    /// The number of blocks that are live at the end.
    pub live_blocks: u64,
    /// The number of bytes in those.
    pub live_bytes: u64,
    /// The time of the oldest live block; `None` if none is live.
    pub oldest: Option<Timestamp>,
}

impl Heap {
    /// Returns the figures of each trace, by trace index.
    pub fn traces(&self) -> &[TraceHeap] {
        &self.traces
    }
}

impl TraceHeap {
    /// Returns the figures of each process.
    pub fn processes(&self) -> &[ProcessHeap] {
        &self.processes
    }

    /// Returns the blocks that are live at the end, oldest first.
    pub fn blocks(&self) -> &[LiveBlock] {
        &self.blocks
    }

    /// Returns the allocations by call path, those with most live bytes first.
    pub fn sites(&self) -> Vec<SiteHeap> {
        let mut sites: HashMap<(usize, Option<PathId>), SiteHeap> = HashMap::new();
        let new = |(process, path): (usize, Option<PathId>)| SiteHeap {
            process,
            path,
            allocations: 0,
            bytes: 0,
            live_blocks: 0,
            live_bytes: 0,
            oldest: None,
        };
        for (key, (allocations, bytes)) in &self.allocated {
            let site = sites.entry(*key).or_insert_with(|| new(*key));
            (site.allocations, site.bytes) = (*allocations, *bytes);
        }
        for block in &self.blocks {
            let key = (block.process, block.path);
            let site = sites.entry(key).or_insert_with(|| new(key));
            site.live_blocks += 1;
            site.live_bytes = site.live_bytes.saturating_add(block.size);
            site.oldest = Some(site.oldest.map_or(block.time, |oldest| oldest.min(block.time)));
        }
        let mut sites: Vec<SiteHeap> = sites.into_values().collect();
        sites.sort_by_key(|of| {
            let most = (u64::MAX - of.live_bytes, u64::MAX - of.bytes);
            (most, of.process, of.path)
        });
        sites
    }

    /// Returns what the trace lacks.
    pub fn missing(&self) -> Vec<Need> {
        self.missing.needs()
    }

    /// Returns `true` if the trace declares allocations.
    pub fn has_allocations(&self) -> bool {
        !self.missing.allocations
    }

    /// Returns the number of blocks that were not followed, since there were more than 4194304.
    pub fn omitted_blocks(&self) -> u64 {
        self.omitted_blocks
    }

    /// Returns the number of events of threads beyond the maximum of 262144 threads.
    pub fn omitted_events(&self) -> u64 {
        self.omitted_events
    }
}

impl ProcessHeap {
    /// Returns the allocations by size: those of 0 bytes, of 1, of 2 to 3, of 4 to 7, and so on.
    pub fn classes(&self) -> &[SizeClass] {
        &self.classes
    }

    /// Returns the live bytes over time, in at most 2048 points.
    pub fn curve(&self) -> &[CurvePoint] {
        self.curve.points()
    }

    /// Returns the class of a size.
    pub(super) fn class(&mut self, size: u64) -> &mut SizeClass {
        let class = (u64::BITS - size.leading_zeros()) as usize;
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, SizeClass::default);
        }
        &mut self.classes[class]
    }
}
