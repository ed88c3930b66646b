//! The times at which a traceset is divided into slices that take about equally long to read.

use ltt_read::Timestamp;
use ltt_read::index::IndexEntry;

/// The greatest distance between the ideal dividing point and the start of a packet that is
/// used instead, as a fraction of a slice.
const NEAR: f64 = 1.0 / 16.0;

/// Computes the times that divide `begin..end` into at most `slices` slices of about equal
/// numbers of bytes. The bytes of a packet are assumed to be spread evenly over its time. If a
/// packet starts near the ideal point, its start is used: no events of this packet have to be
/// skipped then.
pub(super) fn slice_points<'p>(
    packets: impl Iterator<Item = &'p IndexEntry>,
    begin: Timestamp,
    end: Option<Timestamp>,
    slices: usize,
) -> Vec<Timestamp> {
    let end = end.unwrap_or(Timestamp::MAX);
    let mut edges = vec![(begin, Edge::Bound), (end, Edge::Bound)];
    for packet in packets {
        let rate = packet.size as f64 / packet.end.since(packet.start).max(1) as f64;
        edges.push((packet.start, Edge::Begin(rate)));
        edges.push((packet.end, Edge::End(rate)));
    }
    edges.sort_by_key(|(time, _)| *time);

    // Accumulate the number of bytes before each time.
    let (mut bytes, mut rate, mut last) = (0.0, 0.0, begin);
    let mut open = 0;
    let (mut all, mut begins): (Vec<Place>, Vec<Place>) = (Vec::new(), Vec::new());
    for (time, edge) in edges {
        bytes += rate * time.since(last) as f64;
        last = time;
        let place = Place { time, bytes };
        if begin <= time && time <= end {
            all.push(place);
        }
        match edge {
            Edge::Bound => {}
            Edge::End(of) => {
                open -= 1;
                // A rounding error that remains here would count for all later times.
                rate = if open == 0 { 0.0 } else { rate - of };
            }
            Edge::Begin(of) => {
                open += 1;
                rate += of;
                if begin < time && time < end {
                    begins.push(place);
                }
            }
        }
    }
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Vec::new() };
    let slice = (last.bytes - first.bytes) / slices as f64;
    let mut points: Vec<Timestamp> = (1..slices)
        .map(|number| {
            let wanted = first.bytes + slice * number as f64;
            let [before, after] = neighbours(&begins, wanted);
            let distance = |place: &&Place| (place.bytes - wanted).abs();
            let nearest = before.into_iter().chain(after);
            match nearest.min_by(|a, b| distance(a).total_cmp(&distance(b))) {
                Some(begin) if distance(&begin) <= slice * NEAR => begin.time,
                _ => time_between(neighbours(&all, wanted), wanted),
            }
        })
        .filter(|time| begin < *time && *time < end)
        .collect();
    // Slices must not overlap, however the numbers were rounded.
    points.sort_unstable();
    points.dedup();
    points
}

/// A time with the number of bytes before it.
#[derive(Debug, Clone, Copy)]
struct Place {
    time: Timestamp,
    bytes: f64,
}

/// Finds the neighbouring places of a number of bytes: the last one below it and the first one
/// at it or above.
fn neighbours(places: &[Place], bytes: f64) -> [Option<&Place>; 2] {
    let after = places.partition_point(|place| place.bytes < bytes);
    [after.checked_sub(1).and_then(|before| places.get(before)), places.get(after)]
}

fn time_between(places: [Option<&Place>; 2], bytes: f64) -> Timestamp {
    match places {
        [Some(before), Some(after)] => {
            let part = (bytes - before.bytes) / (after.bytes - before.bytes);
            let ns = after.time.since(before.time) as f64 * part;
            before.time.saturating_add(ns as u64)
        }
        [Some(place), None] | [None, Some(place)] => place.time,
        [None, None] => Timestamp::MIN,
    }
}

enum Edge {
    Bound,
    /// A packet starts: the rate, in bytes per ns, rises by this much.
    Begin(f64),
    /// A packet ends: the rate, in bytes per ns, falls by this much.
    End(f64),
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ltt_read::schema::{FieldClass, Format, StreamClassId};
    use ltt_read::writer::{FieldValue, TraceWriter, presets};

    use super::*;
    use crate::traceset::Traceset;

    /// Writes two tracefiles with packets of 1000 and 700 ns and one event per ns.
    fn write(dir: &Path) -> Traceset {
        let mut schema = presets::lttng_kernel(Format::Ctf1);
        let tick = schema.add_event_type(StreamClassId(0), "tick", FieldClass::structure([]));
        let trace = TraceWriter::create(dir, schema).unwrap();
        for (cpu, each) in [(0, 1000), (1, 700)] {
            let stream = trace.stream(StreamClassId(0), &format!("channel0_{cpu}")).unwrap();
            let mut stream = stream
                .with_stream_id(cpu)
                .with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
            for time in 0..10_000 {
                if time % each == 0 && time > 0 {
                    stream.end_packet(time).unwrap();
                    stream.begin_packet(time).unwrap();
                }
                stream.event(tick, time, FieldValue::Struct(Vec::new())).unwrap();
            }
            stream.finish().unwrap();
        }
        Traceset::open(dir).unwrap()
    }

    #[test]
    fn slices_are_alike() {
        let dir = tempfile::tempdir().unwrap();
        let traceset = write(dir.path());
        let trace = &traceset.traces()[0];
        let packets = || {
            (0..2).flat_map(|number| trace.packet_index(ltt_read::TracefileIndex(number)).entries())
        };
        let first = packets().map(|packet| packet.start).min().unwrap();
        let since = |points: &[Timestamp]| -> Vec<u64> {
            points.iter().map(|time| time.since(first)).collect()
        };
        let whole = |slices| since(&slice_points(packets(), Timestamp::MIN, None, slices));
        assert!(whole(1).is_empty());
        // The starts of packets near the ideal points.
        assert_eq!(whole(2), [5000]);
        assert_eq!(whole(4)[1], 5000);
        for slices in [2, 3, 4, 7, 10, 40] {
            let points = whole(slices);
            assert_eq!(points.len(), slices - 1);
            let bounds = [&[0], &points[..], &[10_000]].concat();
            for (part, slice) in bounds.windows(2).zip(1..) {
                let (time, wanted) = (part[1] - part[0], 10_000 / slices as u64);
                assert!(time.abs_diff(wanted) <= wanted / 6, "{slice} of {slices}: {time}");
            }
        }
        let part = |from: u64, to: u64, slices| {
            let (from, to) = (first.saturating_add(from), first.saturating_add(to));
            since(&slice_points(packets(), from, Some(to), slices))
        };
        assert!((2900..=3100).contains(&part(2000, 4000, 2)[0]));
        assert!(part(3000, 3001, 5).len() <= 1, "there is hardly anything to cut");
        assert!(part(50_000, 60_000, 4).is_empty());
        assert!(slice_points([].into_iter(), Timestamp::MIN, None, 4).is_empty());
    }
}
