//! Interrupts, softirqs and exceptions.

use super::{At, TraceState};
use crate::kernel::modes::ExecutionMode;
use crate::kernel::names::NameId;
use crate::kernel::resources::{MAX_SOURCES, Source, SourceKind, pack};

impl TraceState {
    /// Enters the handler of an interrupt, softirq or exception on the CPU of an event. `own` is the
    /// name of the handler: a shared interrupt has several.
    pub(in crate::kernel) fn enter(
        &mut self,
        at: At,
        kind: SourceKind,
        number: u32,
        own: Option<&[u8]>,
    ) {
        let Some(source) = self.source(kind, number) else {
            self.push(at, kind.mode(), NameId::UNKNOWN, pack(kind, number));
            return;
        };
        source.running += 1;
        source.entries += 1;
        let mut name = source.name;
        if let Some(own) = own.filter(|own| !own.is_empty())
            && self.names.get(name).as_bytes() != own
        {
            name = self.intern(own);
        }
        if kind == SourceKind::Softirq {
            // A CPU handles one softirq at a time.
            let ix = self.current(at);
            let stack = &self.processes.get(ix).stack;
            if let Some(depth) = stack.iter().position(|frame| frame.mode == kind.mode()) {
                self.unwind(ix, depth, at.time);
            }
            if let Some(bit) = 1u32.checked_shl(number) {
                self.cpus[at.place].pending_softirqs &= !bit;
            }
        }
        self.push(at, kind.mode(), name, pack(kind, number));
    }

    /// Leaves the innermost handler of a kind on the CPU of an event.
    pub(in crate::kernel) fn leave(&mut self, at: At, kind: SourceKind) {
        self.pop(at, kind.mode());
    }

    /// Counts an exception whose end is not traced.
    pub(in crate::kernel) fn trap(&mut self, at: At, number: u32, in_user_code: bool) {
        if let Some(source) = self.source(SourceKind::Trap, number) {
            source.entries += 1;
        }
        let ix = self.current(at);
        if let [base] = self.processes.get(ix).stack.as_slice()
            && in_user_code
            && base.mode == ExecutionMode::Unknown
        {
            let base = self.processes.get_mut(ix).top_mut();
            (base.mode, base.submode) = (ExecutionMode::User, NameId::NONE);
            base.charge(at.time);
        }
    }

    /// Marks a softirq as raised on the CPU of an event.
    pub(in crate::kernel) fn softirq_raise(&mut self, at: At, number: u32) {
        if let Some(bit) = 1u32.checked_shl(number) {
            self.cpus[at.place].pending_softirqs |= bit;
        }
    }

    /// Returns `true` if the interrupt, softirq or exception has no name yet.
    #[inline]
    pub(in crate::kernel) fn is_nameless(&self, kind: SourceKind, number: u32) -> bool {
        let known = self.sources[kind as usize].get(number as usize);
        number < MAX_SOURCES && known.is_none_or(|source| source.name == NameId::EMPTY)
    }

    /// Sets the name of an interrupt, softirq or exception.
    pub(in crate::kernel) fn name_source(&mut self, kind: SourceKind, number: u32, name: &[u8]) {
        if name.is_empty() {
            return;
        }
        let name = self.intern(name);
        if let Some(source) = self.source(kind, number) {
            source.name = name;
        }
    }

    /// Returns the entry of an interrupt, softirq or exception, which is added if it is
    /// new; `None` if the number is out of range.
    fn source(&mut self, kind: SourceKind, number: u32) -> Option<&mut Source> {
        let at = number as usize;
        if self.sources[kind as usize].get(at).is_none_or(|s| s.name == NameId::EMPTY) {
            if number >= MAX_SOURCES {
                self.anomalies.impossible_numbers += 1;
                return None;
            }
            let name = self.intern(format!("{} {number}", kind.label()).as_bytes());
            let sources = &mut self.sources[kind as usize];
            if sources.len() <= at {
                sources.resize(at + 1, Source::default());
            }
            sources[at].name = name;
        }
        self.journal.record(pack(kind, number));
        self.sources[kind as usize].get_mut(at)
    }
}
