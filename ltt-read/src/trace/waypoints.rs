//! Waypoints: places within packets at which reading can begin.
//!
//! Each has a bound of the times of all events that precede it in its packet. A seek begins at the
//! last one whose bound is before the time, so that it need not read the packet from the start.

use std::sync::Arc;

use crate::base::time::Timestamp;

/// The usual least distance of two waypoints, in bytes: what is between them is read in some
/// microseconds.
const DISTANCE: u64 = 1 << 16;

/// The most waypoints of a trace with the usual distance. In longer traces the distance grows.
const MOST: u64 = 1 << 14;

/// The number of bytes before and after a place that its mark depends on.
const MARKED: usize = 16;

/// Places within the packets of a trace at which reading can begin.
///
/// A seek to a time usually reads the packet that contains the time from its start, which takes
/// milliseconds where packets have megabytes. With waypoints from an earlier read, it begins at the
/// last one before the time. The result is the same.
///
/// Waypoints are [noted](crate::Merge::note_waypoints) while events are read, and
/// [used](crate::Trace::use_waypoints) by another `Trace` of the same files with the same
/// transforms of clocks. It is the caller's task to know that the files have not changed. (There is
/// a check of the bytes around each place, but it sees only these.) They have a bounded number: at
/// most one for each 64 KiB, and about 16,384 for a trace.
///
/// ```
/// use ltt_read::tuning::Waypoints;
/// use ltt_read::{Merge, Trace};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
/// let trace = Trace::open(path)?;
/// let mut waypoints = [Waypoints::with_distance(&trace, 1000)];
/// let mut merge = Merge::new(std::slice::from_ref(&trace));
/// while merge.next().is_some() {
///     merge.note_waypoints(&mut waypoints);
/// }
/// let bytes = waypoints[0].to_bytes();
///
/// // Later:
/// let trace = Trace::open(path)?;
/// let waypoints = Waypoints::from_bytes(&bytes).expect("the same bytes");
/// assert!(!waypoints.is_empty() && trace.use_waypoints(waypoints));
/// let mut merge = Merge::new(std::slice::from_ref(&trace));
/// merge.seek(trace.time_span().expect("events").end); // reads less than without
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waypoints {
    /// The waypoints of each tracefile, in the order of their places. Copies share them until they
    /// differ.
    tracefiles: Vec<Arc<Vec<Waypoint>>>,
    /// The least distance of two waypoints of a packet, in bytes.
    distance: u64,
}

/// A place in a packet, with what a cursor needs to read on from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waypoint {
    pub(crate) file: u32,
    /// The offset of the packet in its file, in bytes.
    pub(crate) packet: u64,
    /// The place in the packet, in bits.
    pub(crate) bit: u64,
    /// The value of the default clock at the place, in cycles.
    pub(crate) clock: u64,
    /// An upper bound of the times of the events that are before the place in the packet.
    pub(crate) latest: Timestamp,
    /// The [`mark`] of the place.
    pub(crate) mark: u64,
}

impl Waypoint {
    /// The size in [bytes](Waypoints::to_bytes).
    const BYTES: usize = 4 + 5 * 8;

    fn place(&self) -> (u32, u64, u64) {
        (self.file, self.packet, self.bit)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.file.to_le_bytes());
        let latest = self.latest.as_ns() as u64;
        for number in [self.packet, self.bit, self.clock, latest, self.mark] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn read(bytes: &mut &[u8]) -> Option<Waypoint> {
        Some(Waypoint {
            file: u32::from_le_bytes(take(bytes)?),
            packet: number(bytes)?,
            bit: number(bytes)?,
            clock: number(bytes)?,
            latest: Timestamp::from_ns(number(bytes)? as i64),
            mark: number(bytes)?,
        })
    }
}

impl Waypoints {
    /// Creates an empty set for a trace, with the usual distance.
    pub fn new(trace: &crate::Trace) -> Waypoints {
        let size: u64 = trace.tracefiles().iter().map(|tracefile| tracefile.size()).sum();
        Waypoints::with_distance(trace, DISTANCE.max(size / MOST))
    }

    /// Creates an empty set for a trace, with at least `distance` bytes between two waypoints.
    pub fn with_distance(trace: &crate::Trace, distance: u64) -> Waypoints {
        let tracefiles = vec![Arc::default(); trace.tracefiles().len()];
        Waypoints { tracefiles, distance: distance.max(1) }
    }

