//! An index from CPU numbers to places in a table, which has the CPUs in the order of their
//! first appearance.

use super::cpu::Cpu;

/// Numbers below this are looked up in an array.
const LOW: usize = 1 << 14;

/// An index of a table of CPUs by number. It needs memory for CPUs that exist, not for
/// unused numbers.
#[derive(Debug, Default)]
pub(super) struct CpuIndex {
    /// The place plus 1 of each number below [`LOW`], or 0 for none.
    low: Vec<u16>,
    /// All places, ordered by CPU number.
    sorted: Vec<u16>,
}

impl CpuIndex {
    /// Creates the index of a table of CPUs with distinct numbers, at most 2¹⁶ − 1 of them.
    pub(super) fn of(cpus: &[Cpu]) -> Self {
        let mut index = CpuIndex::default();
        (0..cpus.len()).for_each(|place| index.add(place, &cpus[..=place]));
        index
    }

    /// Returns the place of the CPU with a number.
    #[inline]
    pub(super) fn get(&self, number: u32, cpus: &[Cpu]) -> Option<usize> {
        match self.low.get(number as usize) {
            Some(place) => usize::from(*place).checked_sub(1),
            None if (number as usize) < LOW => None,
            None => Some(usize::from(self.sorted[self.search(number, cpus).ok()?])),
        }
    }

    /// Adds the last CPU of a table, whose number is new.
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

    /// Iterates over all places in the order of CPU numbers.
    pub(super) fn sorted(&self) -> impl Iterator<Item = usize> {
        self.sorted.iter().map(|place| usize::from(*place))
    }

    #[cold]
    fn search(&self, number: u32, cpus: &[Cpu]) -> Result<usize, usize> {
        self.sorted.binary_search_by_key(&number, |place| cpus[usize::from(*place)].number)
    }
}
