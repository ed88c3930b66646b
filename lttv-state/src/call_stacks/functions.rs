//! The functions that were called.

use std::collections::HashMap;
use std::sync::Arc;

use super::rules::PairId;

/// The maximum number of pairs.
pub(super) const MAX_PAIRS: u64 = 1 << 10;

/// The code of the first pair. No function is in the last page of the address space: the kernel
/// returns error numbers as such addresses.
const FIRST_PAIR: u64 = u64::MAX - (MAX_PAIRS - 1);

/// The maximum number of names of sections. Further sections have the last one, [`MORE_SECTIONS`].
const MAX_SECTIONS: u64 = 1 << 16;

/// The code of the first name of a section. No processor has memory at such addresses.
const FIRST_SECTION: u64 = 1 << 62;

/// The name in place of those beyond the maximum.
const MORE_SECTIONS: &str = "[other sections]";

/// The number of the name of a section of markers among those of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SectionId(pub u32);

/// The number of a function among those of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub(crate) u32);

impl FunctionId {
    /// Returns the number, to index an array.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The target of a call: the function at an address, a named pair of events, or a section that a program has marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallTarget {
    /// The function at an address of the process.
    Address(u64),
    /// A pair of events.
    EventPair(PairId),
    /// A section between two markers, by its name: see [`TraceCalls::section`](super::TraceCalls::section).
    Section(SectionId),
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
    pub(super) fn section(section: SectionId) -> Self {
        RawCode(FIRST_SECTION + u64::from(section.0))
    }

    #[inline]
    pub(super) fn pair(pair: PairId) -> Self {
        RawCode(FIRST_PAIR.saturating_add(pair.0.into()))
    }

    pub(super) fn code(self) -> CallTarget {
        if let Some(pair) = self.0.checked_sub(FIRST_PAIR) {
            return CallTarget::EventPair(PairId(pair as u32));
        }
        match self.0.checked_sub(FIRST_SECTION).filter(|section| *section < MAX_SECTIONS) {
            Some(section) => CallTarget::Section(SectionId(section as u32)),
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

/// The names of the sections of a trace, by their ids.
#[derive(Debug, Clone, Default)]
pub(super) struct SectionNames {
    all: Vec<Arc<str>>,
    ids: HashMap<Vec<u8>, SectionId>,
}

impl SectionNames {
    /// Returns the id of a name.
    pub(super) fn find_or_add(&mut self, name: &[u8]) -> SectionId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let last = MAX_SECTIONS as usize - 1;
        if self.all.len() > last {
            return SectionId(last as u32);
        }
        let id = SectionId(self.all.len() as u32);
        self.all.push(match self.all.len() == last {
            true => MORE_SECTIONS.into(),
            false => String::from_utf8_lossy(name).into(),
        });
        self.ids.insert(name.to_vec(), id);
        id
    }

    /// Returns the code in place of one of other names.
    pub(super) fn translate(&mut self, other: &SectionNames, code: RawCode) -> RawCode {
        match code.code() {
            CallTarget::Section(id) => match other.name(id) {
                Some(name) => RawCode::section(self.find_or_add(name.as_bytes())),
                None => code,
            },
            CallTarget::Address(_) | CallTarget::EventPair(_) => code,
        }
    }

    pub(super) fn name(&self, id: SectionId) -> Option<&Arc<str>> {
        self.all.get(id.0 as usize)
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
        let section = SectionId(MAX_SECTIONS as u32 - 1);
        assert_eq!(RawCode::section(section).code(), CallTarget::Section(section));
    }

    #[test]
    fn names_of_sections_are_limited() {
        let (mut names, mut others) = (SectionNames::default(), SectionNames::default());
        for number in 0..MAX_SECTIONS + 10 {
            names.find_or_add(number.to_string().as_bytes());
        }
        assert_eq!(names.all.len() as u64, MAX_SECTIONS);
        let more = names.find_or_add(b"more");
        assert_eq!(names.name(more).map(|name| &**name), Some(MORE_SECTIONS));
        others.find_or_add(b"x");
        let code = others.translate(&names, RawCode::section(SectionId(7)));
        assert_eq!(code, RawCode::section(SectionId(1)));
        assert_eq!(others.name(SectionId(1)).map(|name| &**name), Some("7"));
        assert_eq!(others.translate(&names, RawCode::address(5)), RawCode::address(5));
    }
}
