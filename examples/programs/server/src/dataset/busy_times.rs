//! The times in which CPUs were busy, from which their usage in any window follows at once.

use std::collections::HashMap;
use std::ops::ControlFlow;

use lttv_state::history::{History, HistoryError};
use lttv_state::tree::Quark;

/// The greatest number of periods of all CPUs: longer recordings are read again for each window.
const MOST: usize = 1 << 20;

/// The busy periods of CPUs.
#[derive(Debug)]
pub struct BusyTimes(HashMap<Quark, Vec<Period>>);

/// A period in which a CPU runs threads.
#[derive(Debug, Clone, Copy)]
struct Period {
    start: i64,
    end: i64,
    /// The length of all earlier periods.
    before: u64,
}

impl BusyTimes {
    /// Reads the periods of CPUs, whose attributes are the ids of the running threads. Returns `None`
    /// if there are too many.
    pub(super) fn read(
        history: &History,
        cpus: impl IntoIterator<Item = Quark>,
    ) -> Result<Option<BusyTimes>, HistoryError> {
        let (mut all, mut count) = (HashMap::new(), 0);
        for cpu in cpus {
            let mut periods: Vec<Period> = Vec::new();
            let (whole, mut before) = (history.start()..history.end(), 0);
            let flow = history.for_each_in(&[cpu], whole, 1, |interval| {
                // The idle task is no thread.
                if interval.value.as_i64().is_none_or(|tid| tid == 0) {
                    return ControlFlow::Continue(());
                }
                let (start, end) = (interval.start.as_ns(), interval.end.as_ns());
                match periods.last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    _ => {
                        periods.push(Period { start, end, before });
                        count += 1;
                    }
                }
                before += end.wrapping_sub(start) as u64;
                if count < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            if flow.is_break() {
                return Ok(None);
            }
            periods.shrink_to_fit();
            all.insert(cpu, periods);
        }
        Ok(Some(BusyTimes(all)))
    }

    /// Returns for each of some increasing times the time in ns for which a CPU is busy from it to the next
    /// one; 0 for the last one. `None` if the CPU is unknown.
    pub fn between(&self, cpu: Quark, times: &[i64]) -> Option<Vec<u64>> {
        let periods = self.0.get(&cpu)?;
        let busy_before = |time: i64| {
            let after = periods.partition_point(|period| period.start < time);
            after.checked_sub(1).map_or(0, |at| {
                let Period { start, end, before } = periods[at];
                before + time.min(end).wrapping_sub(start) as u64
            })
        };
        let mut earlier = times.first().map_or(0, |first| busy_before(*first));
        let nexts = times.iter().skip(1).map(|time| busy_before(*time));
        let between =
            nexts.map(|until| until.saturating_sub(std::mem::replace(&mut earlier, until)));
        Some(between.chain(times.last().map(|_| 0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use lttv_context::Traceset;
    use lttv_state::kernel_history::{HistoryTarget, record_live};

    use super::*;

    #[test]
    fn busy_times_are_those_of_the_intervals_with_threads() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
        let traceset = Traceset::open(path).unwrap();
        let goes_on = |_| ControlFlow::Continue(());
        let recorded = record_live(&traceset, HistoryTarget::Memory, |_| {}, goes_on).unwrap();
        let history = recorded.history;
        let cpus = history.tree().matching(Quark::ROOT, "0/CPUs/*/Thread").unwrap();
        assert!(cpus.len() > 1);
        let known = BusyTimes::read(&history, cpus.clone()).unwrap().unwrap();
        let (first, last) = (history.start().as_ns(), history.end().as_ns());
        let span = (last - first) as u64;
        let mut most = 0;
        for cpu in cpus {
            let whole = history.start()..history.end();
            let all: Vec<_> = history.intervals(cpu, whole).unwrap().map(Result::unwrap).collect();
            let threads = all.iter().filter(|of| of.value.as_i64().is_some_and(|tid| tid != 0));
            for seed in 0..200_u64 {
                // Times of all distances, some of them outside of the history.
                let start = first - 100 + (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) % span) as i64;
                let step = (span >> (seed % 40)).max(1) as i64;
                let times: Vec<i64> = (0..=(seed % 9) as i64).map(|at| start + at * step).collect();
                let busy = known.between(cpu, &times).unwrap();
                assert_eq!(busy.len(), times.len());
                for (pair, busy) in times.windows(2).zip(&busy) {
                    let inside = threads.clone().map(|of| {
                        let (start, end) = (of.start.as_ns(), of.end.as_ns());
                        (end.min(pair[1]) - start.max(pair[0])).max(0) as u64
                    });
                    assert_eq!(inside.sum::<u64>(), *busy, "{times:?}");
                    most = most.max(*busy);
                }
                assert_eq!(busy.last(), Some(&0));
            }
        }
        assert!(most > 0);
        assert_eq!(known.between(Quark::ROOT, &[first, last]), None);
    }
}
