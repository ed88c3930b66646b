//! The functions that were called.

use std::collections::HashMap;

use super::rules::PairId;

/// The maximum number of pairs.
pub(super) const MAX_PAIRS: u64 = 1 << 10;

/// The code of the first pair. No function is in the last page of the address space: the kernel
/// returns error numbers as such addresses.
const FIRST_PAIR: u64 = u64::MAX - (MAX_PAIRS - 1);

/// The number of a function among those of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub(crate) u32);

impl FunctionId {
    /// Returns the number, to index an array.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The target of a call: the function at an address, or a named pair of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallTarget {
    /// The function at an address of the process.
    Address(u64),
    /// A pair of events.
    EventPair(PairId),
}

/// A function of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Function {
    /// The id of the process (`vpid`, or `pid`); `None` if the trace does not contain it. An
    /// address means different functions in different processes.
    pub process: Option<i64>,
    /// The target of its calls.
    pub code: CallTarget,
}

/// A [`CallTarget`] as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RawCode(u64);

impl RawCode {
    /// The code of no function, in roots of paths.
    pub(super) const NONE: RawCode = RawCode(0);

    #[inline]
    pub(super) fn address(address: u64) -> Self {
        RawCode(address.min(FIRST_PAIR - 1))
    }

    /// The code of a number that stands for a function, in paths that have no other codes.
    #[inline]
    pub(crate) fn number(number: u32) -> Self {
        RawCode(number.into())
    }

    #[inline]
    pub(super) fn pair(pair: PairId) -> Self {
        RawCode(FIRST_PAIR.saturating_add(pair.0.into()))
    }

    pub(super) fn code(self) -> CallTarget {
        match self.0.checked_sub(FIRST_PAIR) {
            Some(pair) => CallTarget::EventPair(PairId(pair as u32)),
            None => CallTarget::Address(self.0),
        }
    }
}

/// The functions of a trace, by their ids.
#[derive(Debug, Clone, Default)]
pub(super) struct Functions {
    all: Vec<Function>,
    ids: HashMap<Function, FunctionId>,
}

impl Functions {
    pub(super) fn find_or_add(&mut self, process: Option<i64>, code: RawCode) -> FunctionId {
        let function = Function { process, code: code.code() };
        *self.ids.entry(function).or_insert_with(|| {
            self.all.push(function);
            FunctionId((self.all.len() - 1) as u32)
        })
    }

    pub(super) fn all(&self) -> &[Function] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_numbers() {
        for address in [0, 0x40_0000, 1 << 63] {
            assert_eq!(RawCode::address(address).code(), CallTarget::Address(address));
        }
        assert_eq!(RawCode::pair(PairId(1023)).code(), CallTarget::EventPair(PairId(1023)));
        assert_ne!(RawCode::address(u64::MAX), RawCode::pair(PairId(0)));
    }
}
