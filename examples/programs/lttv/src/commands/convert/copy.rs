//! Copying of tracefiles, each by itself, on several threads.

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ltt_read::writer::WriteError;
use ltt_read::{Cursor, Progress as Bytes, TraceIndex, TracefileIndex};
use lttv_common::progress::Progress;
use lttv_common::time::Window;
use lttv_filter::Filter;

use super::output::{Part, Streams};
use super::{Conversion, Done};

/// The number of events between two looks for an interrupt.
const BATCH: u64 = 1 << 14;
/// The greatest number of errors that are kept for one tracefile.
const ERRORS: usize = 1024;

/// The work on one tracefile.
#[derive(Debug, Clone, Copy)]
struct Job {
    trace: TraceIndex,
    tracefile: TracefileIndex,
}

/// The state that the threads share.
struct Shared<'a> {
    conversion: &'a Conversion<'a>,
    part: &'a Part<'a>,
    window: Window,
    jobs: Vec<Job>,
    next: AtomicUsize,
    bytes: AtomicU64,
    failed: AtomicBool,
}

/// Writes the streams of a part.
pub(super) fn write(
    conversion: &Conversion<'_>,
    part: &Part<'_>,
    window: Window,
) -> Result<Done, Box<dyn Error>> {
    let wanted = conversion.wanted.iter().zip((0..).map(TraceIndex));
    let jobs: Vec<Job> = wanted
        .flat_map(|(wanted, trace)| {
            wanted.tracefiles().map(move |tracefile| Job { trace, tracefile })
        })
        .collect();
    let size = |job: &Job| conversion.traces()[job.trace.0].tracefile(job.tracefile).size();
    let total = jobs.iter().map(size).sum();
    let threads = conversion.threads;
    let shared = Shared {
        conversion,
        part,
        window,
        next: AtomicUsize::new(0),
        bytes: AtomicU64::new(0),
        failed: AtomicBool::new(false),
        jobs,
    };
    let results = Mutex::new(Vec::new());
    let work = || {
        let result = shared.work();
        if result.is_err() {
            shared.failed.store(true, Ordering::Relaxed);
        }
        if let Ok(mut results) = results.lock() {
            results.push(result);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(shared.jobs.len()))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        if workers.is_empty() {
            // The system starts no thread: this one copies.
            work();
        }
        let mut progress = Progress::new(false);
        while !workers.iter().all(|worker| worker.is_finished()) {
            thread::park_timeout(Duration::from_millis(5));
            progress.update(Bytes { done: shared.bytes.load(Ordering::Relaxed), total });
        }
    });
    let mut done = Done::default();
    for result in results.into_inner()? {
        done.add(result?);
    }
    conversion.check(done.events)?;
    Ok(done)
}

impl Shared<'_> {
    /// Copies one tracefile after the other, until there is none or something has failed.
    fn work(&self) -> Result<Done, WriteError> {
        let mut done = Done::default();
        while let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.is_over() {
                break;
            }
            let streams = self.part.traces[job.trace.0].streams(job.tracefile);
            done.add(Tracefile::new(self, *job, streams).copy()?);
        }
        Ok(done)
    }

    fn is_over(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.conversion.cancel.load(Ordering::Relaxed)
    }
}

/// A tracefile that is being copied.
struct Tracefile<'a> {
    shared: &'a Shared<'a>,
    job: Job,
    cursor: Cursor,
    streams: Streams<'a>,
    events: Option<&'a [bool]>,
    filter: Option<&'a Filter>,
    done: Done,
}

/// The place of the events of a packet, as far as it is known in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// All are in the window.
    Within,
    /// None is in the window.
    Before,
    /// None of this packet and of later ones is in the window.
    After,
    /// Each has to be looked at.
    Mixed,
}

impl<'a> Tracefile<'a> {
    fn new(shared: &'a Shared<'a>, job: Job, streams: Streams<'a>) -> Self {
        let conversion = shared.conversion;
        let filters = conversion.filters.as_ref();
        Tracefile {
            shared,
            job,
            cursor: conversion.traces()[job.trace.0].cursor(job.tracefile),
            streams,
            events: conversion.wanted[job.trace.0].events.as_deref(),
            filter: filters.and_then(|filters| filters.filters().for_trace(job.trace)),
            done: Done::default(),
        }
    }

