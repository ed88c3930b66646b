//! Traces that are generated once and kept for later runs.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::{Options, calls_like, kernel_like, legacy_like, plain, routine, ust_like};

/// The kind of trace to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A kernel, with about 40 bytes per event.
    Kernel,
    /// A kernel with typical sequences of events.
    Routine,
    /// A program in user space.
    Ust,
    /// A program whose calls of functions are recorded.
    Calls,
    /// A program with events of one type and 40 bytes.
    Plain,
    /// A kernel, in the format of LTTng 0.x.
    Legacy,
}

/// The parameters of a generated trace.
#[derive(Debug, Clone)]
pub struct Input {
    /// The kind of trace.
    pub kind: Kind,
    /// The number of CPUs and of data streams.
    pub cpus: u32,
    /// The number of events.
    pub events: u64,
    /// The other parameters.
    pub options: Options,
}

impl Input {
    /// Creates the parameters of a trace of 8 CPUs with default options.
    pub fn new(kind: Kind, events: u64) -> Self {
        Input { kind, cpus: 8, events, options: Options::default() }
    }

    /// Sets the number of CPUs.
    #[must_use]
    pub fn cpus(self, cpus: u32) -> Self {
        Input { cpus, ..self }
    }

    /// Sets the size of packets in bytes.
    #[must_use]
    pub fn packet_bytes(mut self, bytes: u64) -> Self {
        self.options.packet_bytes = bytes;
        self
    }

    /// Sets that no index files are written.
    #[must_use]
    pub fn without_index(mut self) -> Self {
        self.options.index = false;
        self
    }

    /// Writes the trace to a directory.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), Box<dyn Error>> {
        let write = match self.kind {
            Kind::Kernel => kernel_like,
            Kind::Routine => routine,
            Kind::Ust => ust_like,
            Kind::Calls => calls_like,
            Kind::Plain => plain,
            Kind::Legacy => legacy_like,
        };
        Ok(write(dir, self.cpus, self.events, &self.options)?)
    }

    /// Returns the directory of the trace below `target/bench-traces`, named after its kind.
    /// Writes the trace if it does not exist.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn cached(&self) -> Result<PathBuf, Box<dyn Error>> {
        let all = cache();
        let dir = all.join(self.key());
        let trace = match self.kind {
            Kind::Kernel => "kernel-like",
            Kind::Routine => "routine",
            Kind::Ust => "ust-like",
            Kind::Calls => "calls-like",
            Kind::Plain => "plain",
            Kind::Legacy => "legacy-like",
        };
        if !dir.exists() {
            // Renamed only when it is complete.
            let unfinished = all.join(format!("unfinished-{}", std::process::id()));
            self.write(&unfinished.join(trace))?;
            fs::rename(&unfinished, &dir)?;
        }
        Ok(dir.join(trace))
    }

    /// Returns a name that depends on all parameters.
    fn key(&self) -> String {
        let Input { kind, cpus, events, options } = self;
        let Options { format, seed, packet_bytes, mean_gap, index } = options;
        let index = if *index { "indexed" } else { "plain" };
        let generators = generators();
        format!(
            "{kind:?}-{format:?}-{events}x{cpus}cpus-{packet_bytes}B-{mean_gap}ns-{index}-\
             seed{seed}-{generators:08x}"
        )
        .to_lowercase()
    }
}

fn cache() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target =
        target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
    target.join("bench-traces")
}

/// Returns a digest of the generators, so that traces of older generators are not used.
fn generators() -> u32 {
    let sources = [
        include_str!("kernel.rs"),
        include_str!("payload.rs"),
        include_str!("routine.rs"),
        include_str!("ust.rs"),
        include_str!("plain.rs"),
        include_str!("legacy.rs"),
        include_str!("lib.rs"),
    ];
    let bytes = sources.iter().flat_map(|source| source.bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) // FNV-1a
}
