//! Counters of contradictions in a trace.

/// Defines a struct of named counters.
macro_rules! counters {
    ($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $field:ident,)* }) => {
        $(#[$of])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name { $($(#[$doc])* pub $field: u64,)* }

        impl $name {
            /// Iterates over all counters with their names.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($field), self.$field),)*].into_iter()
            }

            /// Returns the sum of all counters.
            pub fn total(&self) -> u64 {
                self.iter().map(|(_, count)| count).sum()
            }
        }
    };
}

counters! {
    /// The numbers of events that contradicted the state so far. None of these
    /// contradictions stops the analysis.
    Anomalies {
        /// Gaps: intervals in which events of a CPU were lost.
        gaps,
        /// Switches from a process other than the one that ran as far as known.
        wrong_previous,
        /// Processes that ran on a CPU while they ran on another one as far as known.
        running_twice,
        /// Ends of system calls, interrupts, exceptions or functions without a matching
        /// start.
        unmatched_exits,
        /// Starts of system calls, interrupts or exceptions without a matching end.
        unmatched_entries,
        /// Forks of a process that was already running as far as known.
        forks_of_running,
        /// Processes that appeared with the id of another one whose end was not seen.
        reused_ids,
        /// Process, CPU, interrupt, system call or device numbers that are out of range.
        impossible_numbers,
    }
}
