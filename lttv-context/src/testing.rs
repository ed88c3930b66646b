//! Checks of analyses in tests.
//!
//! [`check_slices`] checks that an analysis [in slices](SliceAnalysis) keeps its laws.

use std::fmt::Debug;

use lttv_hooks::Flow;

use crate::bounds::Bounds;
use crate::context::TracesetContext;
use crate::parallel::{Recording, SliceAnalysis};

/// Checks the laws of an analysis in slices for one traceset: reads it as one slice, and then several
/// times in slices of random sizes, some of them empty, and compares what `digest` makes of the state and
/// the result.
///
/// `start` creates a context of the traceset at its start, and the state and the result there. Slices
/// are added to several parts in random order, and these are joined in random order, if the analysis
/// has a [joining](SliceAnalysis::joining). The numbers drawn depend on `seed` only.
///
/// ```
/// use ltt_read::{Event, Timestamp, TracefileNumber};
/// use lttv_context::testing::check_slices;
/// use lttv_context::{SliceAnalysis, Traceset, TracesetContext};
///
/// /// Counts events.
/// struct Count;
///
/// impl SliceAnalysis for Count {
///     type Slice = u64;
///     type State = ();
///     type Part = u64;
///
///     fn record(&self, count: &mut u64, _: (TracefileNumber, Timestamp), _: &Event<'_>) {
///         *count += 1;
///     }
///
///     fn resolve(&self, (): &mut (), _: &mut u64) {}
///
///     fn add(&self, sum: &mut u64, count: &mut u64) {
///         *sum += *count;
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let start = || (TracesetContext::new(&traceset), (), 0);
/// check_slices(&Count, start, |(), sum| sum, 1, 20);
/// # Ok::<(), ltt_read::Error>(())
/// ```
///
/// # Panics
///
/// Panics if a result differs, with the sizes of the slices.
pub fn check_slices<'h, A: SliceAnalysis, D: PartialEq + Debug>(
    analysis: &A,
    start: impl Fn() -> (TracesetContext<'h>, A::State, A::Part),
    digest: impl Fn(A::State, A::Part) -> D,
    seed: u64,
    rounds: usize,
) {
    let mut random = Random(seed);
    let mut whole = Slicing::whole();
    let (context, state, part) = start();
    let (state, part) = read(analysis, (context, state, part), &mut whole, &mut random);
    let expected = digest(state, part);
    for round in 0..rounds {
        let mut slicing = Slicing::random(whole.events(), &mut random);
        let (state, part) = read(analysis, start(), &mut slicing, &mut random);
        let found = digest(state, part);
        assert!(
            found == expected,
            "seed {seed}, round {round}: {:?} from slices of {:?}, {expected:?} from one",
            found,
            slicing.sizes
        );
    }
}

/// Reads a traceset in slices.
fn read<'h, A: SliceAnalysis>(
    analysis: &A,
    (mut context, mut state, mut result): (TracesetContext<'h>, A::State, A::Part),
    slicing: &mut Slicing,
    random: &mut Random,
) -> (A::State, A::Part) {
    let go_on = |_: &mut TracesetContext<'h>| Flow::Continue(());
    let mut recording = Recording::new(&mut context, analysis, &Bounds::all(), 0, go_on);
    let joining = analysis.joining();
    let mut parts: Vec<A::Part> =
        joining.iter().flat_map(|of| (0..PARTS).map(|_| (of.empty)())).collect();
    let mut waiting: Vec<A::Slice> = Vec::new();
    let mut free: Vec<A::Slice> = Vec::new();
    loop {
        recording.set_size(slicing.next(random));
        let mut slice = free.pop().unwrap_or_default();
        let events = recording.events_read();
        let is_one = recording.record(&mut slice);
        slicing.sizes.push(recording.events_read() - events);
        if is_one {
            analysis.resolve(&mut state, &mut slice);
            analysis.compute(&mut slice);
            waiting.push(slice);
        }
        while waiting.len() > if is_one && joining.is_some() { WAITING } else { 0 } {
            let at = if joining.is_some() { random.below(waiting.len()) } else { 0 };
            let mut slice = waiting.swap_remove(at);
            let part = match parts.is_empty() {
                true => &mut result,
                false => &mut parts[random.below(PARTS)],
            };
            analysis.add(part, &mut slice);
            analysis.clear(&mut slice);
            free.push(slice);
        }
        if !is_one {
            break;
        }
    }
    while let Some(joining) = joining.as_ref().filter(|_| !parts.is_empty()) {
        let part = parts.swap_remove(random.below(parts.len()));
        (joining.join)(&mut result, part);
    }
    (state, result)
}

/// The number of parts that slices are added to, and of slices that wait to be added.
const PARTS: usize = 3;
const WAITING: usize = 4;

/// The sizes of slices.
struct Slicing {
    /// The greatest size of the next slices; `None` for one slice.
    most: Option<u64>,
    /// The numbers of events of the slices that have been read.
    sizes: Vec<u64>,
}

impl Slicing {
    fn whole() -> Self {
        Slicing { most: None, sizes: Vec::new() }
    }

    /// Draws how large slices are: from a few events to half of all.
    fn random(events: u64, random: &mut Random) -> Self {
        let bits = u64::BITS - (events / 2).max(1).leading_zeros();
        // Reading very many tiny slices takes long.
        let least = bits.saturating_sub(12);
        let bits = least as usize + random.below((bits - least) as usize + 1);
        Slicing { most: Some((1 << bits) + 1), sizes: Vec::new() }
    }

    fn events(&self) -> u64 {
        self.sizes.iter().sum()
    }

    fn next(&self, random: &mut Random) -> u64 {
        self.most.map_or(u64::MAX, |most| random.next() % most)
    }
}

/// A generator of random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}
