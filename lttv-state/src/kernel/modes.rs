//! The modes and statuses of processes, CPUs and devices, in LTTV's spelling.

/// An error from parsing a text that is not the spelling of a mode, status or type.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the spelling of a value")]
#[non_exhaustive]
pub struct ParseModeError;

ltt_read::debug_as_chain!(ParseModeError);

/// Defines an enumeration with a spelling for each value.
macro_rules! spelled {
    ($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$of])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name { $($(#[$doc])* $value,)* }

        impl $name {
            /// All values, in ascending order.
            pub const ALL: &[Self] = &[$(Self::$value,)*];

            /// Returns the spelling that LTTV prints and that filters compare with.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $text,)* }
            }
        }

        impl std::str::FromStr for $name {
            type Err = ParseModeError;

            /// Parses the spelling of a value.
            fn from_str(text: &str) -> Result<Self, ParseModeError> {
                let found = Self::ALL.iter().copied().find(|value| value.as_str() == text);
                found.ok_or(ParseModeError)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

spelled! {
    /// The mode in which a process executes.
    ExecutionMode {
        /// The mode is not known yet, or no longer.
        #[default]
        Unknown = "MODE_UNKNOWN",
        /// The process executes its own code.
        User = "USER_MODE",
        /// The kernel executes a system call of the process, or any code of a kernel
        /// thread.
        Syscall = "SYSCALL",
        /// The kernel handles an exception of the process, such as a page fault.
        Trap = "TRAP",
        /// The process is interrupted by a device or by another processor.
        Irq = "IRQ",
        /// The process is interrupted by a softirq, deferred work of the kernel.
        Softirq = "SOFTIRQ",
    }
}

spelled! {
    /// The scheduling status of a process.
    ProcessStatus {
        /// The status is not known.
        #[default]
        Unknown = "",
        /// The process was forked and has not been put on a run queue yet.
        WaitFork = "WAIT_FORK",
        /// The process is ready and waits for a CPU.
        WaitCpu = "WAIT_CPU",
        /// The process is exiting and still runs.
        Exit = "EXIT",
        /// The process has exited, and its parent has not waited for it yet.
        Zombie = "ZOMBIE",
        /// The process is blocked: it waits for something to happen.
        Wait = "WAIT",
        /// The process runs.
        Run = "RUN",
        /// The process is dead: only kernel data about it may remain.
        Dead = "DEAD",
    }
}

spelled! {
    /// The type of a process: user or kernel thread.
    ProcessType {
        /// The process executes a program.
        #[default]
        User = "USER_THREAD",
        /// The process is a part of the kernel.
        Kernel = "KERNEL_THREAD",
    }
}

spelled! {
    /// The activity of a CPU.
    CpuMode {
        /// The activity is not known.
        #[default]
        Unknown = "unknown",
        /// The CPU runs its idle process.
        Idle = "idle",
        /// The CPU runs a process.
        Busy = "busy",
        /// The CPU handles an interrupt.
        Irq = "irq",
        /// The CPU handles a softirq.
        Softirq = "softirq",
        /// The CPU handles an exception.
        Trap = "trap",
    }
}

spelled! {
    /// The activity of an interrupt, softirq or exception handler.
    IrqMode {
        /// The interrupt has not occurred yet.
        #[default]
        Unknown = "unknown",
        /// The handler runs on no CPU.
        Idle = "idle",
        /// The handler runs on some CPU.
        Busy = "busy",
    }
}

spelled! {
    /// The activity of a block device.
    BlockDeviceMode {
        /// The activity is not known.
        #[default]
        Unknown = "unknown",
        /// The device has no requests.
        Idle = "idle",
        /// The device has requests, and the last one issued is a read.
        BusyReading = "busy_reading",
        /// The device has requests, and the last one issued is no read.
        BusyWriting = "busy_writing",
    }
}

impl ExecutionMode {
    /// Returns `true` for modes in which the process is interrupted, so that the executed
    /// code is not its own activity.
    pub const fn is_interrupt(self) -> bool {
        matches!(self, ExecutionMode::Irq | ExecutionMode::Softirq)
    }

    /// Returns `true` if frames of the mode contain the number of an interrupt or exception.
    pub(super) const fn has_source(self) -> bool {
        self.is_interrupt() || matches!(self, ExecutionMode::Trap)
    }
}

impl ProcessStatus {
    /// Returns `true` if the process waits for a CPU: it is ready, or it was just forked.
    pub(super) const fn waits_for_cpu(self) -> bool {
        matches!(self, ProcessStatus::WaitCpu | ProcessStatus::WaitFork)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Display;
    use std::str::FromStr;

    use super::*;

    fn are_parsed_back<T>(all: &[T])
    where
        T: Copy + Display + FromStr<Err = ParseModeError> + PartialEq + std::fmt::Debug,
    {
        for value in all {
            assert_eq!(value.to_string().parse(), Ok(*value));
        }
        assert_eq!("NO_SUCH_MODE".parse::<T>(), Err(ParseModeError));
    }

    #[test]
    fn spellings_are_parsed_back() {
        are_parsed_back(ExecutionMode::ALL);
        are_parsed_back(ProcessStatus::ALL);
        are_parsed_back(ProcessType::ALL);
        are_parsed_back(CpuMode::ALL);
        are_parsed_back(IrqMode::ALL);
        are_parsed_back(BlockDeviceMode::ALL);
        assert_eq!("user_mode".parse::<ExecutionMode>(), Err(ParseModeError));
    }
}
