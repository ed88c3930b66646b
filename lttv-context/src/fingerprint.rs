//! What tells traces apart, mostly without reading them.

mod part;

use std::borrow::Cow;

use ltt_read::{Timestamp, Trace};

use crate::growth;
use crate::traceset::Traceset;
use part::{Now, Part, metadata};

/// A fingerprint of traces: whatever is computed from traces and kept in a file is kept
/// with it, so that a trace that has changed since is recognised.
///
/// It has the identifier of each trace, and of its metadata and each file of its
/// tracefiles the name, the size, when it was modified, a checksum of the places, sizes
/// and times of its packets, one of 64 samples of 4 KiB, and one of all of its content.
/// Making it reads the traces once. (The checksums are CRC-32: they tell change, not
/// forgery.)
///
/// # What a comparison promises
///
/// | since the fingerprint was made, a file | is found changed by |
/// |---|---|
/// | has got another size or name | that |
/// | has been modified (at another time than before) | all of its content |
/// | seems untouched | its packets' places and times, and its samples |
///
/// So traces that were only copied, moved or touched are the same, at the price of reading
/// them once. For traces that are as they were, a comparison takes well below a
/// millisecond for each file. What it does not find is a change that keeps the size *and*
/// the time of modification of a file of more than 256 KiB, outside of its samples.
/// [`strict`](Self::strict) finds that, too: it always reads everything.
///
/// A fingerprint of another form, as earlier versions of this crate made them, is one of
/// no traces: what was kept with it is made anew.
///
/// ```
/// use lttv_context::{Fingerprint, Traceset};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let bytes = Fingerprint::of(&traceset).into_bytes();
/// // Later:
/// let known = Fingerprint::known(&bytes);
/// assert!(known.is_of(&traceset) && known.strict().is_of(&traceset));
/// assert!(!Fingerprint::known(b"something else").is_of(&traceset));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint<'b> {
    bytes: Cow<'b, [u8]>,
    is_strict: bool,
}

/// The bytes of the [`Fingerprint`] of traces as they are now.
///
/// Those of the same traces may be others later, when a file was copied or touched. To
/// find out whether bytes that were kept are of these traces, ask
/// [`Fingerprint::is_of`]; to compare bytes, compare with
/// [`Fingerprint::renewed`].
pub fn fingerprint(traceset: &Traceset) -> Vec<u8> {
    Fingerprint::of(traceset).into_bytes()
}

/// What a fingerprint begins with. The last byte is the number of the form.
const MAGIC: [u8; 4] = *b"LFP\x02";

impl Fingerprint<'static> {
    /// The fingerprint of traces as they are now. All of them is read.
    pub fn of(traceset: &Traceset) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&(traceset.traces().len() as u32).to_le_bytes());
        for trace in traceset.traces() {
            let count = |count: usize, bytes: &mut Vec<u8>| {
                bytes.extend_from_slice(&(count as u32).to_le_bytes());
            };
            bytes.extend_from_slice(&identifier(trace));
            count(trace.paths().len(), &mut bytes);
            each_metadata(trace, |now| now.part().write(&mut bytes));
            count(trace.tracefiles().len(), &mut bytes);
            for number in 0..trace.tracefiles().len() {
                count(trace.tracefiles()[number].files().count(), &mut bytes);
                each_file(trace, number, |now| now.part().write(&mut bytes));
            }
        }
        Fingerprint { bytes: bytes.into(), is_strict: false }
    }
}

impl<'b> Fingerprint<'b> {
    /// The fingerprint of these bytes, which may be any: if they are not those of a
    /// fingerprint, it is one of no traces.
    pub fn known(bytes: &'b [u8]) -> Self {
        Fingerprint { bytes: bytes.into(), is_strict: false }
    }

    /// The same, but comparisons read all of the traces.
    #[must_use]
    pub fn strict(self) -> Self {
        Fingerprint { is_strict: true, ..self }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_owned()
    }

