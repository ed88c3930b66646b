//! A tab of traces that are being recorded.

use std::cell::OnceCell;
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use ltt_read::Timestamp;
use lttv_common::follow::PAUSE;
use lttv_context::{RecordingError, RecordingState, TimeSpan, Traceset, TracesetContext};
use lttv_requests::views::TimeWindow;

use super::opening::{FIRST_WIDTH, OpenError};
use crate::model::fault::Fault;
use crate::session::Session;

/// The time between two looks at what has grown, which limits how often charts are requested.
const PERIOD: Duration = Duration::from_millis(250);

/// The longest time for which data is fetched at once, so that keys have an effect.
const STEP: Duration = Duration::from_millis(5);

/// The bytes of events that a live session keeps in memory. After them, it is not followed further.
pub const MEMORY: u64 = 1 << 30;

/// The recording of the traces of a tab.
#[derive(Debug)]
pub(super) struct Following {
    /// `None` if the recording has ended or cannot be read any further.
    recording: Option<lttv_context::Recording>,
    traceset: Traceset,
    /// `true` if the time window slides with the recording.
    slides: bool,
    /// The time at which the tab has grown.
    grown: Instant,
    /// `true` if there is something new since then.
    is_new: bool,
    /// The numbers of event types and tracefiles for which filters were compiled.
    extent: Vec<(usize, usize)>,
}

/// The state of the recording of a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// The time window slides with the recording.
    Slides,
    /// The time window stays.
    Stays,
    /// The recording has ended, or cannot be followed any further.
    Ended,
}

/// The growth of the traces of a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grown {
    /// `true` if the list of events has to show the last events.
    pub(crate) slides: bool,
}

/// Returns the numbers of what traces declare.
fn extent(traceset: &Traceset) -> Vec<(usize, usize)> {
    let of = |trace: &std::sync::Arc<ltt_read::Trace>| {
        (trace.schema().event_types.len(), trace.tracefiles().len())
    };
    traceset.traces().iter().map(of).collect()
}

impl Session {
    /// Waits for the first event of a recording, and opens a session that follows it. Returns `None`
    /// if `is_cancelled` returns `true` before.
    ///
    /// # Errors
    ///
    /// If the recording cannot be read, or ends without events.
    pub fn follow(
        name: String,
        mut recording: lttv_context::Recording,
        is_cancelled: impl Fn() -> bool,
    ) -> Result<Option<Session>, Box<dyn Error>> {
        let mut failures = Vec::new();
        let traceset = loop {
            if is_cancelled() {
                return Ok(None);
            }
            let found = match recording.fetch(STEP) {
                Err(RecordingError::Read(error)) => {
                    failures.push(error);
                    RecordingState::Busy
                }
                found => found?,
            };
            let traceset = recording.traceset();
            // The position where nothing is final yet has a time, too.
            let mut context = TracesetContext::new(traceset);
            if !context.scheduling().is_pending() && context.position().time().is_some() {
                break traceset.clone();
            }
            match found {
                RecordingState::Ended => return Err(OpenError::NoTime(name).into()),
                RecordingState::Idle => thread::sleep(PAUSE),
                RecordingState::Busy => {}
            }
        };
        let mut session = Session::new(name, traceset.clone())?;
        session.following = Some(Following {
            extent: extent(&traceset),
            recording: traceset.is_growing().then_some(recording),
            traceset,
            slides: true,
            grown: Instant::now(),
            is_new: false,
        });
        session.take_growth(false)?;
        failures
            .iter()
            .for_each(|error| session.add_message(ltt_read::ErrorChain(error).to_string()));
        let width = TimeSpan { start: session.first, end: session.span.end };
        session.tab.set_window(TimeWindow::covering(width), None);
        session.forget_windows();
        Ok(Some(session))
    }

    /// Returns the state of the recording; `None` if the traces were complete when they were opened.
    pub fn recording(&self) -> Option<Recording> {
        let following = self.following.as_ref()?;
        Some(match following.slides {
            _ if following.recording.is_none() => Recording::Ended,
            true => Recording::Slides,
            false => Recording::Stays,
        })
    }

