//! What was odd, counted.

/// An enumeration of counters in one struct, to be listed by name.
macro_rules! counters {
    ($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $field:ident,)* }) => {
        $(#[$of])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name { $($(#[$doc])* pub $field: u64,)* }

        impl $name {
            /// All counters with their names.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($field), self.$field),)*].into_iter()
            }

            /// How many anomalies there were in all.
            pub fn total(&self) -> u64 {
                self.iter().map(|(_, count)| count).sum()
            }
        }
    };
}

counters! {
    /// What in a trace contradicted the state known before. None of it keeps the
    /// state from being followed on.
    Anomalies {
        /// Stretches of a CPU's events that were lost.
        gaps,
        /// A switch from another process than the one that ran as far as known.
        wrong_previous,
        /// A process was put on a CPU while it ran on another.
        running_twice,
        /// The end of a system call, interrupt or exception whose begin was not
        /// seen.
        unmatched_exits,
        /// Begins of system calls, interrupts or exceptions whose end was not seen.
        unmatched_entries,
        /// The birth of a process that was known to run already.
        forks_of_running,
        /// The birth of a process with the id of another of which the end was not
        /// seen.
        reused_ids,
        /// Process, CPU or device numbers that cannot be.
        impossible_numbers,
    }
}
