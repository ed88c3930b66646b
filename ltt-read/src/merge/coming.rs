//! The next tracefiles in order, whose memory is prefetched.

use super::key::number_of;
use crate::cursor::Cursor;

/// The number of tracefiles that are prefetched at once.
const GROUP: usize = 8;

/// The number of visits before which the cursor of a tracefile is prefetched.
const FAR: usize = 128;

/// The number of visits before which the data of a tracefile is prefetched.
const SOON: usize = 16;

/// The prefetching of tracefiles whose events come soon.
///
/// The memory of each tracefile is in pages of its own. After a prefetch, a processor waits until
/// it has found the page; if prefetches follow each other, it looks for several pages at a time.
#[derive(Debug, Default)]
pub(super) struct Coming {
    /// The index from which on the cursors of the keys have been prefetched.
    far: usize,
    /// The index from which on the data of the keys has been prefetched.
    soon: usize,
    /// The number of keys at the last call.
    left: usize,
}

impl Coming {
    /// Prefetches what the next events need, given their keys in descending order. To be called
    /// after each event that changes them. There are more keys than before only where all of them
    /// are new.
    #[inline(always)]
    pub(super) fn prefetch(&mut self, keys: &[u128], cursors: &[Cursor]) {
        if keys.len() > self.left {
            (self.far, self.soon) = (keys.len(), keys.len());
        }
        self.left = keys.len();
        if self.soon > 0 && self.soon + SOON >= keys.len() + GROUP {
            self.prefetch_group(keys, cursors);
        }
    }

    #[inline(never)] // keeps the way without a prefetch short
    fn prefetch_group(&mut self, keys: &[u128], cursors: &[Cursor]) {
        let of = |keys: Option<&[u128]>, prefetch: fn(&Cursor)| {
            for key in keys.unwrap_or_default().iter().rev() {
                if let Some(cursor) = cursors.get(number_of(*key) as usize) {
                    prefetch(cursor);
                }
            }
        };
        let far = keys.len().saturating_sub(FAR);
        of(keys.get(far..self.far), Cursor::prefetch);
        let soon = keys.len().saturating_sub(SOON);
        of(keys.get(soon..self.soon), Cursor::prefetch_next);
        (self.far, self.soon) = (far.min(self.far), soon.min(self.soon));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::order::FEW;
    use super::super::{EventSink, Merge};
    use crate::event::Event;
    use crate::trace::{Trace, TracefileIndex, TracefileNumber};

    const METADATA: &[u8] = br#"/* CTF 1.8 */
        trace { major = 1; minor = 8; byte_order = le; };
        clock { name = c; freq = 1000000000; };
        stream {
            event.header := struct {
                integer { size = 64; align = 8; map = clock.c.value; } t;
            };
        };
        event { name = "tick"; fields := struct { integer { size = 32; align = 8; } n; }; };"#;

    /// The times and places of events, in the order in which they are delivered.
    #[derive(Default)]
    struct Order(Vec<(i64, usize, u64)>);

    impl Order {
        fn add(&mut self, tracefile: usize, event: &Event<'_>) {
            let time = event.timestamp().map_or(i64::MIN, |time| time.as_ns());
            self.0.push((time, tracefile, event.offset()));
        }
    }

    impl EventSink for Order {
        fn accepts(&mut self, tracefile: TracefileNumber, event: &Event<'_>) -> bool {
            self.add(tracefile.0, event);
            false
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Streams have bursts, equal times, times that go back, and different lengths. They are read in
        /// chunks, and event by event with steps back.
        #[test]
        fn many_streams_are_merged_in_order(
            streams in prop::collection::vec(
                prop::collection::vec(
                    (0..3_u64, prop_oneof![20 => Just(0_i64), 6 => 1..400_i64, 1 => -400..0_i64]), 0..30),
                FEW + 1..FEW * 3,
            ),
            chunks in prop::collection::vec(1..3_000_u64, 1..20),
        ) {
            let files = streams.iter().enumerate().map(|(number, steps)| {
                let (mut bytes, mut time) = (Vec::new(), 0);
                for (n, (step, gap)) in (0_u32..).zip(steps) {
                    time = (time + step).saturating_add_signed(*gap);
                    bytes.extend_from_slice(&time.to_le_bytes());
                    bytes.extend_from_slice(&n.to_le_bytes());
                }
                (format!("s_{number}"), bytes)
            });
            let traces = [Trace::from_memory(METADATA, files).expect("a trace")];
            let (mut expected, mut streams, mut heads) = (Order::default(), Vec::new(), BTreeSet::new());
            for number in 0..traces[0].tracefiles().len() {
                let mut cursor = traces[0].cursor(TracefileIndex(number));
                let mut stream = Order::default();
                while let Some(event) = cursor.next().expect("sound events") {
                    stream.add(number, &event);
                }
                let mut stream = stream.0.into_iter();
                heads.extend(stream.next());
                streams.push(stream);
            }
            // The least of the next events of all streams comes next.
            while let Some(event) = heads.pop_first() {
                expected.0.push(event);
                heads.extend(streams[event.1].next());
            }

            let (mut merge, mut found) = (Merge::new(&traces), Order::default());
            for most in chunks.iter().cycle() {
                if merge.drive(*most, &mut found) < *most {
                    break;
                }
                // What was un-read is read again.
                let positions = merge.positions();
                found.0.pop();
                match most % 3 {
                    0 => merge.unread(),
                    1 => merge.seek_positions(&positions),
                    _ => {
                        let number = merge.current_tracefile().map_or(0, |number| number.0);
                        let event = merge.current().expect("the event of the last chunk");
                        found.add(number, &event);
                        if let Some(event) = merge.next() {
                            let (time, offset) = (event.timestamp(), event.offset());
                            let number = merge.current_tracefile().expect("an event").0;
                            found.0.push((time.map_or(0, |time| time.as_ns()), number, offset));
                        }
                    }
                }
            }
            prop_assert_eq!(found.0.len(), expected.0.len());
            prop_assert!(found.0 == expected.0);
        }
    }
}