    /// Returns `true` if the time window slides with the recording.
    pub fn slides(&self) -> bool {
        self.recording() == Some(Recording::Slides)
    }

    /// Lets the time window slide with the recording, or stay.
    pub fn slide(&mut self, slides: bool) {
        if let Some(following) = &mut self.following {
            following.slides = slides;
        }
        if self.slides() {
            self.slide_window();
        }
    }

    /// Fetches what was recorded, and shows it from time to time. Returns the growth that viewers
    /// have to take note of.
    pub(crate) fn grow(&mut self) -> Option<Grown> {
        let following = self.following.as_mut()?;
        let recording = following.recording.as_mut()?;
        let found = recording.fetch(STEP);
        following.is_new |= !matches!(found, Ok(RecordingState::Idle));
        let is_due = following.is_new && following.grown.elapsed() >= PERIOD;
        let has_ended = matches!(found, Ok(RecordingState::Ended) | Err(_));
        if let Err(RecordingError::Read(error)) = &found {
            let text = ltt_read::ErrorChain(error).to_string();
            self.add_message(text);
            return None;
        }
        if !is_due && !has_ended {
            return None;
        }
        following.traceset = recording.traceset().clone();
        (following.grown, following.is_new) = (Instant::now(), false);
        let slides = following.slides;
        match found {
            Ok(RecordingState::Ended) => {
                following.recording = None;
                self.add_message("the recording has ended".to_owned());
            }
            Ok(_) => {}
            Err(error) => {
                following.recording = None;
                self.add_message(ltt_read::ErrorChain(&error).to_string());
            }
        }
        if let Err(error) = self.take_growth(slides) {
            self.add_message(ltt_read::ErrorChain(&*error).to_string());
        }
        Some(Grown { slides })
    }

    /// Continues with the traces as they are now. The time window slides to what is new, or stays.
    fn take_growth(&mut self, slides: bool) -> Result<(), Box<dyn Error>> {
        let Some(following) = &mut self.following else { return Ok(()) };
        let traceset = following.traceset.clone();
        let now = extent(&traceset);
        let declares_more = std::mem::replace(&mut following.extent, now.clone()) != now;
        self.scheduler.continue_with(&traceset)?;
        self.reader.continue_with(&traceset)?;
        self.losses.start_again(&traceset);
        self.events = OnceCell::new();
        self.span = self.growing_span();
        self.tab.set_span(self.span);
        if declares_more {
            self.compile_again();
        }
        if slides {
            self.slide_window();
        }
        Ok(())
    }

    /// Returns the time span up to which the order of events is final, at least as long as the
    /// first window; that of the traces once they are complete.
    fn growing_span(&self) -> TimeSpan {
        let Some(end) = self.reader.final_until() else {
            return self.reader.context().contexts().time_span().unwrap_or(self.span);
        };
        let least = Timestamp::from_ns(self.first.as_ns().saturating_add(FIRST_WIDTH));
        TimeSpan { start: self.span.start, end: end.max(least).max(self.span.end) }
    }

    /// Compiles the filter of the tab again for event types that are new.
    fn compile_again(&mut self) {
        let Some(text) = self.tab.filter().cloned() else { return };
        match self.compile(&text) {
            Ok(filters) => self.filters = filters,
            Err(error) => {
                self.filters = None;
                self.tab.set_filter(None, None);
                self.add_message(format!("the filter is removed: {}", Fault::from(error)));
            }
        }
        self.tab.renew_filter();
    }

    /// Moves the time window by whole columns so that it ends with what is final, and the current
    /// time to its end.
    fn slide_window(&mut self) {
        let (axis, end) = (self.axis(), self.span.end.as_ns());
        let step = i64::try_from(axis.step()).unwrap_or(i64::MAX).max(1);
        let by = end.saturating_sub(axis.window().end().as_ns()).div_euclid(step);
        if by > 0 {
            self.scroll_columns(by);
        }
        self.tab.set_time(self.last_time().min(self.span.end), None);
        self.note_window();
    }
}
