//! The transforms of clocks, from the messages between hosts.

use std::path::Path;
use std::sync::atomic::Ordering;

use ltt_read::{ClockTransform, Error, Merge, TimeSpan, Timestamp};
use lttv_context::Traceset;
use lttv_context::synchronize::graph::{Network, Synchronization};
use lttv_context::synchronize::matching::{
    Hosts, MatchCounts, MatchLimits, Matcher, MessageEvents, Rules,
};
use lttv_context::synchronize::{HostIndex, Message};

use super::error::CorrectionError;
use super::file::{ClockEntry, Quality, TransformFile, TransformFileError};
use crate::cancel;
use crate::progress::Progress;
use crate::report::Interrupted;

/// The number of events between two updates of progress and interrupts.
const BATCH: u64 = 1 << 14;

/// The numbers of messages, and the faults of the data that was read.
#[derive(Debug, Default)]
pub struct Messages {
    /// The numbers of events and messages.
    pub counts: MatchCounts,
    /// The errors of data that could not be read and was skipped.
    pub errors: Vec<Error>,
    /// The number of further errors.
    pub errors_omitted: u64,
    /// The interrupt by the user that ended reading.
    pub interrupted: Option<Interrupted>,
}

/// The hosts of a traceset, and the relations of their clocks.
#[derive(Debug)]
pub struct Found {
    /// The hosts.
    pub hosts: Hosts,
    /// The relations of their clocks.
    pub clocks: Synchronization,
    /// The numbers of messages, and the faults of the data.
    pub messages: Messages,
    /// The times at which each host exchanged messages.
    spans: Vec<Option<TimeSpan>>,
}

/// Reads a traceset, and calls `found` for each message between two hosts. Shows the progress, and
/// ends if the user interrupts the program.
///
/// # Errors
///
/// If interrupts cannot be handled.
pub fn messages(
    traceset: &Traceset,
    hosts: &Hosts,
    mut found: impl FnMut(Message),
) -> Result<Messages, CorrectionError> {
    let cancel = cancel::on_interrupt().map_err(CorrectionError::Handler)?;
    let mut progress = Progress::new(false);
    let mut events = MessageEvents::new(traceset, hosts, &Rules::built_in());
    let mut matcher = Matcher::new(MatchLimits::default());
    let wanted = |trace, tracefile| events.may_want(trace, tracefile);
    let mut merge = Merge::with_tracefiles(traceset.traces(), wanted);
    let (mut examined, mut next, mut interrupted) = (0_u64, BATCH, None);
    while let Some(event) = merge.next_where(|event| {
        examined += 1;
        examined >= next || events.wants(event.trace_index(), event.type_id())
    }) {
        if let Some(end) = events.end_of(&event) {
            matcher.add(&end, &mut found);
        }
        if examined >= next {
            next = examined + BATCH;
            progress.update(merge.progress());
            if cancel.load(Ordering::Relaxed) {
                interrupted = Some(Interrupted { events: examined });
                break;
            }
        }
    }
    let (counts, errors_omitted) = (matcher.counts(), merge.errors_omitted());
    Ok(Messages { counts, errors: merge.take_errors(), errors_omitted, interrupted })
}

/// Reads a traceset, and relates the clocks of its hosts. Shows the progress, and ends if the user
/// interrupts the program.
///
/// # Errors
///
/// If interrupts cannot be handled.
pub fn find(traceset: &Traceset) -> Result<Found, CorrectionError> {
    find_with(traceset, Hosts::of(traceset), None)
}

/// Relates the clocks of hosts, like [`find`], with a reference for its island.
///
/// # Errors
///
/// Returns the errors of [`find`].
pub fn find_with(
    traceset: &Traceset,
    hosts: Hosts,
    reference: Option<HostIndex>,
) -> Result<Found, CorrectionError> {
    let mut network = Network::new(hosts.all().iter().map(|host| host.id.as_str()));
    let mut spans: Vec<Option<TimeSpan>> = vec![None; hosts.all().len()];
    let messages = messages(traceset, &hosts, |message| {
        network.add(&message);
        for (host, time) in [(message.sender, message.sent), (message.receiver, message.received)] {
            if let Some(span) = spans.get_mut(host.0) {
                let at = TimeSpan { start: time, end: time };
                *span = Some(span.map_or(at, |span| span.join(at)));
            }
        }
    })?;
    let clocks = network.solve(reference);
    Ok(Found { hosts, clocks, messages, spans })
}