    fn copy(mut self) -> Result<Done, WriteError> {
        let (mut before, mut file) = (0, 0);
        while !self.shared.is_over() {
            match self.cursor.next_packet() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.note(error);
                    if !self.cursor.skip_packet() {
                        break;
                    }
                }
            }
            if self.cursor.packet().is_some() && !self.packet()? {
                break;
            }
            if self.cursor.file_index() != file {
                (before, file) = (0, self.cursor.file_index());
            }
            let now = self.cursor.packet().map_or(before, |packet| packet.offset + packet.size);
            self.shared.bytes.fetch_add(now.saturating_sub(before), Ordering::Relaxed);
            before = now;
        }
        self.streams.finish()?;
        Ok(self.done)
    }

    /// Copies the wanted part of the current packet. Returns `false` if nothing of later
    /// packets is wanted.
    fn packet(&mut self) -> Result<bool, WriteError> {
        let place = self.place();
        match place {
            Place::After => return Ok(false),
            Place::Before => return self.skip(),
            Place::Within if self.events.is_none() && self.filter.is_none() => {
                if self.is_sound() && self.streams.packet(&self.cursor)? {
                    self.done.packets += 1;
                    return Ok(true);
                }
            }
            Place::Within | Place::Mixed => {}
        }
        let packet = self.cursor.packet().cloned();
        let before = self.done.events;
        let mut examined = 0_u64;
        loop {
            match self.cursor.advance_in_packet() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.note(error);
                    if !self.cursor.skip_packet() {
                        break;
                    }
                    continue;
                }
            }
            let event = self.cursor.event();
            let in_window =
                place == Place::Within || self.shared.window.contains(event.timestamp());
            let is_wanted = in_window
                && self.events.is_none_or(|events| events[event.type_id().index()])
                && self.filter.is_none_or(|filter| filter.matches(&event));
            if is_wanted && self.streams.event(&event)? {
                self.done.events += 1;
            }
            examined += 1;
            if examined.is_multiple_of(BATCH) && self.shared.is_over() {
                return Ok(false);
            }
        }
        match packet {
            Some(packet) if self.done.events == before => {
                self.streams.skip_packet(&packet)?;
                Ok(true)
            }
            _ => Ok(true),
        }
    }

    /// Returns `true` if all events of the current packet can be read. A packet in which that fails
    /// is copied event by event, so that the result is sound and the damage is reported.
    fn is_sound(&self) -> bool {
        let mut cursor = self.cursor.clone();
        loop {
            match cursor.advance_in_packet() {
                Ok(true) => {}
                Ok(false) => return true,
                Err(_) => return false,
            }
        }
    }

    fn skip(&mut self) -> Result<bool, WriteError> {
        if let Some(packet) = self.cursor.packet().cloned() {
            self.streams.skip_packet(&packet)?;
        }
        Ok(true)
    }

    /// Returns what is known of the events of the current packet.
    fn place(&self) -> Place {
        let window = self.shared.window;
        if window.is_everything() {
            return Place::Within;
        }
        let trace = self.cursor.trace();
        let times = trace.packet_times(self.job.tracefile);
        let Some(packet) = self.cursor.packet() else { return Place::Mixed };
        let Some(bounds) = times.bounds_at(self.cursor.file_index(), packet.offset) else {
            return Place::Mixed;
        };
        let is_before = window.begin.is_some_and(|begin| bounds.end < begin);
        let is_after = window.end.is_some_and(|end| bounds.start > end);
        match (is_before, is_after) {
            (true, _) => Place::Before,
            (_, true) => Place::After,
            _ if window.contains(Some(bounds.start)) && window.contains(Some(bounds.end)) => {
                Place::Within
            }
            _ => Place::Mixed,
        }
    }

    fn note(&mut self, error: ltt_read::Error) {
        match self.done.errors.len() < ERRORS {
            true => self.done.errors.push(error),
            false => self.done.errors_omitted += 1,
        }
    }
}