    /// Returns the number of waypoints.
    pub fn len(&self) -> usize {
        self.tracefiles.iter().map(|waypoints| waypoints.len()).sum()
    }

    /// Returns `true` if there are no waypoints.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of tracefiles.
    pub(crate) fn tracefiles(&self) -> usize {
        self.tracefiles.len()
    }

    /// Converts the waypoints to bytes, for storage.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            Vec::with_capacity(12 + 4 * self.tracefiles.len() + Waypoint::BYTES * self.len());
        bytes.extend_from_slice(&self.distance.to_le_bytes());
        bytes.extend_from_slice(&(self.tracefiles.len() as u32).to_le_bytes());
        for waypoints in &self.tracefiles {
            bytes.extend_from_slice(&(waypoints.len() as u32).to_le_bytes());
            waypoints.iter().for_each(|waypoint| waypoint.write(&mut bytes));
        }
        bytes
    }

    /// Decodes waypoints from the bytes of [`to_bytes`](Self::to_bytes). Returns `None` for bytes of
    /// another form.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Waypoints> {
        let bytes = &mut bytes;
        let distance = number(bytes)?.max(1);
        let count = u32::from_le_bytes(take(bytes)?) as usize;
        // Each number of waypoints takes four bytes.
        let mut tracefiles = Vec::with_capacity(count.min(bytes.len() / 4));
        for _ in 0..count {
            let count = u32::from_le_bytes(take(bytes)?) as usize;
            if count > bytes.len() / Waypoint::BYTES {
                return None;
            }
            let mut waypoints = Vec::with_capacity(count);
            for _ in 0..count {
                waypoints.push(Waypoint::read(bytes)?);
            }
            if !waypoints.is_sorted_by(|a, b| a.place() < b.place()) {
                return None;
            }
            tracefiles.push(Arc::new(waypoints));
        }
        bytes.is_empty().then_some(Waypoints { tracefiles, distance })
    }

    /// Returns the last waypoint in a packet with no event at `time` or later before it.
    pub(crate) fn before(
        &self,
        tracefile: usize,
        (file, packet): (u32, u64),
        time: Timestamp,
    ) -> Option<&Waypoint> {
        let waypoints = self.tracefiles.get(tracefile)?;
        let start = waypoints.partition_point(|it| (it.file, it.packet) < (file, packet));
        let rest = waypoints.get(start..)?;
        let end = rest.partition_point(|it| (it.file, it.packet) == (file, packet));
        // Bounds from different reads need not be in order.
        rest.get(..end)?.iter().rev().find(|it| it.latest < time)
    }

    /// Returns `true` if a place in a packet is far enough from the start of the packet and from
    /// the waypoints that are there.
    pub(crate) fn wants(&self, tracefile: usize, place: (u32, u64, u64)) -> bool {
        let Some(waypoints) = self.tracefiles.get(tracefile) else { return false };
        let (file, packet, bit) = place;
        let distance = self.distance.saturating_mul(8);
        let is_far = |other: &Waypoint| {
            (other.file, other.packet) != (file, packet) || other.bit.abs_diff(bit) >= distance
        };
        let at = waypoints.partition_point(|it| it.place() < place);
        bit >= distance
            && at.checked_sub(1).and_then(|at| waypoints.get(at)).is_none_or(is_far)
            && waypoints.get(at).is_none_or(is_far)
    }

    /// Adds a waypoint that is [wanted](Self::wants).
    pub(crate) fn add(&mut self, tracefile: usize, waypoint: Waypoint) {
        if let Some(waypoints) = self.tracefiles.get_mut(tracefile) {
            let at = waypoints.partition_point(|it| it.place() < waypoint.place());
            Arc::make_mut(waypoints).insert(at, waypoint);
        }
    }
}

/// Returns a number that depends on the bytes around a place, given in bits from the start of
/// `data`.
pub(crate) fn mark(data: &[u8], bit: u64) -> u64 {
    let at = usize::try_from(bit / 8).unwrap_or(usize::MAX);
    let around = at.saturating_sub(MARKED)..at.saturating_add(MARKED).min(data.len());
    let bytes = data.get(around).unwrap_or_default();
    // FNV-1a.
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    take(bytes).map(u64::from_le_bytes)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}
