//! Seeking a time in one tracefile, by its packet times.

use super::packet_reaching;
use crate::base::time::Timestamp;
use crate::cursor::Cursor;
use crate::report::Error;

impl Cursor {
    /// Seeks the position before the first event, in file order, whose timestamp is
    /// `time` or later; the end of the tracefile if there is none. An event without a
    /// timestamp is before all times except [`Timestamp::MIN`]. In a [growing
    /// tracefile](crate::Tracefile::is_growing), an event of a type that is not declared yet ends
    /// the seek, since nothing after it can be found.
    ///
    /// This is a binary search in the [times of packets](crate::Trace::packet_times),
    /// followed by reading within one packet. [`PacketTimes`](crate::index::PacketTimes)
    /// describes how wrong times in packet headers can mislead it.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if the packet that has to be searched is damaged, as for
    /// [`next`](Self::next).
    pub fn seek_time(&mut self, time: Timestamp) -> Result<(), Error> {
        match self.seek_packet(time)? {
            true => Ok(()),
            false => self.skip_to(time),
        }
    }

    /// Seeks the start of the first packet that may contain the event for
    /// [`seek_time`](Self::seek_time). Returns `true` if the seek is complete.
    pub(crate) fn seek_packet(&mut self, time: Timestamp) -> Result<bool, Error> {
        let found = match time {
            Timestamp::MIN => None,
            time => packet_reaching(&self.trace().clone(), self.tracefile_index(), time),
        };
        self.enter_found(found, time)
    }
}
