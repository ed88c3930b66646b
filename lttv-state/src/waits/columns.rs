//! Append-only columns: growing lists whose full parts are shared by copies.

use std::sync::Arc;

/// A list that only grows. Copies share its full chunks of `N` elements, so that a copy costs the
/// last chunk and a pointer for each other one.
#[derive(Debug, Clone)]
pub(super) struct Column<T, const N: usize> {
    full: Vec<Arc<[T]>>,
    last: Vec<T>,
}

impl<T, const N: usize> Default for Column<T, N> {
    fn default() -> Self {
        Column { full: Vec::new(), last: Vec::new() }
    }
}

impl<T: Copy, const N: usize> Column<T, N> {
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        if self.last.len() == N {
            self.full.push(Arc::from(&*self.last));
            self.last.clear();
        }
        self.last.push(value);
    }

    /// Adds an element, if there is one.
    pub(super) fn extend(&mut self, value: Option<T>) {
        if let Some(value) = value {
            self.push(value);
        }
    }

    /// Returns the last element, to be changed.
    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        // The last chunk is full before it is shared.
        self.last.last_mut()
    }

    pub(super) fn last(&self) -> Option<T> {
        self.last.last().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.full.len() * N + self.last.len()
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<T> {
        let chunk = self.full.get(at / N).map_or(&*self.last, |chunk| chunk);
        let within = if at / N <= self.full.len() { at % N } else { N };
        chunk.get(within).copied()
    }

    /// Returns the number of elements before the first one that is not `before`, of a list in which
    /// all such elements come first.
    pub(super) fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        let is_before = |chunk: &Arc<[T]>| chunk.last().is_none_or(&before);
        let at = self.full.partition_point(is_before);
        let chunk = self.full.get(at).map_or(&*self.last, |chunk| chunk);
        at * N + chunk.partition_point(before)
    }

    /// Returns the bytes of memory that the elements take, without those of chunks that are shared
    /// with an earlier copy.
    pub(super) fn bytes_since(&self, before: Option<&Self>) -> usize {
        let shared = before.map_or(0, |before| before.full.len());
        let own = self.full.len().saturating_sub(shared) * N + self.last.capacity();
        own * size_of::<T>() + self.full.capacity() * size_of::<Arc<[T]>>()
    }
}

#[cfg(feature = "checkpoint-files")]
impl<T: Copy + serde::Serialize, const N: usize> serde::Serialize for Column<T, N> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((0..self.len()).filter_map(|at| self.get(at)).collect::<Vec<_>>())
    }
}

#[cfg(feature = "checkpoint-files")]
impl<'d, T: Copy + serde::Deserialize<'d>, const N: usize> serde::Deserialize<'d> for Column<T, N> {
    fn deserialize<D: serde::Deserializer<'d>>(from: D) -> Result<Self, D::Error> {
        let mut column = Column::default();
        Vec::<T>::deserialize(from)?.into_iter().for_each(|value| column.push(value));
        Ok(column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_lists() {
        let mut column = Column::<u32, 4>::default();
        for value in 0..23 {
            assert_eq!(column.len(), value as usize);
            assert_eq!(column.get(value as usize), None);
            column.push(value * 2);
            for at in 0..=value {
                assert_eq!(column.get(at as usize), Some(at * 2), "{at} of {value}");
            }
            for limit in 0..50 {
                let expected = (0..=value).filter(|at| at * 2 < limit).count();
                assert_eq!(column.partition_point(|of| *of < limit), expected);
            }
        }
        assert_eq!(column.get(usize::MAX), None);
    }

    #[test]
    fn copies_keep_their_contents() {
        let mut column = Column::<u32, 2>::default();
        (0..5).for_each(|value| column.push(value));
        let copy = column.clone();
        assert!(column.bytes_since(Some(&copy)) < column.bytes_since(None));
        (5..9).for_each(|value| column.push(value));
        assert_eq!((copy.len(), copy.get(5), column.get(5)), (5, None, Some(5)));
    }
}
