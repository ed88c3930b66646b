//! The packets of a stream that were delivered, by what is missing among them.
//!
//! While a session is copied, its files come in the order of their names, not of their packets. A
//! packet that comes after later ones is late if it is not among those that were delivered; otherwise
//! it is in a second file.

use super::packet_run::{PacketPlace, PacketRun};

/// The maximum number of places at which packets are missing that are remembered for a stream. A
/// late packet of an older one counts as known.
const MOST: usize = 1 << 16;

/// The gaps among the packets that were delivered.
#[derive(Debug, Default)]
pub(super) struct Delivered {
    /// The packet before which none was delivered.
    first: Option<PacketPlace>,
    /// The packets between which some are missing.
    gaps: Vec<(PacketPlace, PacketPlace)>,
}

impl Delivered {
    /// Returns `true` if a packet before the last one was certainly not delivered.
    pub(super) fn lacks(&self, packet: &PacketPlace) -> bool {
        self.first.is_some_and(|first| packet.is_before(&first)) || self.gap_of(packet).is_some()
    }

    /// Notes packets that follow `last`, the last one before.
    pub(super) fn add(&mut self, last: Option<&PacketPlace>, run: &PacketRun) {
        self.first = self.first.or(run.first().copied());
        if let (Some(last), Some(first)) = (last, run.first())
            && run.leaves_gap(last)
        {
            self.gaps.push((*last, *first));
        }
        self.gaps.extend(run.gaps());
        self.forget();
    }

    /// Notes late packets, which are missing no longer.
    pub(super) fn add_late(&mut self, run: &PacketRun) {
        let (Some(begin), Some(end)) = (run.first().copied(), run.last().copied()) else { return };
        match self.gap_of(&begin) {
            Some(at) => {
                let (before, after) = self.gaps.remove(at);
                let parts = [(before, begin), (end, after)];
                self.gaps.extend(parts.into_iter().filter(|(a, b)| b.leaves_gap(a)));
            }
            None => {
                if let Some(first) = self.first.replace(begin) {
                    self.gaps.push((end, first));
                }
            }
        }
        self.gaps.extend(run.gaps());
        self.forget();
    }

    fn gap_of(&self, packet: &PacketPlace) -> Option<usize> {
        let is_in = |(before, after): &(PacketPlace, PacketPlace)| {
            before.is_before(packet) && packet.is_before(after)
        };
        self.gaps.iter().position(is_in)
    }

    fn forget(&mut self) {
        let excess = self.gaps.len().saturating_sub(MOST);
        self.gaps.drain(..excess);
    }
}
