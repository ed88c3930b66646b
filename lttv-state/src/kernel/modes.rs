//! What processes, CPUs and devices can be doing, in LTTV's spelling.

/// An enumeration of which each value has a spelling.
macro_rules! spelled {
    ($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$of])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name { $($(#[$doc])* $value,)* }

        impl $name {
            /// All values, in order.
            pub const ALL: &[Self] = &[$(Self::$value,)*];

            /// The spelling that LTTV prints and that filters compare with.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $text,)* }
            }

            /// The value of a spelling; `None` if there is none.
            pub fn from_spelling(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text)
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
    /// In which mode a process executes.
    ExecutionMode {
        /// Not known yet, or no longer.
        #[default]
        Unknown = "MODE_UNKNOWN",
        /// Its own code.
        User = "USER_MODE",
        /// The kernel, on its behalf; and all that kernel threads do.
        Syscall = "SYSCALL",
        /// A processor exception, such as a page fault.
        Trap = "TRAP",
        /// It is interrupted by a device or by another processor.
        Irq = "IRQ",
        /// It is interrupted by deferred work of the kernel.
        Softirq = "SOFTIRQ",
    }
}

spelled! {
    /// Whether a process runs, or what it waits for.
    ProcessStatus {
        /// Not known.
        #[default]
        Unnamed = "",
        /// It has been forked and was not yet put on a run queue.
        WaitFork = "WAIT_FORK",
        /// It is ready, and waits for a processor.
        WaitCpu = "WAIT_CPU",
        /// It is exiting, and still runs.
        Exit = "EXIT",
        /// It has exited; its parent has not asked for it yet.
        Zombie = "ZOMBIE",
        /// It waits for something to happen.
        Wait = "WAIT",
        /// It runs.
        Run = "RUN",
        /// It is gone but for what the kernel still keeps of it.
        Dead = "DEAD",
    }
}

spelled! {
    /// Whether a process has code of its own.
    ProcessType {
        /// It executes a program.
        #[default]
        User = "USER_THREAD",
        /// It is a part of the kernel.
        Kernel = "KERNEL_THREAD",
    }
}

spelled! {
    /// What a processor is busy with.
    CpuMode {
        /// Not known.
        #[default]
        Unknown = "unknown",
        /// Nothing.
        Idle = "idle",
        /// A process.
        Busy = "busy",
        /// An interrupt.
        Irq = "irq",
        /// A soft interrupt.
        Softirq = "softirq",
        /// An exception.
        Trap = "trap",
    }
}

spelled! {
    /// Whether an interrupt is being handled.
    IrqMode {
        /// It has not come yet.
        #[default]
        Unknown = "unknown",
        /// Its handler runs nowhere.
        Idle = "idle",
        /// Its handler runs.
        Busy = "busy",
    }
}

spelled! {
    /// What a block device is busy with.
    BlockDeviceMode {
        /// Not known.
        #[default]
        Unknown = "unknown",
        /// No request.
        Idle = "idle",
        /// Requests, the last of which is to read.
        BusyReading = "busy_reading",
        /// Requests, the last of which is to write.
        BusyWriting = "busy_writing",
    }
}

impl ExecutionMode {
    /// Whether the process was interrupted: what happens is not its doing.
    pub const fn is_interrupt(self) -> bool {
        matches!(self, ExecutionMode::Irq | ExecutionMode::Softirq)
    }
}

impl ProcessStatus {
    /// Whether it is ready, or was just born.
    pub(super) const fn waits_for_cpu(self) -> bool {
        matches!(self, ProcessStatus::WaitCpu | ProcessStatus::WaitFork)
    }
}
