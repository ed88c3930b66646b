//! Names of tracefiles.

use crate::trace::UserProcess;

/// The parts of a tracefile's path, relative to its trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) channel: String,
    pub(super) cpu: u32,
    /// `true` if the channel overwrote its oldest events (flight recorder).
    pub(super) flight: bool,
    pub(super) process: Option<UserProcess>,
}

impl Name {
    /// Parses `CHANNEL_CPU`, with or without the prefix `flight-`, or
    /// `A/B/NAME-TID.PGID.CREATION`. Returns `None` for other names.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let Some((channel, cpu)) = path.rsplit_once('_') else {
            let (channel, process) = process(path)?;
            return Some(Name { channel, cpu: 0, flight: false, process: Some(process) });
        };
        let digits = cpu.len() - cpu.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let cpu = cpu[..digits].parse().ok()?;
        let (channel, flight) = match channel.strip_prefix("flight-") {
            Some(channel) => (channel, true),
            None => (channel, false),
        };
        Some(Name { channel: channel.to_owned(), cpu, flight, process: None })
    }
}

/// Parses the name of a user-space tracefile: three numbers after the first `-` that
/// follows the first `/`.
fn process(path: &str) -> Option<(String, UserProcess)> {
    let second = path.find('/')?;
    let dash = second + path[second..].find('-')?;
    let mut numbers = path[dash + 1..].split('.').map(|n| n.parse::<u64>().ok());
    let mut next = || numbers.next().flatten();
    let process = UserProcess {
        tid: u32::try_from(next()?).ok()?,
        pgid: u32::try_from(next()?).ok()?,
        creation: next()?,
    };
    Some((path[..dash].to_owned(), process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_and_cpus() {
        let parts = |path| Name::parse(path).map(|n| (n.channel, n.cpu, n.flight));
        let name = |channel: &str, cpu, flight| Some((channel.to_owned(), cpu, flight));
        assert_eq!(parts("kernel_0"), name("kernel", 0, false));
        assert_eq!(parts("irq_state_12"), name("irq_state", 12, false));
        assert_eq!(parts("flight-fs_1"), name("fs", 1, true));
        assert_eq!(parts("control/metadata_3"), name("control/metadata", 3, false));
        assert_eq!(parts("kernel_7.old"), name("kernel", 7, false));
        assert_eq!(parts("kernel_x"), None);
        assert_eq!(parts("kernel_99999999999"), None);
        assert_eq!(parts("README"), None);
    }

    #[test]
    fn processes() {
        let name = Name::parse("process/user/daemon-12.13.1400").unwrap();
        let process = UserProcess { tid: 12, pgid: 13, creation: 1400 };
        assert_eq!((&*name.channel, name.process), ("process/user/daemon", Some(process)));
        assert_eq!(Name::parse("process/daemon-12.13"), None);
        assert_eq!(Name::parse("daemon-12.13.14"), None);
    }
}
