//! Copying of all tracefiles in the order of time, for filters that follow the state.

use std::cell::RefCell;
use std::error::Error;

use ltt_read::writer::WriteError;
use ltt_read::{Packet, TraceIndex, TracefileIndex};
use lttv_context::{EndReason, EventCall, Subscription, TracesetContext};
use lttv_hooks::Flow;

use super::output::{Part, Streams};
use super::{Conversion, Done};
use crate::kernel_hooks::kernel_state;
use crate::progress::Progress;
use crate::time::Window;

/// The number of events between two looks for an interrupt.
const BATCH: u64 = 1 << 14;

/// The streams of all tracefiles.
struct Copied<'a> {
    /// By trace and tracefile.
    streams: Vec<Vec<Tracefile<'a>>>,
    events: u64,
    failed: Option<WriteError>,
}

/// The streams of one tracefile.
struct Tracefile<'a> {
    streams: Streams<'a>,
    /// The file and offset of the last packet of which an event was met.
    last: Option<(usize, u64)>,
}

/// Writes the streams of a part.
pub(super) fn write(
    conversion: &Conversion<'_>,
    part: &Part<'_>,
    window: Window,
) -> Result<Done, Box<dyn Error>> {
    let streams = conversion.traces().iter().zip(&part.traces).map(|(trace, part)| {
        let tracefiles = (0..trace.tracefiles().len()).map(TracefileIndex);
        tracefiles
            .map(|tracefile| Tracefile { streams: part.streams(tracefile), last: None })
            .collect()
    });
    let copied = Copied { streams: streams.collect(), events: 0, failed: None };
    let copied = RefCell::new(copied);
    let done = read(conversion, &copied, window)?;
    let Copied { streams, failed, .. } = copied.into_inner();
    if let Some(error) = failed {
        return Err(error.into());
    }
    streams.into_iter().flatten().try_for_each(|file| file.streams.finish())?;
    Ok(done)
}

/// Reads the window, and copies what passes the filter.
fn read(
    conversion: &Conversion<'_>,
    copied: &RefCell<Copied<'_>>,
    window: Window,
) -> Result<Done, Box<dyn Error>> {
    let mut context = TracesetContext::new(&conversion.traceset);
    let kernel = context.attach(kernel_state(conversion.traces()));
    if let Some(begin) = window.begin {
        context.seek_time_with_state(begin);
    }
    context.on_event(Subscription::to_every_event(), move |call: &mut EventCall<'_, '_>| {
        let mut copied = copied.borrow_mut();
        let is_wanted = window.contains(call.event.timestamp()) && conversion.wants(call, kernel);
        copied.event(call, is_wanted);
        match copied.failed {
            Some(_) => Flow::Break(()),
            None => Flow::Continue(()),
        }
    });
    let bounds = window.bounds();
    let bounds = window.begin.map_or(bounds.clone(), |begin| bounds.since(begin));
    let bounds = bounds.max_examined(BATCH);
    let mut progress = Progress::new(false);
    loop {
        let end = context.read(&bounds)?;
        progress.update(context.progress());
        conversion.check(copied.borrow().events)?;
        if copied.borrow().failed.is_some()
            || !matches!(end.reason, EndReason::EventCount | EndReason::ExaminedCount)
        {
            break;
        }
    }
    let errors = context.take_errors();
    let events = copied.borrow().events;
    Ok(Done { events, packets: 0, errors, errors_omitted: context.errors_omitted() })
}

impl Copied<'_> {
    fn event(&mut self, call: &EventCall<'_, '_>, is_wanted: bool) {
        let event = &call.event;
        let (trace, tracefile) = (event.trace_index(), event.tracefile_index());
        let result = match is_wanted {
            true => self.copy(trace, tracefile, event),
            false => self.skip(trace, tracefile, event.file_index(), event.packet()),
        };
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }

    fn copy(
        &mut self,
        TraceIndex(trace): TraceIndex,
        TracefileIndex(tracefile): TracefileIndex,
        event: &ltt_read::Event<'_>,
    ) -> Result<(), WriteError> {
        let Tracefile { streams, last } = &mut self.streams[trace][tracefile];
        *last = Some((event.file_index(), event.packet().offset));
        if streams.event(event)? {
            self.events += 1;
        }
        Ok(())
    }

    /// Notes a packet of which no event has been copied so far.
    fn skip(
        &mut self,
        TraceIndex(trace): TraceIndex,
        TracefileIndex(tracefile): TracefileIndex,
        file: usize,
        packet: &Packet,
    ) -> Result<(), WriteError> {
        let Tracefile { streams, last } = &mut self.streams[trace][tracefile];
        let place = Some((file, packet.offset));
        if *last == place {
            return Ok(());
        }
        *last = place;
        streams.skip_packet(packet)
    }
}
