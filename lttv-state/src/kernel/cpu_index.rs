//! From CPU numbers to places in a table, in the order in which the CPUs appeared.

use super::cpu::Cpu;

/// Numbers below this are looked up without searching.
const LOW: usize = 1 << 14;

/// Finds the places of CPUs by their numbers, whatever these are: it takes memory for
/// CPUs that there are, and not for numbers that none has.
#[derive(Debug, Default)]
pub(super) struct CpuIndex {
    /// By number, if that is below [`LOW`]: the place plus 1, or 0 for none.
    low: Vec<u16>,
    /// All places, in the order of numbers.
    sorted: Vec<u16>,
}

impl CpuIndex {
    /// Returns the index of CPUs with different numbers, 2¹⁶ − 1 of them at most.
    pub(super) fn of(cpus: &[Cpu]) -> Self {
        let mut index = CpuIndex::default();
        (0..cpus.len()).for_each(|place| index.add(place, &cpus[..=place]));
        index
    }

    /// Returns the place of a number.
    #[inline]
    pub(super) fn get(&self, number: u32, cpus: &[Cpu]) -> Option<usize> {
        match self.low.get(number as usize) {
            Some(place) => usize::from(*place).checked_sub(1),
            None if (number as usize) < LOW => None,
            None => Some(usize::from(self.sorted[self.search(number, cpus).ok()?])),
        }
    }

    /// Adds the last of some CPUs, whose number is new.
    pub(super) fn add(&mut self, place: usize, cpus: &[Cpu]) {
        let number = cpus[place].number;
        if let Err(at) = self.search(number, cpus) {
            self.sorted.insert(at, place as u16);
        }
        if (number as usize) < LOW {
            if self.low.len() <= number as usize {
                self.low.resize(number as usize + 1, 0);
            }
            self.low[number as usize] = place as u16 + 1;
        }
    }

    /// Returns all places in the order of numbers.
    pub(super) fn sorted(&self) -> impl Iterator<Item = usize> {
        self.sorted.iter().map(|place| usize::from(*place))
    }

    #[cold]
    fn search(&self, number: u32, cpus: &[Cpu]) -> Result<usize, usize> {
        self.sorted.binary_search_by_key(&number, |place| cpus[usize::from(*place)].number)
    }
}
