//! Reading all tracefiles on several threads, without an order between them.

mod ahead;
mod piece;
mod queue;

use std::num::NonZeroUsize;
use std::ops::RangeBounds;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use ltt_read::tuning::Upcoming;
use ltt_read::{
    Error, Event, Merge, Notice, Position, Progress, Timestamp, TraceIndex, TracefileIndex,
};
use lttv_hooks::Flow;

use super::threads::{limited, start};
use crate::bounds::half_open;
use crate::traceset::Traceset;
use ahead::Ahead;
use piece::{Outcome, Piece, PieceReader, Span};
use queue::Queue;

/// A read of a traceset on several threads for what does not depend on the order of the events of
/// different tracefiles, such as their number.
///
/// Tracefiles are divided at packets into pieces, and threads read different pieces at the same time.
/// Every event of the range is delivered exactly once, with the same time as in a [`Merge`]; those of
/// one piece in their order. Without merging, this takes less time than reading in order even on one
/// thread.
///
/// ```
/// use lttv_context::{Traceset, UnorderedReader};
/// use lttv_hooks::Flow;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let read = UnorderedReader::new(&traceset).threads(2).read(
///     |switches: &mut u64, event| {
///         *switches += u64::from(event.event_type().name() == "sched_switch");
///     },
///     |_| Flow::Continue(()),
/// );
/// assert_eq!((read.parts.iter().sum::<u64>(), read.events), (497, 6087));
/// # Ok::<(), ltt_read::Error>(())
/// ```
///
/// The start of a piece is a guess, which is right if the packets before it are sound and lead there. The
/// thread that reads the piece before checks it, since it reads on to the first event of the next
/// piece. If it comes there in another way, or not at all, it reads the rest of the tracefile alone,
/// and the results of other threads there are dropped. Events, errors and notices are therefore those of one thread,
/// whatever the damage.
#[derive(Debug, Clone)]
#[doc(alias("rayon", "threads"))]
pub struct UnorderedReader {
    traceset: Traceset,
    begin: Option<Timestamp>,
    end: Option<Timestamp>,
    threads: usize,
    piece_bytes: Option<u64>,
    /// The tracefiles by number, and whether each is read.
    tracefiles: Vec<(TraceIndex, TracefileIndex, bool)>,
}

/// The result of a read without order.
#[derive(Debug)]
#[must_use = "`errors` tells whether the read met damage"]
#[non_exhaustive]
pub struct UnorderedResult<T> {
    /// The results of all pieces: by tracefile, and in the order of their places in it.
    pub parts: Vec<T>,
    /// The number of events delivered.
    pub events: u64,
    /// `true` if an event at the end of the range or later was met.
    pub is_followed: bool,
    /// The errors met while reading: first those of seeking the begin of the range, then by tracefile.
    pub errors: Vec<Error>,
    /// The number of errors that were omitted because 4096 of their piece or of its predecessors
    /// were.
    pub errors_omitted: u64,
    /// The notices of the read, in the same order.
    pub notices: Vec<Notice>,
    /// The number of notices that were omitted because 1024 of their packet or 4096 of their piece
    /// were.
    pub notices_omitted: u64,
}

/// The least and the greatest size of pieces. A piece takes some ms at most.
const LEAST_PIECE: u64 = 1 << 20;
const GREATEST_PIECE: u64 = 1 << 24;

/// The size of the pieces in bytes whose memory is released.
const LEAST_RELEASED: u64 = 1 << 18;

/// The number of pieces for each thread in small traces.
const PIECES_PER_THREAD: u64 = 8;

/// The maximum number of stored errors.
const MOST_ERRORS: usize = 4096;

impl UnorderedReader {
    /// Creates a read of a whole traceset on as many threads as there are processors.
    pub fn new(traceset: impl Into<Traceset>) -> Self {
        let traceset = traceset.into();
        let tracefiles = traceset.tracefiles().into_iter();
        UnorderedReader {
            begin: None,
            end: None,
            threads: thread::available_parallelism().map_or(1, NonZeroUsize::get),
            piece_bytes: None,
            tracefiles: tracefiles.map(|(trace, index)| (trace, index, true)).collect(),
            traceset,
        }
    }

