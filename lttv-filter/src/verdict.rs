//! Results that are known before a record is read.

/// The result of a condition for all records of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// No record of the type passes.
    Never,
    /// The fields of the record decide.
    Depends,
    /// Every record of the type passes.
    Always,
}

#[cfg(feature = "traces")]
impl From<Verdict> for ltt_read::selection::Verdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Never => Self::Never,
            Verdict::Depends => Self::Depends,
            Verdict::Always => Self::Always,
        }
    }
}