impl Found {
    /// Returns the transform of a host to the clock of its reference. `None` if the clock cannot be
    /// related to any other.
    pub fn transform(&self, host: HostIndex) -> Option<ClockTransform> {
        self.clocks.host(host)?.transform()
    }

    /// Returns the reference of the island of a host.
    pub fn reference(&self, host: HostIndex) -> Option<HostIndex> {
        let island = self.clocks.host(host)?.island();
        self.clocks.islands().get(island).map(|island| island.reference)
    }

    /// Returns the greatest possible error of the transformed times of a host in ns, from its first
    /// to its last message. `None` if the clock cannot be related to any other.
    pub fn accuracy(&self, host: HostIndex) -> Option<u64> {
        let (clock, span) = (self.clocks.host(host)?, (*self.spans.get(host.0)?)?);
        // The error is a convex function of time, which is greatest at an end of an interval.
        Some(clock.accuracy_at(span.start)?.max(clock.accuracy_at(span.end)?))
    }

    /// Returns `true` if any clock is related to another one.
    pub fn has_relation(&self) -> bool {
        self.clocks.islands().iter().any(|island| island.hosts.len() > 1)
    }

    /// Returns the contents of a file with all transforms.
    ///
    /// # Errors
    ///
    /// Never, since all slopes are in range, and all hosts differ.
    pub fn file(
        &self,
        path: &Path,
        traceset: &Traceset,
    ) -> Result<TransformFile, TransformFileError> {
        let all = self.hosts.all().iter().enumerate();
        let entries = all.filter_map(|(index, host)| {
            let (index, id) = (HostIndex(index), host.id.clone());
            let (transform, reference) = (self.transform(index)?, self.reference(index)?);
            let traces = host.traces.iter().filter_map(|trace| traceset.traces().get(trace.0));
            let quality = if reference == index { Quality::Reference } else { Quality::Accurate };
            let reference = self.hosts.all().get(reference.0)?.id.clone();
            Some(ClockEntry {
                host: id,
                name: host.name.clone(),
                traces: traces.map(|of| of.path().to_string_lossy().into_owned()).collect(),
                reference: Some(reference),
                origin_ns: transform.origin().as_ns(),
                origin_time_ns: transform.origin_time().as_ns(),
                slope: transform.slope(),
                drift_ppm: Some(drift_ppm(&transform)),
                offset_ns: Some(offset_ns(&transform)),
                accuracy_ns: self.accuracy(index),
                quality: Some(quality),
            })
        });
        TransformFile::new(path, entries)
    }

    /// Returns the offset of a host in the middle of its messages: what is added to its times.
    pub fn offset(&self, host: HostIndex) -> Option<i128> {
        let transform = self.transform(host)?;
        let middle = match self.spans.get(host.0).copied().flatten() {
            Some(span) => span.start.saturating_add(span.end.since(span.start) / 2),
            None => transform.origin(),
        };
        Some(transform.apply(middle).signed_ns_since(middle))
    }
}

/// Returns the deviation of the slope of a transform from 1, in millionths.
pub fn drift_ppm(transform: &ClockTransform) -> f64 {
    let difference = i128::from(transform.slope()) - i128::from(ClockTransform::ONE);
    difference as f64 / ClockTransform::ONE as f64 * 1e6
}

/// Returns the difference between both times at the origin.
fn offset_ns(transform: &ClockTransform) -> i64 {
    let (from, to): (Timestamp, Timestamp) = (transform.origin(), transform.origin_time());
    to.as_ns().saturating_sub(from.as_ns())
}
