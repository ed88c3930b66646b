//! Fingerprints, which identify traces mostly without reading them.

mod appended;
mod file;

use std::borrow::Cow;

use ltt_read::{ClockTransform, Timestamp, Trace, Tracefile, TracefileIndex};

use crate::traceset::Traceset;

use file::{Content, CurrentFile, Depth, FileRecord};

/// A fingerprint of traces. It is stored with data computed from the traces, and detects later
/// that the traces have changed.
///
/// It contains the identifier of each trace and the transforms of its clocks. For the metadata and each file of the tracefiles,
/// it contains the name, the size, the time of modification, and three checksums: one of the
/// offsets, sizes and start times of the packets, one of 64 samples of 4 KiB, and one of the
/// whole content. Creating it reads the traces once. (The checksums are CRC-32: they detect
/// changes, but not forgery.)
///
/// # Comparisons
///
/// | a file that since the creation of the fingerprint | is compared by |
/// |---|---|
/// | has another size or name | size and name |
/// | was modified (at another time than before) | its whole content |
/// | appears unmodified | the offsets and times of its packets, and its samples |
///
/// Traces that were only copied, moved or touched are therefore equal, at the cost of reading
/// them once. For unmodified traces, a comparison takes well below a millisecond per file. The
/// only undetected change is one that keeps the size *and* the time of modification of a file
/// of more than 256 KiB, and lies outside of its samples. [`strict`](Self::strict) detects
/// this, too, since it always reads everything.
///
/// A fingerprint in the format of an earlier version of this crate fits no traces, so data
/// stored with it is computed again.
///
/// ```
/// use lttv_context::{Fingerprint, Traceset};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let bytes = Fingerprint::of(&traceset).into_bytes();
/// // Later:
/// let known = Fingerprint::from_bytes(&bytes);
/// assert!(known.matches(&traceset) && known.strict().matches(&traceset));
/// assert!(!Fingerprint::from_bytes(b"something else").matches(&traceset));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint<'b> {
    bytes: Cow<'b, [u8]>,
    depth: Depth,
}

/// The first bytes of a fingerprint. The last of them is the version of the format.
const MAGIC: [u8; 4] = *b"LFP\x02";

/// The first bytes of a fingerprint [of samples](Fingerprint::of_samples).
const MAGIC_OF_SAMPLES: [u8; 4] = *b"LFS\x01";

