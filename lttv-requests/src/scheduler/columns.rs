//! Counting of events in columns, without a call of a hook for each.

use ltt_read::Timestamp;
use lttv_context::{EndReason, ReadError, TracesetPosition};

use crate::budget::Meter;
use crate::scheduler::Scheduler;
use crate::scheduler::service::{Limits, earlier};

impl<'h> Scheduler<'h> {
    /// Reads column by column, if the only running request counts events in columns.
    /// Returns the number of events read, or `None` if events have to be counted one by
    /// one.
    pub(crate) fn read_columns(
        &mut self,
        here: &TracesetPosition,
        limits: &Limits,
        meter: &Meter,
    ) -> Option<u64> {
        let column = here.time().and_then(|time| self.column_at(time));
        let column = column.filter(|column| self.is_clean(column.start));
        let end = column.map(|column| column.end).filter(|end| self.is_clean(*end));
        let by_hook = end.is_none();
        for request in &mut self.running {
            request.count_by_hook(by_hook, &mut self.context);
        }
        let (mut start, mut end) = (here.time()?, end?);
        let mut read = 0;
        // The work so far, in events: a column without events takes some, too.
        let mut done = 0;
        if !self.running.first_mut()?.add_to_column(start, 0) {
            return Some(0);
        }
        loop {
            let bounds = limits.bounds(earlier(Some(end), limits.time), limits.events - done);
            let part = self.read_guarded(|context| context.read(&bounds))?;
            let part = match part {
                Ok(part) => part,
                Err(ReadError::Hook(error)) => self.note_hook_error(error),
                // Positions were checked on submission.
                Err(_) => return Some(read),
            };
            read += limits.events_of(&part);
            done += limits.events_of(&part).max(1);
            let continues = self.running.first_mut()?.add_to_column(start, part.events);
            if part.reason == EndReason::EndOfTraceset && continues {
                // No more events can pass. This moves to the end of the request.
                let bounds = limits.bounds(limits.time, 1);
                _ = self.read_guarded(|context| context.read(&bounds))?;
                return Some(read);
            }
            let is_complete =
                part.reason == EndReason::EndTime && limits.time.is_none_or(|time| end <= time);
            if continues && is_complete {
                self.running.first_mut()?.complete_column(start);
            }
            let is_inside = part.reason == EndReason::EndTime
                && limits.time.is_none_or(|time| end < time)
                && done < limits.events;
            if !continues || !is_inside || meter.is_out_of_time() {
                return Some(read);
            }
            let next = self.column_at(end).filter(|next| self.is_clean(next.end));
            let Some(next) = next else { return Some(read) };
            (start, end) = (next.start, next.end);
        }
    }

    /// Returns the column of a time, if the only running request counts events in columns.
    fn column_at(&self, time: Timestamp) -> Option<std::ops::Range<Timestamp>> {
        match &*self.running {
            [request] => request.column_of(time),
            _ => None,
        }
    }

    /// Returns whether all events before a time are delivered before it, so that events can
    /// be counted up to it.
    fn is_clean(&mut self, time: Timestamp) -> bool {
        time == Timestamp::MIN || self.context.scheduling().delivered_by(time) == Some(time)
    }
}