    /// Whether it is of these traces as they are now.
    pub fn is_of(&self, traceset: &Traceset) -> bool {
        let now = traceset.traces().iter().flat_map(|trace| trace.tracefiles());
        self.sizes_before(traceset).is_some_and(|before| {
            !before.has_more_metadata
                && now.zip(before.sizes).all(|(now, before)| now.file_sizes().eq(before))
        })
    }

    /// The bytes of a fingerprint of traces as they are now: its own, if it is of these,
    /// and new ones otherwise. So bytes of the same traces stay the same, and are only
    /// made anew, which reads all of the traces, if these have changed.
    pub fn renewed(self, traceset: &Traceset) -> Vec<u8> {
        if self.is_of(traceset) { self.into_bytes() } else { fingerprint(traceset) }
    }

    /// As [`settled_since`](crate::settled_since), for this fingerprint.
    pub fn settled_since(&self, traceset: &Traceset) -> Option<Timestamp> {
        growth::settled(self.sizes_before(traceset)?.sizes, traceset)
    }

    /// The sizes that all files had, if it is of these traces, as they are now or as they
    /// were before they grew: the last file of each tracefile by content at its end,
    /// tracefiles by files, metadata by text at its end.
    fn sizes_before(&self, traceset: &Traceset) -> Option<Before> {
        let bytes = &mut &*self.bytes;
        if take::<4>(bytes)? != MAGIC || count(bytes)? != traceset.traces().len() {
            return None;
        }
        let mut before = Before { sizes: Vec::new(), has_more_metadata: false };
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
                    let part = take(bytes).as_ref().and_then(Part::read);
                    is_same = part.is_some_and(|part| {
                        before.has_more_metadata |= part.size < now.bytes.len() as u64;
                        now.continues(&part, self.is_strict)
                    });
                }
            });
            if !is_same || count(bytes)? != trace.tracefiles().len() {
                return None;
            }
            for (number, tracefile) in trace.tracefiles().iter().enumerate() {
                let files = count(bytes)?;
                let mut sizes = Vec::new();
                let mut is_same = files <= tracefile.files().count();
                each_file(trace, number, |now| {
                    if is_same && sizes.len() < files {
                        let part = take(bytes).as_ref().and_then(Part::read);
                        is_same = part.is_some_and(|part| {
                            sizes.push(part.size);
                            // The tracer goes on in the last one.
                            let may_grow = sizes.len() == files;
                            (may_grow || part.size == now.bytes.len() as u64)
                                && now.continues(&part, self.is_strict)
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

/// Traces as they were.
struct Before {
    /// The sizes of all files of each tracefile.
    sizes: Vec<Vec<u64>>,
    /// Whether there is more metadata now.
    has_more_metadata: bool,
}

fn identifier(trace: &Trace) -> [u8; 16] {
    trace.uuid().map_or([0; 16], |uuid| uuid.0)
}

/// Looks at the metadata in each directory of a trace, as if it were empty where there is
/// no such file.
fn each_metadata(trace: &Trace, mut look: impl FnMut(Now<'_>)) {
    for directory in trace.paths() {
        let path = directory.join("metadata");
        // Traces in memory are in no directory.
        let is_file = !directory.as_os_str().is_empty();
        let bytes = is_file.then(|| metadata(&path)).flatten().unwrap_or_default();
        look(Now { path: &path, bytes: &bytes, packets: &[] });
    }
}

/// Looks at each file of a tracefile.
fn each_file(trace: &Trace, number: usize, mut look: impl FnMut(Now<'_>)) {
    let Some(tracefile) = trace.tracefiles().get(number) else { return };
    let mut packets = trace.packet_index(number).entries();
    for (file, (path, bytes)) in (0..).zip(tracefile.files().zip(tracefile.file_bytes())) {
        let (of_file, rest) = packets.split_at(packets.partition_point(|p| p.file <= file));
        packets = rest;
        look(Now { path, bytes, packets: of_file });
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
