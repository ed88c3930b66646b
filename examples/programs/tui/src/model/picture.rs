//! A chart of kernel states over the columns of the screen.

use std::rc::Rc;

use lttv_common::paint::Paint;
use lttv_context::Handle;
use lttv_requests::views::{KernelChart, KernelKey, TimeWindow, Timeline};
use lttv_requests::{Owner, Scheduler, SubmitError};
use lttv_state::kernel::KernelState;

use super::axis::Axis;
use super::cells::{Cell, cells};

/// A chart, and the previous chart, which stays visible until the new one is filled.
#[derive(Debug)]
pub struct Picture<K: KernelKey> {
    owner: Owner,
    now: Option<(Axis, KernelChart<K>)>,
    /// The states of the previous chart.
    before: Option<Rc<Timeline<K, K::State>>>,
}

impl<K: KernelKey> Picture<K> {
    /// Creates an empty chart, whose requests are of an owner.
    pub fn new(owner: Owner) -> Self {
        Picture { owner, now: None, before: None }
    }

    /// Starts filling the chart for an axis, unless it is the current one.
    ///
    /// # Errors
    ///
    /// Never: the request contains no position.
    pub fn set_axis(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        axis: Axis,
    ) -> Result<(), SubmitError> {
        let (window, step) = (axis.window(), axis.step());
        let chart = match &mut self.now {
            Some((known, _)) if *known == axis => return Ok(()),
            Some((known, chart)) => {
                *known = axis;
                // A chart with few states is of less use than the one before it.
                if self.before.is_none() || progress(chart) > 0.5 {
                    self.before = Some(chart.timeline());
                }
                chart.show(window, step);
                chart
            }
            None => &mut self.now.insert((axis, KernelChart::new(window, step))).1,
        };
        scheduler.cancel_owner(self.owner);
        if chart.missing().is_some() {
            scheduler.submit(chart.request(self.owner, kernel))?;
        }
        Ok(())
    }

    /// Requests what is missing in the chart, after its requests were cancelled.
    ///
    /// # Errors
    ///
    /// Never: the request contains no position.
    pub fn resume(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
    ) -> Result<(), SubmitError> {
        if let Some((_, chart)) = self.now.as_ref().filter(|(_, chart)| chart.missing().is_some()) {
            scheduler.cancel_owner(self.owner);
            scheduler.submit(chart.request(self.owner, kernel))?;
        }
        Ok(())
    }

    /// Removes the chart. Its requests must have ended.
    pub fn clear(&mut self) {
        (self.now, self.before) = (None, None);
    }

    /// Returns the chart so far; `None` before the first call of [`set_axis`](Self::set_axis).
    pub fn chart(&self) -> Option<&KernelChart<K>> {
        self.now.as_ref().map(|(_, chart)| chart)
    }

    /// Returns the columns of a row: those of the previous chart where this one is not filled.
    pub fn cells(
        &self,
        row: usize,
        paint: impl Fn(K::State) -> Option<Paint>,
    ) -> Vec<Option<Cell>> {
        let Some((axis, chart)) = &self.now else { return Vec::new() };
        let timeline = chart.timeline();
        let Some(row) = timeline.rows().get(row) else { return Vec::new() };
        let mut now = cells(row.segments(), &paint, *axis);
        let before = self.before.as_ref().and_then(|before| before.row(row.key()));
        if let (Some(missing), Some(before)) = (chart.missing(), before) {
            let before = cells(before.segments(), &paint, *axis);
            for (column, (now, before)) in now.iter_mut().zip(before).enumerate() {
                let begin = axis.begin_of(column);
                if now.is_none()
                    && begin < missing.end()
                    && axis.begin_of(column + 1) > missing.start()
                {
                    *now = before;
                }
            }
        }
        now
    }

    /// Returns the part that is filled, from 0 to 1.
    pub fn progress(&self) -> f64 {
        self.now.as_ref().map_or(0.0, |(_, chart)| progress(chart))
    }
}

fn progress<K: KernelKey>(chart: &KernelChart<K>) -> f64 {
    let missing = chart.missing().map_or(0, TimeWindow::width) as f64;
    let all = chart.timeline().window().width() as f64;
    if missing > 0.0 { (1.0 - missing / all).min(0.999) } else { 1.0 }
}
