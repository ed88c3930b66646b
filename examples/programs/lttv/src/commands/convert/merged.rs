//! Copying of all tracefiles in the order of time, for filters that follow the state.

use std::cell::RefCell;
use std::error::Error;

use ltt_read::writer::WriteError;
use ltt_read::{Packet, TracefileIndex};
use lttv_common::time::Window;
use lttv_hooks::Flow;

use super::in_order::InOrder;
use super::output::{Part, Streams};
use super::{Conversion, Done};

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
    let copied = RefCell::new(Copied { streams: streams.collect(), events: 0, failed: None });
    let mut reading = InOrder::new(conversion, window);
    reading.read(|call, _, is_wanted| {
        let mut copied = copied.borrow_mut();
        match copied.event(&call.event, is_wanted) {
            Ok(()) => Flow::Continue(()),
            Err(error) => {
                copied.failed = Some(error);
                Flow::Break(())
            }
        }
    })?;
    let errors = reading.context.take_errors();
    let errors_omitted = reading.context.merge().errors_omitted();
    drop(reading);
    let Copied { streams, events, failed } = copied.into_inner();
    if let Some(error) = failed {
        return Err(error.into());
    }
    streams.into_iter().flatten().try_for_each(|file| file.streams.finish())?;
    Ok(Done { events, packets: 0, errors, errors_omitted })
}

impl Copied<'_> {
    fn event(&mut self, event: &ltt_read::Event<'_>, is_wanted: bool) -> Result<(), WriteError> {
        let (trace, tracefile) = (event.trace_index().0, event.tracefile_index().0);
        let Tracefile { streams, last } = &mut self.streams[trace][tracefile];
        let packet: &Packet = event.packet();
        let before = last.replace((event.file_index(), packet.offset));
        match is_wanted {
            true => self.events += u64::from(streams.event(event)?),
            // Of this packet no event has been copied so far.
            false if before != *last => streams.skip_packet(packet)?,
            false => {}
        }
        Ok(())
    }
}