impl<'b> Fingerprint<'b> {
    /// Creates the fingerprint of traces as they are now. This reads all of them.
    ///
    /// The bytes may differ between fingerprints of the same traces, for instance after a file was
    /// copied or touched. [`matches`](Self::matches) tests whether a fingerprint belongs to
    /// traces. To compare bytes, compare them with
    /// [`into_current_bytes`](Self::into_current_bytes).
    pub fn of(traceset: &Traceset) -> Fingerprint<'static> {
        Self::with_depth(traceset, Depth::Usual)
    }

    /// Creates a fingerprint of the traces as they are now from few samples, without reading their
    /// whole content: for data that is cheap to compute again. Traces that were copied, touched or
    /// have grown do not match it, and [`strict`](Self::strict) has no effect.
    ///
    /// ```
    /// use lttv_context::{Fingerprint, Traceset};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traceset = Traceset::open(path)?;
    /// let bytes = Fingerprint::of_samples(&traceset).into_bytes();
    /// assert!(Fingerprint::from_bytes(&bytes).matches(&traceset));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn of_samples(traceset: &Traceset) -> Fingerprint<'static> {
        Self::with_depth(traceset, Depth::Samples)
    }

    fn with_depth(traceset: &Traceset, depth: Depth) -> Fingerprint<'static> {
        let mut bytes = match depth {
            Depth::Samples => MAGIC_OF_SAMPLES.to_vec(),
            Depth::Usual | Depth::Whole => MAGIC.to_vec(),
        };
        bytes.extend_from_slice(&(traceset.traces().len() as u32).to_le_bytes());
        for trace in traceset.traces() {
            let count = |count: usize, bytes: &mut Vec<u8>| {
                bytes.extend_from_slice(&(count as u32).to_le_bytes());
            };
            bytes.extend_from_slice(&identifier(trace));
            count(trace.paths().len(), &mut bytes);
            each_metadata(trace, |now| now.record(depth).write(&mut bytes));
            count(trace.tracefiles().len(), &mut bytes);
            for number in 0..trace.tracefiles().len() {
                count(trace.tracefiles()[number].parts().len(), &mut bytes);
                each_file(trace, number, |now| now.record(depth).write(&mut bytes));
            }
        }
        Fingerprint { bytes: bytes.into(), depth }
    }

    /// Creates a fingerprint from any bytes. If they are not those of a fingerprint, it fits no
    /// traces.
    pub fn from_bytes(bytes: &'b [u8]) -> Self {
        let depth = match bytes.starts_with(&MAGIC_OF_SAMPLES) {
            true => Depth::Samples,
            false => Depth::Usual,
        };
        Fingerprint { bytes: bytes.into(), depth }
    }

    /// Sets comparisons to read the whole content of the traces.
    #[must_use]
    pub fn strict(self) -> Self {
        match self.depth {
            Depth::Samples => self,
            Depth::Usual | Depth::Whole => Fingerprint { depth: Depth::Whole, ..self },
        }
    }

    /// Returns the bytes of the fingerprint.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Converts the fingerprint to its bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_owned()
    }

    /// Returns `true` if the fingerprint fits these traces as they are now.
    pub fn matches(&self, traceset: &Traceset) -> bool {
        let now = traceset.traces().iter().flat_map(|trace| trace.tracefiles());
        self.sizes_before(traceset).is_some_and(|before| {
            !before.has_more_metadata
                && now.zip(before.sizes).all(|(now, before)| part_sizes(now).eq(before))
        })
    }

    /// Returns the bytes of a fingerprint of traces as they are now: those of this fingerprint if
    /// it fits the traces, otherwise those of a new one. The bytes of unchanged traces therefore
    /// stay the same, and the traces are read completely only if they have changed.
    pub fn into_current_bytes(self, traceset: &Traceset) -> Vec<u8> {
        if self.matches(traceset) {
            self.into_bytes()
        } else {
            Fingerprint::of(traceset).into_bytes()
        }
    }

    /// Computes the time before which traces have received nothing since this fingerprint was
    /// created. Returns [`Timestamp::MAX`] if they have received nothing at all.
    ///
    /// Returns `None` if the fingerprint belongs to other traces, or to these with another number
    /// of tracefiles, or if the earlier content of a file has changed. This is determined as by
    /// [`matches`](Self::matches). The earlier content of a file that has grown is read.
    ///
    /// ```
    /// use ltt_read::Timestamp;
    /// use lttv_context::{Fingerprint, Traceset};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traceset = Traceset::open(path)?;
    /// assert_eq!(Fingerprint::of(&traceset).unchanged_before(&traceset), Some(Timestamp::MAX));
    /// assert_eq!(Fingerprint::from_bytes(b"").unchanged_before(&traceset), None);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn unchanged_before(&self, traceset: &Traceset) -> Option<Timestamp> {
        appended::unchanged_before(self.sizes_before(traceset)?.sizes, traceset)
    }

    /// Returns the earlier sizes of all files if the fingerprint fits these traces, either as they
    /// are now or as they were before they grew. A tracefile may grow by content at the end of its
    /// last file and by further files, and metadata by text at its end and by further directories.
    fn sizes_before(&self, traceset: &Traceset) -> Option<EarlierSizes> {
        let bytes = &mut &*self.bytes;
        let magic = match self.depth {
            Depth::Samples => MAGIC_OF_SAMPLES,
            Depth::Usual | Depth::Whole => MAGIC,
        };
        if take::<4>(bytes)? != magic || count(bytes)? != traceset.traces().len() {
            return None;
        }
        let mut before = EarlierSizes { sizes: Vec::new(), has_more_metadata: false };
        for trace in traceset.traces() {
            if take(bytes)? != identifier(trace) {
                return None;
            }
            let mut left = count(bytes)?;
            let mut is_same = left <= trace.paths().len();
            before.has_more_metadata |= left < trace.paths().len();
            each_metadata(trace, |now| {
                if is_same && left > 0 {
                    left -= 1;
                    let record = take(bytes).as_ref().and_then(FileRecord::read);
                    is_same = record.is_some_and(|record| {
                        before.has_more_metadata |= record.size < now.size();
                        now.extends(&record, self.depth)
                    });
                }
            });
            if !is_same || count(bytes)? != trace.tracefiles().len() {
                return None;
            }
            for (number, tracefile) in trace.tracefiles().iter().enumerate() {
                let files = count(bytes)?;
                let mut sizes = Vec::new();
                let mut is_same = files <= tracefile.parts().len();
                each_file(trace, number, |now| {
                    if is_same && sizes.len() < files {
                        let record = take(bytes).as_ref().and_then(FileRecord::read);
                        is_same = record.is_some_and(|record| {
                            sizes.push(record.size);
                            // A running tracer appends to the last file.
                            let may_grow = sizes.len() == files;
                            (may_grow || record.size == now.size())
                                && now.extends(&record, self.depth)
                        });
                    }
                });
                if !is_same {
                    return None;
                }
                before.sizes.push(sizes);
            }
        }
        bytes.is_empty().then_some(before)
    }
}

