//! A chart of the threads on CPUs.

use ltt_read::TraceIndex;
use lttv_state::kernel::{Anomalies, CpuMode, LossOnCpu, NameId, Serial, Tid, Transition};

use super::chart::{ChartData, HasRows, KernelChart, KernelKey, KernelRows, Snapshot};
use super::row::SegmentState;

/// A chart of the thread that each CPU executes in a time window, with one row per CPU. There are no segments
/// where the thread is unknown.
///
/// ```
/// use lttv_context::{Traceset, TracesetContext};
/// use lttv_requests::{Budget, Owner, Scheduler};
/// use lttv_requests::views::{CpuThreads, TimeWindow};
/// use lttv_state::kernel::KernelState;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let state = context.attach(KernelState::new());
/// let all = TimeWindow::covering(context.contexts().time_span().expect("some events"));
/// let mut scheduler = Scheduler::new(context);
///
/// let view = CpuThreads::new(all, all.width() / 1000);
/// scheduler.submit(view.request(Owner::unique(), state))?;
/// while scheduler.service_chunk(Budget::default()).has_more() {}
/// let timeline = view.timeline();
/// let runs = timeline.rows().iter().flat_map(|row| row.segments());
/// assert!(runs.filter(|run| run.state.tid == Some(210)).count() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type CpuThreads = KernelChart<CpuKey>;

/// The key of a CPU's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuKey {
    /// The index of the CPU's trace.
    pub trace: TraceIndex,
    /// The number of the CPU.
    pub cpu: u32,
}

/// The thread on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CpuThread {
    /// The serial number of the thread in its trace.
    pub serial: Serial,
    /// Its id; 0 for the idle thread. `None` if it is not known.
    pub tid: Option<Tid>,
    /// Its name, to be resolved with [`TraceState::name`](lttv_state::kernel::TraceState::name).
    pub name: NameId,
}

impl SegmentState for CpuThread {
    fn is_active(self) -> bool {
        self.tid != Some(0)
    }
}

/// The rows of CPUs, by trace and index of the CPU.
#[derive(Debug, Default)]
pub struct CpuRows(Vec<TraceRows>);

#[derive(Debug, Default)]
struct TraceRows {
    rows: Vec<Option<usize>>,
    /// The anomalies at the last update of all rows.
    anomalies: Anomalies,
}

impl KernelKey for CpuKey {
    type State = CpuThread;
    type Label = String;
}

impl HasRows for CpuKey {
    type Rows = CpuRows;
}

impl KernelRows for CpuRows {
    type Key = CpuKey;

    fn update_all(&mut self, data: &mut ChartData<'_, CpuKey>, at: Snapshot<'_>) {
        if self.0.len() <= at.trace.0 {
            self.0.resize_with(at.trace.0 + 1, TraceRows::default);
        }
        let rows = &mut self.0[at.trace.0];
        rows.anomalies = *at.state.anomalies();
        for (cpu, _) in at.state.cpus() {
            rows.update(data, at, cpu);
        }
    }

    fn update_after(&mut self, data: &mut ChartData<'_, CpuKey>, at: Snapshot<'_>, _: Transition) {
        let effect = at.state.effect();
        let Some(cpu) = effect.cpu() else { return };
        match self.0.get_mut(at.trace.0) {
            Some(rows) if rows.anomalies == *at.state.anomalies() && effect.losses().is_empty() => {
                rows.update(data, at, cpu);
            }
            _ => self.update_all(data, at),
        }
    }

    fn lose(&mut self, data: &mut ChartData<'_, CpuKey>, trace: TraceIndex, loss: &LossOnCpu) {
        let row = self.0.get(trace.0).and_then(|rows| *rows.rows.get(loss.cpu_index())?);
        if let Some(row) = row {
            data.timeline.change(row, loss.since(), None);
        }
    }

    fn order(key: &CpuKey, _: &String) -> impl Ord {
        *key
    }
}

impl TraceRows {
    fn update(&mut self, data: &mut ChartData<'_, CpuKey>, at: Snapshot<'_>, cpu: u32) {
        let Some(place) = at.state.cpu_index(cpu) else { return };
        if self.rows.len() <= place {
            self.rows.resize(place + 1, None);
        }
        let row = *self.rows[place].get_or_insert_with(|| {
            let row = data.timeline.row_index(CpuKey { trace: at.trace, cpu });
            if row == data.labels.len() {
                data.labels.push(format!("CPU {cpu}"));
            }
            row
        });
        let is_known = at.state.cpu_mode(cpu) != CpuMode::Unknown;
        let running = at.state.running(cpu).filter(|of| is_known || of.tid().is_some());
        let thread =
            running.map(|of| CpuThread { serial: of.serial(), tid: of.tid(), name: of.name() });
        data.timeline.change(row, at.time, thread);
    }
}
