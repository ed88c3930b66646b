//! The threads that a recording tells of apart from the events of its CPUs.

use std::collections::HashMap;

use super::process::{TID_END, Tid};

/// The threads that a recording tells of apart from its events: ftrace saves names when a recording ends, perf writes
/// records of all threads without a time when it starts.
#[derive(Debug, Default)]
pub(super) struct KnownThreads(HashMap<Tid, KnownThread>);

/// A thread by its number.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownThread {
    pub(super) name: Box<[u8]>,
    /// The number of the thread group.
    pub(super) pid: Option<Tid>,
    pub(super) parent: Option<Tid>,
}

/// The name that ftrace saves for a thread without a known name.
const NO_NAME: &[u8] = b"<...>";

impl KnownThreads {
    /// Reads lines of a number and a name.
    pub(super) fn in_text(text: &[u8]) -> Self {
        let mut threads = KnownThreads::default();
        for line in text.split(|byte| matches!(byte, b'\n' | b'\0')) {
            let Some(blank) = line.iter().position(|byte| *byte == b' ') else { continue };
            let (number, name) = (&line[..blank], &line[blank + 1..]);
            let tid = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
            if let Some(thread) = tid.and_then(|tid| threads.add(tid))
                && name != NO_NAME
            {
                thread.name = name.into();
            }
        }
        threads
    }

    /// Returns the thread with a number, which is added if it is new; `None` for the idle threads and numbers out of
    /// range.
    pub(super) fn add(&mut self, tid: Tid) -> Option<&mut KnownThread> {
        (1..TID_END).contains(&tid).then(|| self.0.entry(tid).or_default())
    }

    /// Returns the thread with a number.
    pub(super) fn get(&self, tid: Tid) -> Option<&KnownThread> {
        self.0.get(&tid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_text() {
        let text = b"1 systemd\n22 kworker/0:1-ev en\n7 <...>\nx y\n 3\n0 idle\n-4 a\n9\n5 a:b";
        let threads = KnownThreads::in_text(text);
        let name = |tid| threads.get(tid).map(|thread| String::from_utf8_lossy(&thread.name));
        assert_eq!(name(1).as_deref(), Some("systemd"));
        assert_eq!(name(22).as_deref(), Some("kworker/0:1-ev en"));
        assert_eq!(name(5).as_deref(), Some("a:b"));
        assert_eq!(name(7).as_deref(), Some(""));
        assert_eq!([0, 3, -4, 9].map(|tid| threads.get(tid).is_some()), [false; 4]);
        assert_eq!(threads.0.len(), 4);
    }
}
