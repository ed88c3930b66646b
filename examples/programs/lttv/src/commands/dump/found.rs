//! The findings of a count besides events, in an order that does not depend on threads.

use std::collections::HashMap;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use ltt_read::{Error, Notice, NoticeKind, Trace};

/// The notices and errors of a count. In the order of their places, they are the same however the
/// tracefiles were read.
pub(super) struct Found {
    traces: Vec<Arc<Trace>>,
    notices: Vec<Notice>,
}

impl Found {
    /// The greatest number of notices that wait for others to be put in order.
    pub(super) const MOST: usize = 1024;

    pub(super) fn new(traces: &[Arc<Trace>]) -> Self {
        Found { traces: traces.to_vec(), notices: Vec::new() }
    }

    /// Adds notices. Returns `true` if there are too many to be kept.
    pub(super) fn add(&mut self, notices: Vec<Notice>) -> bool {
        self.notices.extend(notices);
        self.notices.len() > Self::MOST
    }

    /// Returns and removes the notices so far: by tracefile, and by packet.
    pub(super) fn take_notices(&mut self) -> Vec<Notice> {
        let mut notices = mem::take(&mut self.notices);
        if notices.len() > 1 {
            let files = self.files();
            notices.sort_by_key(|notice| {
                let is_read = !matches!(
                    notice.kind,
                    NoticeKind::IndexIgnored { .. } | NoticeKind::PacketTimesIgnored { .. }
                );
                (files.get(&*notice.file).copied(), is_read, notice.offset)
            });
        }
        notices
    }

    /// Returns errors by tracefile and place.
    pub(super) fn in_order(&self, mut errors: Vec<Error>) -> Vec<Error> {
        if errors.len() > 1 {
            let files = self.files();
            errors.sort_by_key(|error| {
                error.place().map(|place| (files.get(&*place.file).copied(), place.offset))
            });
        }
        errors
    }

    /// Returns the numbers of all files.
    fn files(&self) -> HashMap<&Path, usize> {
        let tracefiles = self.traces.iter().flat_map(|trace| trace.tracefiles());
        tracefiles.flat_map(|tracefile| tracefile.files()).zip(0..).collect()
    }
}
