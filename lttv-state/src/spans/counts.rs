//! Counters of begins and ends that lead to no duration.

/// Counters of begins and ends that led to no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Unmatched {
    /// Entries of system calls of unknown threads.
    pub entries_without_thread: u64,
    /// Exits of system calls whose entries were not seen.
    pub exits_without_entry: u64,
    /// Exits that name another system call than the entry.
    pub exits_of_another_call: u64,
    /// Entries of system calls of threads that were in one: its exit was lost.
    pub entries_over_entry: u64,
    /// Exits of interrupt handlers whose entries were not seen.
    pub interrupt_exits_without_entry: u64,
    /// Interrupt handlers that were ended by the exit of an outer one: their exits were lost.
    pub interrupts_without_exit: u64,
    /// Completions of disk requests whose issues were not seen, among them the second
    /// completion of a write that flushes.
    pub completions_without_issue: u64,
    /// Issues of disk requests that were issued already: their completions were lost.
    pub issues_over_issue: u64,
    /// Durations that began before events of their CPU were lost.
    pub lost: u64,
    /// Ends of sections that programs mark whose begins were not seen.
    pub marker_ends_without_begin: u64,
    /// Sections that programs mark without an end: their thread has ended, or they began again.
    pub markers_without_end: u64,
    /// Texts that begin like a marker of a section, without all of its parts.
    pub malformed_markers: u64,
    /// Markers of sections of unknown threads.
    pub markers_without_thread: u64,
    /// Periods that ended with their parents.
    pub incomplete_periods: u64,
    /// Begins and durations that were dropped because a table was full.
    pub dropped: u64,
}

impl Unmatched {
    /// Iterates over the counters, with a key and a description of each.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        [
            (
                "entries_without_thread",
                "entries of system calls of unknown threads",
                self.entries_without_thread,
            ),
            (
                "exits_without_entry",
                "exits of system calls without an entry",
                self.exits_without_entry,
            ),
            (
                "exits_of_another_call",
                "exits of another system call than that of the entry",
                self.exits_of_another_call,
            ),
            (
                "entries_over_entry",
                "entries of system calls within another one",
                self.entries_over_entry,
            ),
            (
                "interrupt_exits_without_entry",
                "exits of interrupt handlers without an entry",
                self.interrupt_exits_without_entry,
            ),
            (
                "interrupts_without_exit",
                "interrupt handlers without an exit",
                self.interrupts_without_exit,
            ),
            (
                "completions_without_issue",
                "completions of disk requests without an issue",
                self.completions_without_issue,
            ),
            (
                "issues_over_issue",
                "issues of disk requests that were issued already",
                self.issues_over_issue,
            ),
            ("lost", "durations during which events were lost", self.lost),
            (
                "marker_ends_without_begin",
                "ends of markers without a begin",
                self.marker_ends_without_begin,
            ),
            ("markers_without_end", "markers without an end", self.markers_without_end),
            ("malformed_markers", "markers that lack a part", self.malformed_markers),
            ("markers_without_thread", "markers of unknown threads", self.markers_without_thread),
            (
                "incomplete_periods",
                "periods that ended with their parents",
                self.incomplete_periods,
            ),
            ("dropped", "durations beyond the limits of tables", self.dropped),
        ]
        .into_iter()
    }

    /// Adds the counters of another part.
    pub(crate) fn add(&mut self, other: &Unmatched) {
        let Unmatched {
            entries_without_thread,
            exits_without_entry,
            exits_of_another_call,
            entries_over_entry,
            interrupt_exits_without_entry,
            interrupts_without_exit,
            completions_without_issue,
            issues_over_issue,
            lost,
            marker_ends_without_begin,
            markers_without_end,
            malformed_markers,
            markers_without_thread,
            incomplete_periods,
            dropped,
        } = other;
        self.entries_without_thread += entries_without_thread;
        self.exits_without_entry += exits_without_entry;
        self.exits_of_another_call += exits_of_another_call;
        self.entries_over_entry += entries_over_entry;
        self.interrupt_exits_without_entry += interrupt_exits_without_entry;
        self.interrupts_without_exit += interrupts_without_exit;
        self.completions_without_issue += completions_without_issue;
        self.issues_over_issue += issues_over_issue;
        self.lost += lost;
        self.marker_ends_without_begin += marker_ends_without_begin;
        self.markers_without_end += markers_without_end;
        self.malformed_markers += malformed_markers;
        self.markers_without_thread += markers_without_thread;
        self.incomplete_periods += incomplete_periods;
        self.dropped += dropped;
    }
}
