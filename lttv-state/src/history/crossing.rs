//! What the runs of a block are at one time.
//!
//! A run that is asked alone is searched step by step, and each step waits for bytes that
//! the one before told about. Here all runs are asked for the same time. So what depends
//! only on the time and the class of a run is worked out once for each class, as a [`Cut`];
//! and while some runs are searched, the processor is told to fetch the bytes of the next
//! ones that are likely to be needed, many at once. To wait for these was most of the time
//! that it took: in the nearest caches there is little of a block that is asked but once.
//!
//! Runs that are laid out in unusual ways, a few of a hundred, are asked one by one.

use super::block::Block;
use super::cut::{Asked, Cut, Found};
use super::run::{Ended, Place, Run};
use super::source::fetch;
use crate::tree::Quark;

/// Runs that are taken together.
const TOGETHER: usize = 64;

/// Bytes that are fetched at once.
const LINE: usize = 64;

/// Runs that are asked one after the other.
#[derive(Debug, Clone, Copy)]
struct Batch {
    runs: [Asked; TOGETHER],
    count: usize,
}

impl Batch {
    const NONE: Batch = Batch { runs: [Asked::NONE; TOGETHER], count: 0 };
}

/// What the runs of a block are at one time.
#[derive(Debug)]
pub(super) struct Crossing<'d> {
    block: Block<'d>,
    t: i64,
    /// By the tags of the block.
    cuts: Vec<Option<Cut>>,
    /// Runs that are known of those that are gone through in order.
    rank: u32,
    /// Those that are asked, and those that are asked next.
    asked: [Batch; 2],
    /// Which attributes the last of these are from, if they are gone through in order.
    from: Option<usize>,
    /// By tags, too: see [`Cut::probes`].
    probes: Vec<[u64; 2]>,
}

impl<'d> Crossing<'d> {
    /// For a time in a block.
    pub(super) fn new(block: Block<'d>, t: i64) -> Crossing<'d> {
        let offset = t.wrapping_sub(block.head.base) as u64;
        let cut = |place| Some(Cut::of(block.class(place)?, offset));
        let cuts: Vec<Option<Cut>> = (0..block.head.tags).map(cut).collect();
        // Most runs go on evenly.
        let passed = u128::from(offset) << 16;
        let passed = passed.checked_div(block.head.span().into()).unwrap_or(0).min(1 << 16) as u64;
        let probe = |cut: &Option<Cut>| cut.as_ref().map_or([0; 2], |cut| cut.probes(passed));
        let probes = cuts.iter().map(probe).collect();
        Crossing { block, t, cuts, rank: 0, asked: [Batch::NONE; 2], from: None, probes }
    }

    /// For the first time of a block: it is that of the first interval of each run.
    pub(super) fn first(block: Block<'d>) -> Crossing<'d> {
        Crossing::new(block, block.head.base)
    }

    /// Gives what those of 64 attributes are from `first` on that have runs here: for 0
    /// first, and then for those behind. False if some runs are none, by their bytes.
    #[inline(always)]
    pub(super) fn of_64(&mut self, first: usize, each: impl FnMut(Found)) -> bool {
        let at = first / 64 % 2;
        if self.from != Some(first) {
            self.look_up_64(at, first);
        }
        // While these are asked, the bytes of the next ones come.
        self.look_up_64(1 - at, first + 64);
        self.ask(at, each)
    }

    #[inline(always)]
    fn look_up_64(&mut self, at: usize, first: usize) {
        let known = first < self.block.head.quarks as usize;
        let mut present = if known { self.block.present(first / 64) } else { 0 };
        self.asked[at].count = 0;
        while present != 0 {
            self.look_up(at, first as u32 + present.trailing_zeros(), self.rank);
            present &= present - 1;
            self.rank += 1;
        }
        self.from = Some(first);
    }

    /// The same for some attributes.
    #[inline(never)]
    pub(super) fn of(&mut self, quarks: &[Quark], mut each: impl FnMut(Found)) -> bool {
        let mut parts = quarks.chunks(TOGETHER);
        let mut at = 0;
        self.look_up_some(at, parts.next().unwrap_or_default());
        for _ in 0..quarks.len().div_ceil(TOGETHER) {
            self.look_up_some(1 - at, parts.next().unwrap_or_default());
            if !self.ask(at, &mut each) {
                return false;
            }
            at = 1 - at;
        }
        true
    }

    fn look_up_some(&mut self, at: usize, quarks: &[Quark]) {
        self.asked[at].count = 0;
        for quark in quarks {
            if let Some(rank) = self.block.rank(quark.index()) {
                self.look_up(at, quark.0, rank);
            }
        }
        self.from = None;
    }

    /// Notes where a run is, and has likely bytes of it fetched.
    #[inline(always)]
    fn look_up(&mut self, at: usize, quark: u32, rank: u32) {
        let Crossing { block, asked, probes, .. } = self;
        let record = block.record(rank);
        let body = block.layout.bodies.saturating_add(record.body as usize);
        let body = body.min(block.data.len());
        let (tag, count, back) = (record.tag, record.count, record.back);
        let [first, second] = probes.get(tag as usize).copied().unwrap_or_default();
        let place = |probe| body + ((u64::from(count) * probe) >> 16) as usize;
        let (first, second) = (place(first), place(second));
        for (place, lines) in [(body, 0), (first, 0), (first, 1), (first, 2), (second, 0)] {
            fetch(block.data, place.wrapping_add(lines * LINE));
        }
        let batch = &mut asked[at];
        batch.runs[batch.count % TOGETHER] = Asked { quark, rank, tag, count, body, back };
        // Where nothing has ended there is nothing to find.
        batch.count += usize::from(count > 0);
    }

    #[inline(always)]
    fn ask(&self, at: usize, mut each: impl FnMut(Found)) -> bool {
        let Crossing { block, t, cuts, asked, .. } = self;
        let batch = &asked[at];
        for asked in &batch.runs[..batch.count.min(TOGETHER)] {
            let Some(Some(cut)) = cuts.get(asked.tag as usize) else { return false };
            if let Some(found) = cut.find(block, asked) {
                each(found);
                continue;
            }
            let Some(run) = run(block, cut, asked) else { return false };
            if let Some(Ended { index, start, end }) = run.find(*t) {
                let code = run.code(Place::Ended(index));
                each(Found { quark: asked.quark, start, end, code });
            }
        }
        true
    }
}

/// The whole of a run.
#[inline(never)]
fn run<'d>(block: &Block<'d>, cut: &Cut, asked: &Asked) -> Option<Run<'d>> {
    block.run_of_rank(asked.rank, |_| Some(cut.class))
}
