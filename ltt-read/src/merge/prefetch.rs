//! File ranges that the merge reads next, to be prefetched by another thread.

use std::ops::Range;

use super::{Merge, is_left_out};
use crate::base::source::SharedBytes;
use crate::cursor::Cursor;
use crate::trace::{Trace, TracefileIndex};

/// The number of bytes that are prefetched, of all tracefiles together.
const TOGETHER: u64 = 64 << 20;

/// The largest number of bytes of one tracefile among them.
const MOST: u64 = 16 << 20;

/// The smallest number of bytes of one tracefile among them.
const LEAST: u64 = 256 << 10;

/// The number of ranges in which the bytes of one tracefile are prefetched. The disk then always has
/// something to do, and no tracefile has to wait for large parts of the others.
const PARTS: u64 = 8;

/// The size of parts from which on they are read in large pages. With more tracefiles, of smaller parts, the rest
/// of these pages would take too much memory, and the others would wait for it.
const LARGE: u64 = 512 << 10;

/// The number of bytes before the place of a cursor that are not released: other threads may read events again.
const BEHIND: u64 = 4 << 20;

/// The size of the first part of a file, of which the first event is needed at once.
const FIRST: u64 = 128 << 10;

/// The file ranges that have been prefetched, for a merge of traces that are not in
/// memory yet.
///
/// Mapped files are read when their pages are used, one small piece after the other, while the
/// reader waits. [`next`](Self::next) returns larger pieces of all tracefiles before they are
/// needed, which other threads [fetch](Upcoming::fetch), all of them. Events are the same with and without.
///
/// It also releases the memory of what the merge has read some MB ago, as
/// [`Trace::release_bytes`](crate::Trace::release_bytes) does: a trace may be larger than memory, and the
/// system takes pages that are not mapped away in less time.
///
/// ```
/// use ltt_read::Merge;
/// use ltt_read::tuning::Prefetch;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traces = ltt_read::open_all(path)?;
/// let (mut merge, mut ahead) = (Merge::new(&traces), Prefetch::default());
/// std::thread::scope(|scope| {
///     let (sender, receiver) = std::sync::mpsc::channel::<Vec<ltt_read::tuning::Upcoming>>();
///     scope.spawn(move || receiver.iter().flatten().for_each(|part| part.fetch()));
///     let mut events = 0_u64;
///     while merge.next().is_some() {
///         if events.is_multiple_of(10_000) {
///             sender.send(ahead.next(&merge)).expect("the thread waits for more");
///         }
///         events += 1;
///     }
/// });
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Prefetch {
    /// The file of each tracefile that is read, and the offset up to which its bytes have been
    /// requested.
    asked: Vec<(u32, u64)>,
}

/// A part of a file that will be read soon.
#[derive(Debug, Clone)]
pub struct Upcoming {
    source: SharedBytes,
    range: Range<u64>,
    /// `true` if all large pages are read that contain a byte of the part.
    large: bool,
}

impl Upcoming {
    /// Returns the parts of the files of a tracefile that contain a range of its bytes, counted over all its
    /// files. The range may exceed the tracefile.
    ///
    /// They are read in large pages, which suits tracefiles that are read one after the other.
    pub fn of(trace: &Trace, tracefile: TracefileIndex, bytes: Range<u64>) -> Vec<Upcoming> {
        let parts = trace.tracefile(tracefile).parts_of(bytes);
        parts
            .map(|(source, range)| Upcoming::large(source, range.clone(), range.start == 0))
            .collect()
    }

    /// Creates a part that is read in large pages, and may be the first one of its file.
    fn large(source: &SharedBytes, range: Range<u64>, is_first: bool) -> Self {
        if is_first {
            source.will_be_populated();
        }
        Upcoming { source: source.clone(), range, large: true }
    }

    /// Reads the part from the disk, on Linux from 5.14 on, and returns when it is in memory. On other systems,
    /// asks for it and does not wait. This has an effect on mapped files on Unix only.
    ///
    /// To be called by some threads for successive parts: a disk delivers several of them in less time than one
    /// after the other.
    pub fn fetch(&self) {
        match self.large {
            true => self.source.populate(self.range.clone()),
            false => self.source.populate_only(self.range.clone()),
        }
    }
}

