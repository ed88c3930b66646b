//! Printing of events on several threads: slices of time are printed to memory, and written in
//! their order.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use lttv_context::{EndReason, Subscription, TimeSlice, TracesetContext};
use lttv_filter::Filters;

use super::print::batch_of;
use crate::text_dump::output::{Output, Reader};
use crate::text_dump::text::Text;
use crate::text_dump::{EventText, PartEnds};
use crate::time::Window;

/// The size of traces in bytes from which on several threads print them.
pub(super) const WORTH_THREADS: u64 = 1 << 20;

/// A constructor of printers, one for each thread.
pub(super) type MakeFormat<'m> = &'m (dyn Fn() -> Option<Box<dyn EventText>> + Sync);

/// The events to print, and the way to do it.
pub(super) struct Slices<'d> {
    pub(super) window: Window,
    pub(super) filters: Option<&'d Filters>,
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

/// The text of a slice.
struct Part {
    text: Text,
    ends: PartEnds,
    counted: u64,
}

impl Slices<'_> {
    /// Prints the events after those that `format` has printed, which are the next ones of a context
    /// without hooks. Calls `report` with the context after each slice.
    pub(super) fn print<'h>(
        &self,
        context: &mut TracesetContext<'h>,
        format: &mut dyn EventText,
        output: &mut Output,
        report: impl FnMut(&mut TracesetContext<'h>),
    ) -> Printed {
        let is_over = AtomicBool::new(false);
        let (formats, texts) = (Pool::default(), Pool::default());
        let work = |slice: &mut TimeSlice<'_>| {
            let mut format = formats.take().or_else(self.make);
            let text = texts.take().unwrap_or_default();
            let part = self.part(slice, format.as_mut(), text, &is_over);
            format.into_iter().for_each(|format| formats.put(format));
            part
        };
        let (mut counted, mut outcome) = (0, Ok(Reader::There));
        let take = |part: Part| {
            counted += part.counted;
            outcome = write(format, &part, output);
            texts.put(part.text);
            let goes_on = matches!(outcome, Ok(Reader::There));
            is_over.store(!goes_on, Ordering::Relaxed);
            goes_on
        };
        let bounds = self.window.bounds();
        let size = batch_of(context.traceset().traces());
        let read = context.read_slices(&bounds, self.threads, size, report, work, take);
        // The bounds contain no position that could be refused.
        let (read, reason) = read.map_or((0, EndReason::Stopped), |end| (end.events, end.reason));
        Printed { read, counted, outcome, is_followed: reason != EndReason::EndOfTraceset }
    }

    /// Prints a slice to memory.
    fn part(
        &self,
        slice: &mut TimeSlice<'_>,
        format: Option<&mut Box<dyn EventText>>,
        mut text: Text,
        is_over: &AtomicBool,
    ) -> Part {
        text.clear();
        let mut counted = 0;
        let Some(format) = format.filter(|_| !is_over.load(Ordering::Relaxed)) else {
            return Part { text, ends: PartEnds::default(), counted };
        };
        format.start_part();
        let window = self.window;
        let (count, out, printer) = (&mut counted, &mut text, &mut *format);
        let mut context = slice.context();
        if let Some(filters) = self.filters {
            context.set_filter(filters);
        }
        context.on_event(Subscription::to_every_event(), move |call| {
            if window.contains(call.event.timestamp()) {
                *count += 1;
                printer.event(&call.event, None, out);
            }
        });
        let read = slice.read(&mut context);
        debug_assert!(read.is_ok(), "no extension needs a state");
        drop(context);
        Part { text, ends: format.end_part(), counted }
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

/// Writes a part, with what it lacks of the parts before it.
fn write(format: &mut dyn EventText, part: &Part, output: &mut Output) -> io::Result<Reader> {
    let text = part.text.as_bytes();
    let Some((place, replacement)) = format.continue_after(&part.ends) else {
        return output.put(text);
    };
    output.buffer().append(text.get(..place.start).unwrap_or_default());
    output.buffer().append(replacement.as_bytes());
    output.put(text.get(place.end..).unwrap_or_default())
}
