//! Events that pass a filter that needs the kernel state, which a thread follows.

use std::cell::RefCell;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ltt_read::{Error, Notice, Trace};
use lttv_common::kernel_hooks::kernel_state;
use lttv_common::time::Window;
use lttv_context::{EndReason, Subscription, Traceset, TracesetContext};
use lttv_state::filter::{KernelFilters, KernelView};
use pyo3::prelude::*;

use super::place::Place;
use crate::outside::check_signals;

/// The number of events that are passed on at once.
const BATCH: usize = 1 << 10;

/// The number of events between two looks at whether more is wanted.
const STEP: u64 = 1 << 15;

/// The time between two looks for an interrupt by the user.
const PATIENCE: Duration = Duration::from_millis(50);

/// The damage that was met, and the number of errors that were not kept.
type Damage = (Vec<Error>, Vec<Notice>, u64);

/// The events that a thread finds.
pub(super) struct Found {
    batch: std::vec::IntoIter<Place>,
    batches: Option<Receiver<Vec<Place>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Damage>>,
    damage: Damage,
}

impl Found {
    pub(super) fn new(
        traces: Vec<Arc<Trace>>,
        filters: Arc<KernelFilters>,
        window: Window,
    ) -> Found {
        let stop = Arc::new(AtomicBool::new(false));
        let (send, batches) = mpsc::sync_channel(4);
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || find(traces, &filters, window, &send, &stopped));
        Found {
            batch: Vec::new().into_iter(),
            batches: Some(batches),
            stop,
            thread: Some(thread),
            damage: Damage::default(),
        }
    }

    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Place>> {
        loop {
            if let Some(place) = self.batch.next() {
                return Ok(Some(place));
            }
            let Some(batches) = &self.batches else { return Ok(None) };
            // A receiver cannot be shared with another thread, but is not used there meanwhile.
            match batches.try_recv() {
                Ok(batch) => self.batch = batch.into_iter(),
                Err(mpsc::TryRecvError::Disconnected) => {
                    self.join();
                    return Ok(None);
                }
                Err(mpsc::TryRecvError::Empty) => {
                    let Some(batches) = self.batches.take() else { return Ok(None) };
                    let (batches, received) = py.detach(move || {
                        let received = batches.recv_timeout(PATIENCE);
                        (batches, received)
                    });
                    self.batches = Some(batches);
                    match received {
                        Ok(batch) => self.batch = batch.into_iter(),
                        Err(RecvTimeoutError::Timeout) => check_signals(py)?,
                        Err(RecvTimeoutError::Disconnected) => {}
                    }
                }
            }
        }
    }

    /// Takes the damage, after the last event.
    pub(super) fn take_damage(&mut self) -> Damage {
        std::mem::take(&mut self.damage)
    }

    fn join(&mut self) {
        self.batches = None;
        if let Some(damage) = self.thread.take().and_then(|thread| thread.join().ok()) {
            self.damage = damage;
        }
    }
}

impl Drop for Found {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.join();
    }
}

/// Reads the traces with the kernel state, and sends the places of the events that pass.
fn find(
    traces: Vec<Arc<Trace>>,
    filters: &KernelFilters,
    window: Window,
    send: &SyncSender<Vec<Place>>,
    stop: &AtomicBool,
) -> Damage {
    let traceset = Traceset::from(traces);
    let places = RefCell::new(Vec::new());
    let pass_on = |all: &mut Vec<Place>| match all.is_empty() || send.send(mem::take(all)).is_ok() {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(kernel_state(traceset.traces()));
    let mut bounds = window.bounds().max_examined(STEP);
    if let Some(begin) = window.begin {
        context.state().seek_time(begin);
        bounds = bounds.since(begin);
    }
    let (places, pass_on) = (&places, &pass_on);
    context.on_event(Subscription::to_every_event(), move |call| {
        if !window.contains(call.event.timestamp()) {
            return ControlFlow::Continue(());
        }
        let view = KernelView::new(&call.extensions[kernel], call);
        let mut places = places.borrow_mut();
        if filters.filters().matches_in(&call.event, &view) {
            places.push(Place::of(&call.event));
        }
        if places.len() >= BATCH { pass_on(&mut places) } else { ControlFlow::Continue(()) }
    });
    let mut damage = Damage::default();
    // The bounds contain no position that could be refused.
    while let Ok(read) = context.read(&bounds) {
        damage.0.append(&mut context.take_errors());
        damage.1.append(&mut context.take_notices());
        let goes_on = matches!(read.reason, EndReason::EventCount | EndReason::ExaminedCount);
        let is_wanted = pass_on(&mut places.borrow_mut()).is_continue();
        if !goes_on || !is_wanted || stop.load(Ordering::Relaxed) {
            break;
        }
    }
    damage.2 = context.merge().errors_omitted();
    damage
}
