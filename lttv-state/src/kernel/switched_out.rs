//! The decoding of the process state in switch events, which depends on the kernel's
//! version.

use std::hint::select_unpredictable;

use ltt_read::schema::Schema;

use super::modes::ProcessStatus;

/// The reason why a process was switched out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwitchedOut {
    /// The process is ready to run: it was preempted.
    Ready,
    /// The process waits for something, is stopped or is parked.
    Blocked,
    /// The process has exited, and its parent has not waited for it yet.
    Zombie,
    /// The process is dead.
    Dead,
}

impl SwitchedOut {
    /// Returns the status of a process that is switched out for this reason.
    #[inline]
    pub(super) fn status(self) -> ProcessStatus {
        // A table: the branches of a `match` would be hard to predict.
        const BY_REASON: [ProcessStatus; 4] = [
            ProcessStatus::WaitCpu,
            ProcessStatus::Wait,
            ProcessStatus::Zombie,
            ProcessStatus::Dead,
        ];
        BY_REASON[self as usize]
    }
}

/// The encoding of process states in switch events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateEncoding {
    /// The states of LTTng 0.x, as LTTV interprets them.
    Legacy,
    /// The kernel's internal bits, until Linux 3.8.
    Until3_8,
    /// The kernel's internal bits, until Linux 4.13.
    Until4_13,
    /// The bits for reporting, from Linux 4.14 on.
    From4_14,
}

impl StateEncoding {
    /// Returns the encoding used by the kernel release of a trace. If the trace does not
    /// contain a release, this is the newer encoding.
    pub(super) fn of(schema: &Schema) -> Self {
        if schema.env_str("tracer_name").is_some_and(|name| name == "lttng 0.x") {
            return StateEncoding::Legacy;
        }
        let release = ["kernel_release", "release"].iter().find_map(|name| schema.env_str(name));
        match release.and_then(version) {
            Some(version) if version < (3, 9) => StateEncoding::Until3_8,
            Some(version) if version < (4, 14) => StateEncoding::Until4_13,
            _ => StateEncoding::From4_14,
        }
    }

    /// Decodes the state in a switch event.
    pub(crate) fn decode(self, state: u64) -> SwitchedOut {
        match self {
            StateEncoding::Legacy => match state {
                0 => SwitchedOut::Ready,
                32 | 64 => SwitchedOut::Dead,
                _ => SwitchedOut::Blocked,
            },
            // The bit of preempted processes was 512 to 4096, depending on the version, and is
            // set alone. From 3.9 on, 512 is the state of parked ones.
            StateEncoding::Until3_8 if state & 0xffff == 512 => SwitchedOut::Ready,
            StateEncoding::Until3_8 | StateEncoding::Until4_13 => match state & 0xffff {
                0 | 1024 | 2048 | 4096 => SwitchedOut::Ready,
                bits if bits & 0x70 != 0 => SwitchedOut::Dead,
                _ => SwitchedOut::Blocked,
            },
            StateEncoding::From4_14 => match state & 0xffff {
                bits if bits & 0x130 == 0 => {
                    // The bits of older kernels may come from a trace without a release.
                    let is_ready = bits & 0xff == 0 && bits != 512;
                    // The branch would be unpredictable.
                    select_unpredictable(is_ready, SwitchedOut::Ready, SwitchedOut::Blocked)
                }
                bits if bits & 0x100 != 0 => SwitchedOut::Ready,
                bits if bits & 0x10 != 0 => SwitchedOut::Dead,
                _ => SwitchedOut::Zombie,
            },
        }
    }
}

/// Parses the major and minor number of a release such as `6.1.0-56-cloud-amd64`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_parsed_from_releases() {
        assert_eq!(version("6.1.0-56-cloud-amd64"), Some((6, 1)));
        assert_eq!(version("4.11"), Some((4, 11)));
        assert_eq!(version("rolling"), None);
    }

    #[test]
    fn decodes_states_since_4_14() {
        let decode = |state| StateEncoding::From4_14.decode(state);
        assert_eq!(decode(0), SwitchedOut::Ready);
        assert_eq!(decode(0x100), SwitchedOut::Ready);
        for blocked in [1, 2, 4, 8, 0x40, 0x80, 0x200, 0x402] {
            assert_eq!(decode(blocked), SwitchedOut::Blocked, "{blocked}");
        }
        for older in [0x400, 0x800, 0x1000] {
            assert_eq!(decode(older), SwitchedOut::Ready, "{older}");
        }
        assert_eq!(decode(0x10), SwitchedOut::Dead);
        assert_eq!(decode(0x20), SwitchedOut::Zombie);
    }

    #[test]
    fn decodes_states_until_3_8() {
        let decode = |state| StateEncoding::Until3_8.decode(state);
        assert_eq!((decode(0), decode(512)), (SwitchedOut::Ready, SwitchedOut::Ready));
        assert_eq!((decode(1), decode(130)), (SwitchedOut::Blocked, SwitchedOut::Blocked));
        assert_eq!(decode(64), SwitchedOut::Dead);
    }

    #[test]
    fn decodes_states_until_4_13() {
        let decode = |state| StateEncoding::Until4_13.decode(state);
        assert_eq!((decode(0), decode(4096)), (SwitchedOut::Ready, SwitchedOut::Ready));
        for blocked in [1, 2, 4, 8, 512, 1026] {
            assert_eq!(decode(blocked), SwitchedOut::Blocked, "{blocked}");
        }
        assert_eq!((decode(64), decode(16)), (SwitchedOut::Dead, SwitchedOut::Dead));
    }
}