/// The earlier sizes of traces.
struct EarlierSizes {
    /// The sizes of all files of each tracefile, in bytes.
    sizes: Vec<Vec<u64>>,
    /// `true` if there is more metadata now.
    has_more_metadata: bool,
}

/// Returns the identifier of a trace, combined with the transforms of its clocks: results with
/// other times are those of another trace.
fn identifier(trace: &Trace) -> [u8; 16] {
    let mut identifier = trace.uuid().map_or([0; 16], |uuid| uuid.0);
    let transforms = trace.clock_transforms();
    if transforms.iter().all(ClockTransform::is_identity) {
        return identifier;
    }
    let mut checksum = crc32fast::Hasher::new();
    for transform in transforms {
        checksum.update(&transform.origin().as_ns().to_le_bytes());
        checksum.update(&transform.origin_time().as_ns().to_le_bytes());
        checksum.update(&transform.slope().to_le_bytes());
    }
    let checksum = checksum.finalize().to_le_bytes();
    identifier.iter_mut().zip(checksum).for_each(|(byte, sum)| *byte ^= sum);
    identifier
}

/// Calls a function for the metadata in each directory of a trace. Metadata counts as empty if
/// there is no such file.
fn each_metadata(trace: &Trace, mut visit: impl FnMut(CurrentFile<'_>)) {
    for directory in trace.paths() {
        let path = directory.join("metadata");
        // Traces in memory are in no directory.
        let content = match directory.as_os_str().is_empty() {
            true => Content::Missing,
            false => Content::of_metadata(&path),
        };
        visit(CurrentFile { path: &path, content, packets: &[] });
    }
}

/// Returns the sizes of the parts of a tracefile, in bytes.
fn part_sizes(tracefile: &Tracefile) -> impl Iterator<Item = u64> {
    tracefile.parts().map(|(_, bytes)| bytes.len() as u64)
}

/// Calls a function for each part of a tracefile.
fn each_file(trace: &Trace, number: usize, mut visit: impl FnMut(CurrentFile<'_>)) {
    let Some(tracefile) = trace.tracefiles().get(number) else { return };
    let mut packets = trace.packet_index(TracefileIndex(number)).entries();
    for (file, (path, bytes)) in (0..).zip(tracefile.parts()) {
        let (of_file, rest) = packets.split_at(packets.partition_point(|p| p.file <= file));
        packets = rest;
        visit(CurrentFile { path, content: Content::Memory(trace, bytes), packets: of_file });
    }
}

fn count(bytes: &mut &[u8]) -> Option<usize> {
    Some(u32::from_le_bytes(take(bytes)?) as usize)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}
