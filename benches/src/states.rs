//! States of a simulated system, for measuring histories: CPUs that schedule threads, which
//! make system calls and are interrupted.
//!
//! Other programs have been measured with these pseudo-random states, so that figures are
//! comparable. Digests of the states and of the answers to pseudo-random queries verify
//! that all programs stored and answered the same.

use std::time::Duration;

mod cold;
mod digest;
mod error;
mod faults;
mod measure;
mod queries;
mod simulation;
mod timer;

pub use digest::Digest;
pub use error::MeasureError;
pub use measure::measure;
pub use queries::{Query, QueryArguments, QueryBatch};
pub use simulation::{START, Sink, System};

/// The expected digests of a workload.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    /// The number of changes, including those to an equal value.
    pub changes: u64,
    /// The number of intervals, including those that last until the end.
    pub intervals: u64,
    /// The last time, in ns.
    pub last: i64,
    /// The digest of all intervals, in order of their end times.
    pub sequence: u64,
    /// The digests of the answers, in the order of [`Query::ALL`].
    pub answers: [u64; 8],
}

/// The greatest accepted costs of a workload; `None` for no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// The CPU time for making the changes and storing them.
    pub build: Option<Duration>,
    /// The memory of the process during this, in MB (10⁶ bytes).
    pub memory: Option<f64>,
    /// The size of the file in bytes.
    pub file: Option<u64>,
    /// The CPU time up to the first answer.
    pub open: Option<Duration>,
    /// The CPU time per answer, in the order of [`Query::ALL`].
    pub answers: [Option<Duration>; 8],
}

/// A named workload with its expected results and limits.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// The name of the workload.
    pub name: &'static str,
    /// The size of the simulated system.
    pub system: System,
    /// The expected digests.
    pub expected: Expected,
    /// The greatest accepted costs.
    pub limits: Limits,
}

const NO_LIMITS: Limits =
    Limits { build: None, memory: None, file: None, open: None, answers: [None; 8] };

const fn micros(most: u64) -> Option<Duration> {
    Some(Duration::from_micros(most))
}

const LIMITS_10M: Limits = Limits {
    build: micros(1_000_000),
    memory: Some(64.0),
    file: Some(40_000_000),
    open: micros(10_000),
    answers: [
        micros(120),
        micros(3),
        micros(3),
        micros(15_000),
        micros(800),
        micros(150),
        micros(150),
        None,
    ],
};

const LIMITS_WIDE: Limits = Limits {
    build: None,
    memory: Some(128.0),
    file: Some(48_000_000),
    open: micros(50_000),
    answers: [micros(3_000), micros(5), micros(5), None, None, None, None, None],
};

/// All workloads, by size.
pub const WORKLOADS: [Workload; 3] = [
    Workload {
        name: "1M",
        system: System { cpus: 8, threads: 500, events: 300_000 },
        expected: Expected {
            changes: 1_090_793,
            intervals: 1_017_885,
            last: 1_299_735_302,
            sequence: 0x58f7_35e6_43e8_9352,
            answers: [
                0xa581_a9c2_5a61_09f4,
                0x978c_0d01_466c_1c61,
                0x11df_14b0_2c8b_6c71,
                0xc50e_ba42_06df_319f,
                0x0f44_56f9_07d1_f1ad,
                0x480c_8094_ba72_c26f,
                0x4872_bff2_26b2_8231,
                0x064b_2aa9_42f1_3f34,
            ],
        },
        limits: NO_LIMITS,
    },
    Workload {
        name: "10M",
        system: System { cpus: 8, threads: 500, events: 3_000_000 },
        expected: Expected {
            changes: 10_892_913,
            intervals: 10_155_760,
            last: 4_001_691_192,
            sequence: 0x8232_4932_7023_5b85,
            answers: [
                0xce6f_8042_d638_8bc6,
                0x01d3_ebf3_92c8_fe0b,
                0xe180_4beb_6784_7a51,
                0x9e8b_e3bf_6ed4_2be7,
                0x8920_34c5_7155_6829,
                0x756a_4e96_83e2_2f81,
                0xa38e_3a7a_66c1_66fd,
                0x7d32_c4c6_9ca1_81bc,
            ],
        },
        limits: LIMITS_10M,
    },
    Workload {
        name: "wide",
        system: System { cpus: 32, threads: 20_000, events: 3_000_000 },
        expected: Expected {
            changes: 10_972_608,
            intervals: 10_283_003,
            last: 4_001_354_660,
            sequence: 0xc3c7_bce2_e8ac_1d5f,
            answers: [
                0x0cb4_82d5_2ef8_2651,
                0x557c_2d99_4bd7_8354,
                0x372e_27bf_b385_631f,
                0x0d71_1305_7a8f_9e87,
                0x959f_bc2f_2d00_9dad,
                0x55d4_6dc1_25a6_f05e,
                0x9c21_6809_fb23_1ef5,
                0xed14_d0b1_0ce5_0564,
            ],
        },
        limits: LIMITS_WIDE,
    },
];

/// Returns the workload with a name, in upper or lower case.
pub fn workload(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|workload| workload.name.eq_ignore_ascii_case(name))
}