    /// Sets the number of threads, with the calling one. 0 counts as 1, and more than
    /// [`MAX_THREADS`](crate::MAX_THREADS) as that many.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        UnorderedReader { threads: limited(threads), ..self }
    }

    /// Sets the approximate size of pieces in bytes, instead of one that suits the size of the
    /// traceset.
    #[must_use]
    pub fn piece_bytes(self, bytes: u64) -> Self {
        UnorderedReader { piece_bytes: Some(bytes.max(1)), ..self }
    }

    /// Sets the first time of the range: events before it are not delivered, nor those without a time.
    #[must_use]
    pub fn since(self, begin: Timestamp) -> Self {
        UnorderedReader { begin: Some(begin), ..self }
    }

    /// Sets the end of the range: only events before it are delivered, none without a time.
    #[must_use]
    pub fn until(self, end: Timestamp) -> Self {
        UnorderedReader { end: Some(end), ..self }
    }

    /// Sets the times of the events that are delivered: see [`Bounds::within`](crate::Bounds::within). Events
    /// without a time are delivered only if the range has no ends.
    #[must_use]
    pub fn within(self, times: impl RangeBounds<Timestamp>) -> Self {
        let (begin, end) = half_open(&times);
        UnorderedReader { begin, end, ..self }
    }

    /// Leaves out the tracefiles for which `wanted` returns `false`. They are not read, apart from
    /// seeking the begin of the range.
    #[must_use]
    pub fn only(mut self, wanted: impl Fn(TraceIndex, TracefileIndex) -> bool) -> Self {
        for (trace, index, is_wanted) in &mut self.tracefiles {
            *is_wanted &= wanted(*trace, *index);
        }
        self
    }

    /// Reads all events, and calls `each` with every event and the result of its piece, which begins
    /// as the default. `passed` is called on the calling thread after pieces, and ends the read by
    /// `Break`.
    ///
    /// A growing traceset is read as if it were complete with what it has so far.
    ///
    /// # Panics
    ///
    /// Panics if one of the functions does.
    pub fn read<T: Default + Send>(
        &self,
        each: impl Fn(&mut T, &Event<'_>) + Sync,
        passed: impl FnMut(Progress) -> Flow,
    ) -> UnorderedResult<T> {
        self.read_with_ahead(each, passed, |_| ())
    }

    /// Reads all events as [`read`](Self::read) does, and calls `ahead` before each piece with the parts of files
    /// that come next, in their order, for other threads to [fetch](Upcoming::fetch). A function that wants
    /// none leaves them. All those that are taken should be fetched. From then on, the memory of each piece
    /// of 256 KiB and more that was read is [released](ltt_read::Trace::release_bytes).
    ///
    /// Reads of a range of times pass none.
    ///
    /// # Panics
    ///
    /// Panics if one of the functions does.
    pub fn read_with_ahead<T: Default + Send>(
        &self,
        each: impl Fn(&mut T, &Event<'_>) + Sync,
        passed: impl FnMut(Progress) -> Flow,
        ahead: impl Fn(&mut dyn Iterator<Item = Upcoming>) + Sync,
    ) -> UnorderedResult<T> {
        self.read_all((&each, false), passed, ahead)
    }

    /// Counts all events. Unless there is a range of times, this takes a part of the time of
    /// [`read`](Self::read), since no event is delivered.
    ///
    /// `passed` is called on the calling thread after pieces, and ends the count by `Break`. `ahead` is
    /// called before each piece with the parts of files that come next, as by
    /// [`read_with_ahead`](Self::read_with_ahead); a function that wants none leaves them.
    ///
    /// ```
    /// use lttv_context::{Traceset, UnorderedReader};
    /// use lttv_hooks::Flow;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let reader = UnorderedReader::new(&Traceset::open(path)?);
    /// assert_eq!(reader.count(|_| Flow::Continue(()), |_| ()).events, 6087);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if one of the functions does.
    pub fn count(
        &self,
        passed: impl FnMut(Progress) -> Flow,
        ahead: impl Fn(&mut dyn Iterator<Item = Upcoming>) + Sync,
    ) -> UnorderedResult<()> {
        self.read_all((&|(): &mut (), _: &Event<'_>| (), true), passed, ahead)
    }

    fn read_all<T: Default + Send>(
        &self,
        each: (&(impl Fn(&mut T, &Event<'_>) + Sync), bool),
        mut passed: impl FnMut(Progress) -> Flow,
        ahead: impl Fn(&mut dyn Iterator<Item = Upcoming>) + Sync,
    ) -> UnorderedResult<T> {
        let mut start = Start::new(self);
        let mut read = |limit: Option<Timestamp>, positions: &[Position]| {
            let has_range = self.begin.is_some() || self.end.is_some();
            let span = has_range.then_some(Span { begin: self.begin, end: self.end, limit });
            self.read_up_to(span, positions, each, &mut passed, &ahead)
        };
        let mut pieces = read(self.end, &start.positions);
        if let Some(end) = self.end
            && pieces.iter().any(|piece| piece.outcome == Outcome::Followed)
        {
            let by = start.delivered_by(self, end);
            if by != Some(end) {
                // Where a clock went back, events of the range come after others.
                pieces = read(by, &start.positions);
            }
        }
        let mut result = start.result();
        pieces.into_iter().for_each(|piece| result.add(piece));
        result
    }

    /// Reads the wanted tracefiles from their positions up to the limit of `span`. `each` has `true` if
    /// events are only counted.
    fn read_up_to<T: Default + Send>(
        &self,
        span: Option<Span>,
        positions: &[Position],
        each: (&(impl Fn(&mut T, &Event<'_>) + Sync), bool),
        passed: &mut impl FnMut(Progress) -> Flow,
        ahead: &(impl Fn(&mut dyn Iterator<Item = Upcoming>) + Sync),
    ) -> Vec<Piece<T>> {
        let traces = self.traceset.traces();
        let sizes = self.tracefiles.iter().map(|(trace, index, is_wanted)| {
            is_wanted.then(|| traces[trace.0].tracefile(*index).size())
        });
        let sizes: Vec<Option<u64>> = sizes.collect();
        let total: u64 = sizes.iter().flatten().sum();
        let piece = self.piece_bytes.unwrap_or_else(|| {
            let each = total / (self.threads as u64).saturating_mul(PIECES_PER_THREAD);
            each.clamp(LEAST_PIECE, GREATEST_PIECE)
        });
        let pieces = sizes.iter().flatten().map(|size| size / piece + 1).sum::<u64>();
        let queue = Queue::new(&self.traceset, &self.tracefiles, positions, &sizes, piece, span);
        let plan = || Ahead::new(&self.traceset, &self.tracefiles, &sizes, piece);
        let plan = span.is_none().then(plan);
        let taken = |bytes| plan.iter().for_each(|plan| plan.take(bytes, ahead));
        taken(0);
        let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let read_next = |results: &mut Vec<Numbered<T>>| {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let Some(piece) = queue.next() else { return false };
            taken(piece.bytes);
            let reader = PieceReader::new(span, each, &stop);
            let (place, before, bytes) =
                ((piece.tracefile, piece.number), piece.before, piece.bytes);
            results.push((place, reader.read(piece)));
            // The system takes pages that are not mapped away in less time. It interrupts the other threads for
            // this, which is too much for small pieces.
            if bytes >= LEAST_RELEASED && plan.as_ref().is_some_and(Ahead::is_used) {
                let (trace, index, _) = self.tracefiles[place.0];
                let trace = &self.traceset.traces()[trace.0];
                trace.release_bytes(index, before..before.saturating_add(bytes));
            }
            done.fetch_add(bytes, Ordering::Relaxed);
            true
        };
        let helpers = self.threads.min(usize::try_from(pieces).unwrap_or(usize::MAX)).max(1) - 1;
        let mut results = thread::scope(|scope| {
            let work = || {
                let mut results = Vec::new();
                while read_next(&mut results) {}
                results
            };
            let helpers: Vec<_> = (0..helpers).map_while(|_| start(scope, work)).collect();
            let mut results = Vec::new();
            while read_next(&mut results) {
                let progress = Progress { done: done.load(Ordering::Relaxed).min(total), total };
                if passed(progress).is_break() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            for helper in helpers {
                match helper.join() {
                    Ok(more) => results.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            results
        });
        results.sort_unstable_by_key(|(place, _)| *place);
        that_count(results)
    }
}

/// A piece that has been read, with the number of its tracefile and its own one there.
type Numbered<T> = ((usize, usize), Piece<T>);

/// Returns the pieces that count: of each tracefile, the first one and those to which reading led.
fn that_count<T>(results: Vec<Numbered<T>>) -> Vec<Piece<T>> {
    let mut expected = None;
    let counts = |(place, piece): Numbered<T>| {
        let (tracefile, number) = place;
        if number > 0 && expected != Some(place) {
            return None;
        }
        expected = (piece.outcome == Outcome::HandedOver).then_some((tracefile, number + 1));
        Some(piece)
    };
    results.into_iter().filter_map(counts).collect()
}

impl<T> UnorderedResult<T> {
    /// Adds the next piece.
    fn add(&mut self, piece: Piece<T>) {
        self.parts.push(piece.part);
        self.events += piece.events;
        self.is_followed |= piece.outcome == Outcome::Followed;
        self.errors_omitted += piece.errors_omitted;
        piece.errors.into_iter().for_each(|error| self.keep(error));
        self.notices.extend(piece.notices);
        self.notices_omitted += piece.notices_omitted;
    }

    /// Keeps an error, each once.
    fn keep(&mut self, error: Error) {
        let is_known = |known: &Error| known.place() == error.place();
        if error.place().is_some() && self.errors.iter().any(is_known) {
            return;
        }
        match self.errors.len() < MOST_ERRORS {
            true => self.errors.push(error),
            false => self.errors_omitted += 1,
        }
    }
}

/// The start of the range in all tracefiles.
struct Start {
    /// A merge at the start, if it had to be sought.
    merge: Option<Merge>,
    positions: Vec<Position>,
}

impl Start {
    fn new(reader: &UnorderedReader) -> Self {
        let Some(begin) = reader.begin else {
            return Start {
                merge: None,
                positions: vec![Position::START; reader.tracefiles.len()],
            };
        };
        let mut merge = merge_of(reader);
        merge.seek(begin);
        Start { positions: merge.positions(), merge: Some(merge) }
    }

    /// Returns a time by which each wanted tracefile has delivered all events before `end`.
    fn delivered_by(&mut self, reader: &UnorderedReader, end: Timestamp) -> Option<Timestamp> {
        let merge = self.merge.get_or_insert_with(|| merge_of(reader));
        merge.retain_tracefiles(|number| reader.tracefiles[number.0].2);
        merge.delivered_by(end)
    }

    /// Returns a result with what seeking met.
    fn result<T>(self) -> UnorderedResult<T> {
        let mut result = UnorderedResult {
            parts: Vec::new(),
            events: 0,
            is_followed: false,
            errors: Vec::new(),
            errors_omitted: 0,
            notices: Vec::new(),
            notices_omitted: 0,
        };
        if let Some(mut merge) = self.merge {
            (result.errors, result.notices) = (merge.take_errors(), merge.take_notices());
            result.errors_omitted = merge.errors_omitted();
            result.notices_omitted = merge.notices_omitted();
        }
        result
    }
}

/// Creates a merge of all tracefiles of a reader, by their numbers.
fn merge_of(reader: &UnorderedReader) -> Merge {
    let tracefiles: Vec<_> =
        reader.tracefiles.iter().map(|(trace, index, _)| (*trace, *index)).collect();
    Merge::of_tracefiles(reader.traceset.traces(), &tracefiles)
}
