//! The parts of a result: windows that follow each other.

use lttv_filter::TraceTimes;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use ltt_read::{Merge, TimeSpan, Timestamp, Trace, TracefileIndex};
use lttv_common::report::Usage;
use lttv_common::time::Window;

use super::Conversion;
use super::args::Split;

/// The greatest number of parts.
const PARTS: usize = 100_000;

/// Returns the folder and the window of each part. A result that is not divided is one part in
/// the output itself.
pub(super) fn parts(
    conversion: &Conversion<'_>,
    window: Window,
) -> Result<Vec<(PathBuf, Window)>, Box<dyn Error>> {
    let Some(split) = conversion.args.split else { return Ok(vec![(PathBuf::new(), window)]) };
    let span = TraceTimes::of(conversion.traces()).events().and_then(|span| window.part_of(span));
    let Some(span) = span else { return Ok(vec![(PathBuf::from("0000"), window)]) };
    let cuts = match split {
        Split::Time(duration) => by_time(span, duration)?,
        Split::Size(size) => by_size(conversion.traces(), span, size),
        Split::Count(count) => by_count(conversion, span, count)?,
    };
    if cuts.len() >= PARTS {
        return Err(too_many());
    }
    let begins = std::iter::once(window.begin).chain(cuts.iter().copied().map(Some));
    let before = |cut: &Timestamp| Timestamp::from_ns(cut.as_ns().saturating_sub(1));
    let ends = cuts.iter().map(|cut| Some(before(cut))).chain([window.end]);
    let windows = begins.zip(ends).map(|(begin, end)| Window { begin, end });
    let named = windows.enumerate().map(|(n, window)| (PathBuf::from(format!("{n:04}")), window));
    Ok(named.collect())
}

fn too_many() -> Box<dyn Error> {
    Usage::new(format_args!("--split: more than {PARTS} parts")).into()
}

/// Returns the times between parts of equal duration.
fn by_time(span: TimeSpan, duration: i64) -> Result<Vec<Timestamp>, Box<dyn Error>> {
    let length = span.end.as_ns().saturating_sub(span.start.as_ns());
    if length / duration >= PARTS as i64 {
        return Err(too_many());
    }
    let cuts = (1..).map_while(|n: i64| {
        let cut = span.start.as_ns().checked_add(n.checked_mul(duration)?)?;
        (cut <= span.end.as_ns()).then_some(Timestamp::from_ns(cut))
    });
    Ok(cuts.collect())
}

/// Returns the times between parts of about a size: those at which the packets that have ended
/// have this size together.
fn by_size(traces: &[Arc<Trace>], span: TimeSpan, size: u64) -> Vec<Timestamp> {
    let mut packets = Vec::new();
    for trace in traces {
        for tracefile in (0..trace.tracefiles().len()).map(TracefileIndex) {
            let mut cursor = trace.cursor(tracefile);
            let times = trace.packet_times(tracefile);
            while cursor.next_packet().is_ok_and(|more| more) {
                let Some(packet) = cursor.packet() else { break };
                let bounds = times.bounds_at(cursor.file_index(), packet.offset);
                let declared = packet.end.or(packet.start);
                let end = declared.or(bounds.map(|bounds| bounds.start));
                if let Some(end) = end.filter(|end| *end >= span.start && *end < span.end) {
                    packets.push((end, packet.size));
                }
            }
        }
    }
    packets.sort_unstable();
    let (mut cuts, mut sum) = (Vec::new(), 0_u64);
    for (end, bytes) in packets {
        if sum > 0 && sum + bytes > size {
            let cut = Timestamp::from_ns(end.as_ns());
            if cuts.last() != Some(&cut) && cut > span.start {
                cuts.push(cut);
            }
            sum = 0;
        }
        sum += bytes;
    }
    cuts
}

/// Returns the times between parts of a number of events. Events of equal times stay together.
fn by_count(
    conversion: &Conversion<'_>,
    span: TimeSpan,
    count: u64,
) -> Result<Vec<Timestamp>, Box<dyn Error>> {
    let mut events = Merge::new(conversion.traces());
    events.seek(span.start);
    let (mut cuts, mut number) = (Vec::new(), 0_u64);
    while let Some(event) = events.next() {
        let Some(time) = event.timestamp() else { continue };
        if time > span.end {
            break;
        }
        let wanted = &conversion.wanted[event.trace_index().0];
        let filters = conversion.filters.as_ref().filter(|filters| !filters.uses_state());
        let is_wanted = time >= span.start
            && wanted.takes(&event)
            && filters.is_none_or(|filters| filters.filters().matches(&event));
        if !is_wanted {
            continue;
        }
        if number >= count && cuts.last().is_none_or(|last| time > *last) && time > span.start {
            cuts.push(time);
            number = 0;
            if cuts.len() >= PARTS {
                return Err(too_many());
            }
        }
        number += 1;
        if number.is_multiple_of(1 << 16) {
            conversion.check(number)?;
        }
    }
    Ok(cuts)
}
