//! Background computations over a whole traceset: statistics, and checkpoints for fast
//! seeking.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lttv_context::{CheckpointPolicy, Extensions, Level, TimeSpan, Traceset, TracesetContext};
use lttv_requests::{Background, ComputationId, ComputationProgress, Owner, Scheduler};
use lttv_state::analysis::{Attached, attach};
use lttv_state::kernel::KernelState;
use lttv_state::stats::{Statistics, StatisticsAnalysis};

/// The time between two copies of the statistics.
const PAUSE: Duration = Duration::from_secs(1);

/// A computation over a whole traceset, in the background of a scheduler.
#[derive(Debug)]
pub(crate) struct Overview {
    module: ComputationId,
    span: TimeSpan,
    latest: Rc<Latest>,
}

/// The latest copy of the statistics, shared with hooks.
#[derive(Debug, Default)]
struct Latest {
    /// `true` if statistics are visible, so that copies are needed during the read.
    is_wanted: Cell<bool>,
    /// The number of copies so far.
    number: Cell<u64>,
    statistics: RefCell<Option<Arc<Statistics>>>,
}

impl Overview {
    /// Starts the computation in the background of a scheduler. Its context must have the
    /// kernel state as its first extension and one more extension.
    pub(crate) fn start(
        scheduler: &mut Scheduler<'static>,
        traceset: &Traceset,
        span: TimeSpan,
    ) -> Self {
        let mut context = TracesetContext::new(traceset);
        let kernel = context.attach(KernelState::new());
        let statistics = attach(&mut context, kernel, .., StatisticsAnalysis::new());
        context.state().set_policy(CheckpointPolicy::default());
        let background = Background::new(context);
        let latest: Rc<Latest> = Rc::default();
        let by_hooks = latest.clone();
        let module = background.register("statistics", move |request| {
            let (chunk, end) = (by_hooks.clone(), by_hooks.clone());
            let last = Cell::new(Instant::now());
            request
                .on_every_event(|_, _| ())
                .after_chunk(Level::Traceset, move |call, _| {
                    if chunk.is_wanted.get() && last.get().elapsed() > PAUSE {
                        chunk.take(call.extensions, statistics);
                        last.set(Instant::now());
                    }
                })
                .after_request(move |call, _, _| end.take(call.extensions, statistics))
        });
        background.lend_checkpoints();
        background.compute(module, Owner::unique());
        scheduler.set_background(background);
        Overview { module, span, latest }
    }

    /// Takes part in the computation of another scheduler for the same traceset.
    pub(crate) fn share(
        &self,
        from: &Scheduler<'static>,
        scheduler: &mut Scheduler<'static>,
    ) -> Self {
        if let Some(background) = from.background() {
            let background = background.share();
            background.compute(self.module, Owner::unique());
            scheduler.set_background(background);
        }
        Overview { module: self.module, span: self.span, latest: self.latest.clone() }
    }

    /// Requests copies of the statistics during the read.
    pub(crate) fn want(&self) {
        self.latest.is_wanted.set(true);
    }

    /// Returns the number of copies so far and the latest one, if any.
    pub(crate) fn statistics(&self) -> (u64, Option<Arc<Statistics>>) {
        (self.latest.number.get(), self.latest.statistics.borrow().clone())
    }

    /// Returns the part of the traceset that has been read, from 0 to 1.
    pub(crate) fn progress(&self, scheduler: &Scheduler<'static>) -> f64 {
        let stage = scheduler.background().map(|background| background.stage(self.module));
        match stage {
            Some(ComputationProgress::Ready) | None => 1.0,
            Some(ComputationProgress::InProgress { to }) => {
                let (begin, end) = (self.span.start.as_ns(), self.span.end.as_ns());
                let passed = to.as_ns().clamp(begin, end).abs_diff(begin);
                (passed as f64 / end.abs_diff(begin).max(1) as f64).min(0.999)
            }
            Some(_) => 0.0,
        }
    }
}

impl Latest {
    fn take(&self, extensions: &mut Extensions, statistics: Attached<StatisticsAnalysis>) {
        self.statistics.replace(Some(Arc::new(statistics.take(extensions))));
        self.number.set(self.number.get() + 1);
    }
}
