//! Counters that only some leaves have: bytes, and requests to block devices.

use crate::kernel::{Request, RequestKind, RequestStep, Transfer};

/// The numbers of steps of requests to block devices, and the bytes that they moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RequestCounts {
    /// The number of requests added to a queue.
    pub inserted: u64,
    /// The number of times that data, or a whole request, became a part of a request in a
    /// queue.
    pub merged: u64,
    /// The number of requests issued to a device.
    pub issued: u64,
    /// The number of requests that a device completed.
    pub completed: u64,
    /// The number of bytes in completed requests that read.
    pub bytes_read: u64,
    /// The number of bytes in completed requests that wrote.
    pub bytes_written: u64,
}

impl RequestCounts {
    /// Adds the counts of others.
    pub fn add(&mut self, other: &RequestCounts) {
        let sums = [
            (&mut self.inserted, other.inserted),
            (&mut self.merged, other.merged),
            (&mut self.issued, other.issued),
            (&mut self.completed, other.completed),
            (&mut self.bytes_read, other.bytes_read),
            (&mut self.bytes_written, other.bytes_written),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }

    /// Counts a step of a request.
    pub(super) fn count(&mut self, request: &Request) {
        let count = match request.step {
            RequestStep::Inserted => &mut self.inserted,
            RequestStep::Merged => &mut self.merged,
            RequestStep::Issued => &mut self.issued,
            RequestStep::Completed => &mut self.completed,
        };
        *count = count.saturating_add(1);
        let bytes = match (request.step, request.kind) {
            (RequestStep::Completed, RequestKind::Read) => &mut self.bytes_read,
            (RequestStep::Completed, RequestKind::Write) => &mut self.bytes_written,
            _ => return,
        };
        *bytes = bytes.saturating_add(request.bytes);
    }
}

/// The counters of a leaf that only some leaves have. None of them is all zeros, so that
/// equal counts are equal values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Extra {
    pub(super) bytes_read: u64,
    pub(super) bytes_written: u64,
    /// The requests by index of the device, in ascending order; without index come first.
    pub(super) requests: Vec<(Option<u32>, RequestCounts)>,
}

impl Extra {
    /// Adds bytes that a process read or wrote.
    pub(super) fn transfer(&mut self, transfer: Transfer, bytes: u64) {
        self.bytes_read = self.bytes_read.saturating_add(transfer.read(bytes));
        self.bytes_written = self.bytes_written.saturating_add(transfer.written(bytes));
    }

    /// Returns the requests to a device, which are added if they are new.
    pub(super) fn requests_to(&mut self, device: Option<u32>) -> &mut RequestCounts {
        let at = match self.requests.binary_search_by_key(&device, |(of, _)| *of) {
            Ok(at) => at,
            Err(at) => {
                self.requests.insert(at, (device, RequestCounts::default()));
                at
            }
        };
        &mut self.requests[at].1
    }

    /// Adds the counters of another leaf or part.
    pub(super) fn add(&mut self, other: &Extra) {
        self.transfer(Transfer::Read, other.bytes_read);
        self.transfer(Transfer::Write, other.bytes_written);
        for (device, counts) in &other.requests {
            self.requests_to(*device).add(counts);
        }
    }
}
