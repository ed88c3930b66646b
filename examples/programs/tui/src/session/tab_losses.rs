//! Events and packets that the tracer lost: their numbers, and the columns of charts.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_common::losses::Losses;
use lttv_common::time::Window;
use lttv_context::{TimeSpan, Traceset};

use crate::model::axis::Axis;
use crate::session::Session;

/// The losses of the traces of a tab.
#[derive(Debug, Default)]
pub(super) struct TabLosses {
    all: Losses,
    /// The search for them, on a thread: the headers of all packets are read.
    job: Option<Receiver<Losses>>,
    shown: RefCell<Option<(Axis, Rc<ShownLosses>)>>,
}

/// The losses in the time window.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ShownLosses {
    /// Their numbers, in a few words; `None` if there are none.
    pub numbers: Option<String>,
    /// The number of ranges of time.
    pub ranges: usize,
    /// A sentence about them.
    pub summary: Option<String>,
    /// The columns of charts that they overlap, in order. Other columns are between them.
    pub columns: Vec<Range<usize>>,
}

impl TabLosses {
    /// Starts to search the losses of a traceset.
    pub(super) fn start(traceset: &Traceset) -> Self {
        let (sender, receiver) = channel();
        let traces = traceset.traces().to_vec();
        // There is no receiver if the tab was closed.
        std::thread::spawn(move || _ = sender.send(Losses::of(&traces, Window::default())));
        TabLosses { job: Some(receiver), ..TabLosses::default() }
    }

    /// Starts the search again for traces that have grown, unless one is going on.
    pub(super) fn start_again(&mut self, traceset: &Traceset) {
        if self.job.is_none() {
            self.job = TabLosses::start(traceset).job;
        }
    }

    /// Waits for the search for at most this time. Returns `true` if it has ended or continues.
    pub(super) fn serve(&mut self, time: Duration) -> bool {
        let Some(job) = &self.job else { return false };
        match job.recv_timeout(time) {
            Ok(losses) => self.all = losses,
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => {}
        }
        self.job = None;
        self.shown.replace(None);
        true
    }

    /// Returns the losses in the window of an axis.
    fn shown(&self, axis: Axis) -> Rc<ShownLosses> {
        if let Some((known, shown)) = &*self.shown.borrow()
            && *known == axis
        {
            return shown.clone();
        }
        let shown = Rc::new(ShownLosses::new(&self.all, axis));
        self.shown.replace(Some((axis, shown.clone())));
        shown
    }
}

impl ShownLosses {
    fn new(all: &Losses, axis: Axis) -> Self {
        let window = axis.window();
        let (start, end) = (window.start(), Timestamp::from_ns(window.end().as_ns() - 1));
        let losses = all.within(Window { begin: Some(start), end: Some(end) });
        let mut columns: Vec<Range<usize>> = Vec::new();
        for span in losses.spans(TimeSpan { start, end }) {
            let (Some(first), Some(last)) = (axis.column(span.start), axis.column(span.end)) else {
                continue;
            };
            match columns.last_mut() {
                Some(before) if first <= before.end => before.end = before.end.max(last + 1),
                _ => columns.push(first..last + 1),
            }
        }
        let (numbers, ranges) = (losses.numbers(), losses.ranges().len());
        ShownLosses { numbers, ranges, summary: losses.summary(None), columns }
    }
}

impl Session {
    /// Returns the events and packets that were lost in the time window: none until the search
    /// for them has ended.
    pub fn losses(&self) -> Rc<ShownLosses> {
        self.losses.shown(self.axis())
    }

    /// Returns a sentence about all losses of the traces.
    pub(crate) fn all_losses(&self) -> Option<String> {
        self.losses.all.summary(None)
    }
}
