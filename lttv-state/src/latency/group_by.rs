//! The properties by which figures are summed.

/// The property that the durations of a row have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// The subject: the priority, system call, interrupt, disk and kind of request, file, futex or
    /// period.
    Subject,
    /// The thread.
    Thread,
    /// The process: all its threads.
    Process,
    /// Both thread and subject.
    ThreadAndSubject,
    /// The file of system calls: that of the descriptor, or else the path among the arguments.
    File,
    /// The CPU on which the durations ended.
    Cpu,
    /// The number of bytes that system calls and disk requests moved, in classes between powers of two.
    Size,
    /// The result of system calls: success, or the error.
    Result,
    /// A label or value of periods, by [name](super::Settings::divide_by_value).
    Value,
}

impl GroupBy {
    /// Returns `true` if the property is one of single spans, by which figures are only [divided](super::Settings::divide)
    /// if that is wanted.
    pub const fn is_of_spans(self) -> bool {
        matches!(
            self,
            GroupBy::File | GroupBy::Cpu | GroupBy::Size | GroupBy::Result | GroupBy::Value
        )
    }
}
