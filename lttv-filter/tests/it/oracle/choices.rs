//! Random choices, taken from numbers that were drawn in advance.

/// The numbers to choose by; 0 when they are used up.
pub(crate) struct Choices<'n> {
    numbers: std::slice::Iter<'n, u32>,
}

impl<'n> Choices<'n> {
    pub(crate) fn new(numbers: &'n [u32]) -> Self {
        Choices { numbers: numbers.iter() }
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.numbers.next().map_or(0, |n| *n as usize) % end.max(1)
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