impl Prefetch {
    /// Returns the parts of files that a merge will read next and that have not been returned
    /// before. To be called after each some thousands of events: most calls return few parts or
    /// nothing. A call asks each tracefile, so that traces of thousands of these are read in larger steps.
    pub fn next(&mut self, merge: &Merge) -> Vec<Upcoming> {
        self.asked.resize(merge.cursors.len(), (0, 0));
        let window = (TOGETHER / merge.cursors.len().max(1) as u64).clamp(LEAST, MOST);
        let cursors = merge.cursors.iter().zip(&mut self.asked).enumerate();
        let merged = cursors.filter(|(number, _)| !is_left_out(&merge.roles, *number));
        merged.filter_map(|(_, (cursor, asked))| upcoming(cursor, asked, window)).collect()
    }
}

/// Returns what a cursor will read, if a part of the window before it has not been requested. Parts
/// are as large as what has been requested, up to a limit, so that the first ones come soon.
fn upcoming(cursor: &Cursor, asked: &mut (u32, u64), window: u64) -> Option<Upcoming> {
    let (file, at) = cursor.next_place()?;
    let known = if asked.0 == file { asked.1 } else { 0 };
    let source = &cursor.tracefile().file(file)?.source;
    let start = known.max(at);
    let (ahead, largest) = (start - at, (window / PARTS).max(FIRST));
    if ahead > window - largest || start >= source.get().len() as u64 {
        return None;
    }
    let end = start.saturating_add(ahead.clamp(FIRST, largest));
    // As much as was read since the last time, and more, in case that this came late.
    source.release(at.saturating_sub(BEHIND + 4 * largest)..at.saturating_sub(BEHIND));
    *asked = (file, end);
    Some(match largest >= LARGE {
        true => Upcoming::large(source, start..end, known == 0),
        false => Upcoming { source: source.clone(), range: start..end, large: false },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &[u8] = br#"/* CTF 1.8 */
        trace { major = 1; minor = 8; byte_order = le; };
        event { name = "tick"; fields := struct { integer { size = 8; } n; }; };"#;

    /// Every byte is prefetched once, in order, and long before it is read.
    #[test]
    fn all_bytes_are_asked_for_once_before_they_are_read() {
        let sizes = [100, 3 * LEAST as usize, 40 * LEAST as usize + 1];
        let files = sizes.iter().enumerate().map(|(n, size)| (format!("s_{n}"), vec![7; *size]));
        let traces = [Trace::from_memory(METADATA, files).unwrap()];
        let (mut merge, mut prefetch) = (Merge::new(&traces), Prefetch::default());
        let mut asked = vec![0; sizes.len()];
        loop {
            for Upcoming { source, range, .. } in prefetch.next(&merge) {
                let size = source.get().len();
                let number = sizes.iter().position(|other| *other == size).unwrap();
                assert_eq!(range.start, asked[number]);
                assert!(range.end - range.start >= FIRST);
                asked[number] = range.end;
            }
            for (cursor, asked) in merge.cursors.iter().zip(&asked) {
                if let Some((_, at)) = cursor.next_place() {
                    let size = cursor.tracefile().size();
                    assert!(*asked >= size.min(at + FIRST), "{asked} at {at} of {size}");
                }
            }
            if (0..10_000).any(|_| merge.next().is_none()) {
                break;
            }
        }
        assert!(asked.iter().zip(&sizes).all(|(asked, size)| *asked >= *size as u64));
    }

    /// The bytes of a tracefile are counted over its files.
    #[test]
    fn parts_of_a_range_are_those_of_its_files() {
        let metadata = br#"/* CTF 1.8 */
            trace {
                major = 1; minor = 8; byte_order = le;
                packet.header := struct { integer { size = 8; } stream_instance_id; };
            };
            event { name = "tick"; fields := struct { integer { size = 8; } n; }; };"#;
        let files = ["s_0", "s_1", "s_2"].into_iter().zip([100, 50, 70]);
        let files = files.map(|(name, size)| (name.to_owned(), vec![7; size]));
        let trace = Trace::from_memory(metadata, files.collect::<Vec<_>>()).unwrap();
        let of = |bytes| {
            let parts = Upcoming::of(&trace, TracefileIndex(0), bytes);
            let place = |part: Upcoming| (part.source.get().len(), part.range);
            parts.into_iter().map(place).collect::<Vec<_>>()
        };
        assert_eq!(trace.tracefiles().len(), 1);
        assert_eq!(of(0..100), [(100, 0..100)]);
        assert_eq!(of(90..160), [(100, 90..100), (50, 0..50), (70, 0..10)]);
        assert_eq!(of(149..u64::MAX), [(50, 49..50), (70, 0..70)]);
        assert_eq!(of(220..300), []);
        assert_eq!(of(100..100), []);
    }
}
