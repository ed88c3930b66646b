//! Printing of events on several threads: slices are printed to memory, and written in their order.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ltt_read::tuning::EventSequence;
use ltt_read::{Event, Timestamp, Trace, TracefileNumber};
use lttv_common::text::Text;
use lttv_common::text::output::{Output, Reader};
use lttv_common::text_dump::{EventText, PartEnds};
use lttv_common::time::Window;
use lttv_context::{EndReason, SliceAnalysis, SliceThreads, TracesetContext};
use lttv_hooks::Flow;

/// The least number of events between two updates of progress and notices, and in a slice: few enough that
/// the text of a slice stays in the cache of a processor, and that all threads end together.
const BATCH: u64 = 1 << 12;

/// Returns the number of events between two updates of progress and notices, and in a slice, so that
/// notices have one order with any number of threads. Updates ask all tracefiles, so each of these has
/// several events meanwhile.
pub(super) fn batch_of(traces: &[Arc<Trace>]) -> u64 {
    let tracefiles = traces.iter().map(|trace| trace.tracefiles().len() as u64);
    BATCH.max(tracefiles.sum::<u64>().saturating_mul(16))
}

/// The size of traces in bytes from which on several threads print them.
pub(super) const WORTH_THREADS: u64 = 1 << 20;

/// A constructor of printers, one for each thread.
pub(super) type MakeFormat<'m> = &'m (dyn Fn() -> Option<Box<dyn EventText>> + Sync);

/// The events to print, and the way to do it.
pub(super) struct Slices<'d> {
    pub(super) window: Window,
    pub(super) threads: usize,
    /// Creates further printers of the format.
    pub(super) make: MakeFormat<'d>,
}

/// The result of printing slices.
pub(super) struct Printed {
    /// The number of events read.
    pub(super) read: u64,
    /// The number of those that were printed or counted.
    pub(super) counted: u64,
    pub(super) outcome: io::Result<Reader>,
    /// `true` if events follow the window.
    pub(super) is_followed: bool,
}

impl Slices<'_> {
    /// Prints the events after those that `format` has printed, which are the next ones of a context
    /// without hooks, apart from those that its filter leaves out. Calls `report` with the context after
    /// each slice.
    pub(super) fn print<'h>(
        &self,
        context: &mut TracesetContext<'h>,
        format: &mut dyn EventText,
        output: &mut Output,
        mut report: impl FnMut(&mut TracesetContext<'h>),
    ) -> Printed {
        let printing = Printing {
            window: self.window,
            make: self.make,
            printers: Pool::default(),
            is_over: AtomicBool::new(false),
        };
        let mut lines = Lines { format, output, counted: 0, outcome: Ok(Reader::There) };
        let bounds = self.window.bounds();
        let size = batch_of(context.traceset().traces());
        let threads = SliceThreads::new(self.threads).slice_events(size);
        let passed = |context: &mut TracesetContext<'h>| {
            report(context);
            match printing.is_over.load(Ordering::Relaxed) {
                true => Flow::Break(()),
                false => Flow::Continue(()),
            }
        };
        let parts = (&mut (), &mut lines);
        let read = context.read_analysis(&printing, parts, &bounds, threads, passed);
        // The bounds contain no position that could be refused.
        let (read, reason) = read.map_or((0, EndReason::Stopped), |end| (end.events, end.reason));
        let Lines { counted, outcome, .. } = lines;
        Printed { read, counted, outcome, is_followed: reason != EndReason::EndOfTraceset }
    }
}

/// The printing of slices: the reading thread notes the order of events, all threads print them, and
/// their text is written in order.
struct Printing<'d> {
    window: Window,
    make: MakeFormat<'d>,
    printers: Pool<Box<dyn EventText>>,
    /// `true` if nothing else is written.
    is_over: AtomicBool,
}

/// A slice: its events, and then their text.
#[derive(Default)]
struct Slice {
    events: EventSequence,
    text: Text,
    ends: PartEnds,
    counted: u64,
}

/// The output of all slices.
struct Lines<'o> {
    /// The printer of what parts lack of those before them.
    format: &'o mut dyn EventText,
    output: &'o mut Output,
    counted: u64,
    outcome: io::Result<Reader>,
}

impl<'d> SliceAnalysis for Printing<'d> {
    type Slice = Slice;
    type State = ();
    type Part = Lines<'d>;

    #[inline(always)]
    fn record(
        &self,
        slice: &mut Slice,
        (tracefile, _): (TracefileNumber, Timestamp),
        event: &Event<'_>,
    ) {
        slice.events.push(tracefile, event);
    }

    fn resolve(&self, (): &mut (), _: &mut Slice) {}

    fn compute(&self, slice: &mut Slice) {
        if self.is_over.load(Ordering::Relaxed) {
            return;
        }
        let Some(mut printer) = self.printers.take().or_else(self.make) else { return };
        let Slice { events, text, counted, .. } = slice;
        printer.start_part();
        events.replay(|_, event| {
            if self.window.contains(event.timestamp()) {
                *counted += 1;
                printer.event(event, None, text);
            }
        });
        slice.ends = printer.end_part();
        self.printers.put(printer);
    }

    fn add(&self, lines: &mut Lines<'d>, slice: &mut Slice) {
        if self.is_over.load(Ordering::Relaxed) {
            return;
        }
        lines.counted += slice.counted;
        lines.outcome = lines.write(slice);
        self.is_over.store(!matches!(lines.outcome, Ok(Reader::There)), Ordering::Relaxed);
    }

    fn clear(&self, slice: &mut Slice) {
        slice.events.clear();
        slice.text.clear();
        (slice.ends, slice.counted) = (PartEnds::default(), 0);
    }
}

impl Lines<'_> {
    /// Writes a slice, with what it lacks of the slices before it.
    fn write(&mut self, slice: &Slice) -> io::Result<Reader> {
        let text = slice.text.as_bytes();
        let Some((place, replacement)) = self.format.continue_after(&slice.ends) else {
            return self.output.put(text);
        };
        self.output.buffer().append(text.get(..place.start).unwrap_or_default());
        self.output.buffer().append(replacement.as_bytes());
        self.output.put(text.get(place.end..).unwrap_or_default())
    }
}

/// Things that the next slice uses again.
struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(Mutex::new(Vec::new()))
    }
}

impl<T> Pool<T> {
    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put(&self, thing: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(thing);
    }
}
