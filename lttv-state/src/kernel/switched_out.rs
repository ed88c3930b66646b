//! What the state in a switch event means, for the kernel that recorded it.

use std::hint::select_unpredictable;

use ltt_read::schema::Schema;

use super::modes::ProcessStatus;

/// Why a process was switched out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwitchedOut {
    /// It could run on: another one was put before it.
    Ready,
    /// It waits for something; or it is stopped or parked.
    Blocked,
    /// It has exited; its parent has not asked for it yet.
    Zombie,
    /// It is gone.
    Dead,
}

impl SwitchedOut {
    /// The status of the process then.
    #[inline]
    pub(super) fn status(self) -> ProcessStatus {
        // A table, for the branches that this would be are hard to predict.
        const BY_REASON: [ProcessStatus; 4] = [
            ProcessStatus::WaitCpu,
            ProcessStatus::Wait,
            ProcessStatus::Zombie,
            ProcessStatus::Dead,
        ];
        BY_REASON[self as usize]
    }
}

/// Which encoding a kernel uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StateEncoding {
    /// LTTng 0.x, as LTTV took it.
    Legacy,
    /// The kernel's own bits.
    Until4_13,
    /// Bits made for reports.
    From4_14,
}

impl StateEncoding {
    /// By the release of the kernel. Where a trace does not tell it, the newer one.
    pub(super) fn of(schema: &Schema) -> Self {
        if schema.env_str("tracer_name").is_some_and(|name| name == "lttng 0.x") {
            return StateEncoding::Legacy;
        }
        let release = ["kernel_release", "release"].iter().find_map(|name| schema.env_str(name));
        match release.and_then(version) {
            Some(version) if version < (4, 14) => StateEncoding::Until4_13,
            _ => StateEncoding::From4_14,
        }
    }

    pub(super) fn decode(self, state: u64) -> SwitchedOut {
        match self {
            StateEncoding::Legacy => match state {
                0 => SwitchedOut::Ready,
                32 | 64 => SwitchedOut::Dead,
                _ => SwitchedOut::Blocked,
            },
            // 1024 to 4096 was, over the years, the bit of preempted processes: alone
            // in its place.
            StateEncoding::Until4_13 => match state & 0xffff {
                0 | 1024 | 2048 | 4096 => SwitchedOut::Ready,
                bits if bits & 0x70 != 0 => SwitchedOut::Dead,
                _ => SwitchedOut::Blocked,
            },
            StateEncoding::From4_14 => match state & 0xffff {
                bits if bits & 0x130 == 0 => {
                    // Nobody can predict which.
                    select_unpredictable(bits == 0, SwitchedOut::Ready, SwitchedOut::Blocked)
                }
                bits if bits & 0x100 != 0 => SwitchedOut::Ready,
                bits if bits & 0x10 != 0 => SwitchedOut::Dead,
                _ => SwitchedOut::Zombie,
            },
        }
    }
}

/// Major and minor number of `6.1.0-56-cloud-amd64`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases() {
        assert_eq!(version("6.1.0-56-cloud-amd64"), Some((6, 1)));
        assert_eq!(version("4.11"), Some((4, 11)));
        assert_eq!(version("rolling"), None);
    }

    #[test]
    fn states_of_newer_kernels() {
        let decode = |state| StateEncoding::From4_14.decode(state);
        assert_eq!(decode(0), SwitchedOut::Ready);
        assert_eq!(decode(0x100), SwitchedOut::Ready);
        for blocked in [1, 2, 4, 8, 0x40, 0x80] {
            assert_eq!(decode(blocked), SwitchedOut::Blocked, "{blocked}");
        }
        assert_eq!(decode(0x10), SwitchedOut::Dead);
        assert_eq!(decode(0x20), SwitchedOut::Zombie);
    }

    #[test]
    fn states_of_older_kernels() {
        let decode = |state| StateEncoding::Until4_13.decode(state);
        assert_eq!((decode(0), decode(4096)), (SwitchedOut::Ready, SwitchedOut::Ready));
        for blocked in [1, 2, 4, 8, 512, 1026] {
            assert_eq!(decode(blocked), SwitchedOut::Blocked, "{blocked}");
        }
        assert_eq!((decode(64), decode(16)), (SwitchedOut::Dead, SwitchedOut::Dead));
    }
}
