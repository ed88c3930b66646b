//! Traces that are made once and kept for later runs.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::{Options, kernel_like, legacy_like, plain, routine, ust_like};

/// The kind of tracer that is imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// See [`kernel_like`].
    Kernel,
    /// See [`routine`].
    Routine,
    /// See [`ust_like`].
    Ust,
    /// See [`plain`].
    Plain,
    /// See [`legacy_like`].
    Legacy,
}

/// A trace to be made.
#[derive(Debug, Clone)]
pub struct Input {
    /// What kind of tracer to imitate.
    pub kind: Kind,
    /// Number of CPUs, hence of data streams.
    pub cpus: u32,
    /// Number of events.
    pub events: u64,
    /// The rest.
    pub options: Options,
}

impl Input {
    /// A trace of 8 CPUs with the default options.
    pub fn new(kind: Kind, events: u64) -> Self {
        Input { kind, cpus: 8, events, options: Options::default() }
    }

    /// With another number of CPUs.
    #[must_use]
    pub fn cpus(self, cpus: u32) -> Self {
        Input { cpus, ..self }
    }

    /// With packets of another size.
    #[must_use]
    pub fn packet_bytes(mut self, bytes: u64) -> Self {
        self.options.packet_bytes = bytes;
        self
    }

    /// Without index files.
    #[must_use]
    pub fn without_index(mut self) -> Self {
        self.options.index = false;
        self
    }

    /// Makes it in a directory.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), Box<dyn Error>> {
        let write = match self.kind {
            Kind::Kernel => kernel_like,
            Kind::Routine => routine,
            Kind::Ust => ust_like,
            Kind::Plain => plain,
            Kind::Legacy => legacy_like,
        };
        Ok(write(dir, self.cpus, self.events, &self.options)?)
    }

    /// The directory that holds it below `target/bench-traces`, called
    /// as its kind is; made if it is not there yet.
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
            Kind::Plain => "plain",
            Kind::Legacy => "legacy-like",
        };
        if !dir.exists() {
            // Under its name only when complete.
            let unfinished = all.join(format!("unfinished-{}", std::process::id()));
            self.write(&unfinished.join(trace))?;
            fs::rename(&unfinished, &dir)?;
        }
        Ok(dir.join(trace))
    }

    /// All that its contents depend on.
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
        target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target"));
    target.join("bench-traces")
}

/// A digest of the generators: what an older one made is of no use.
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
