//! Traces for tests and benchmarks, of any size, generated on demand and the same every time.
//!
//! [`kernel_like`], [`routine`] and [`ust_like`] write traces as LTTng records them, of an
//! imaginary machine. As in real traces, events come in short runs per CPU, so that merging
//! costs as much as for these. [`Input`] keeps the traces between runs.

mod calls;
mod input;
mod kernel;
mod legacy;
mod many_types;
mod payload;
mod plain;
mod random;
mod routine;
mod ust;

use std::path::Path;

use ltt_read::schema::{Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, StreamFile, StreamWriter, TraceWriter, WriteError};

pub use calls::calls_like;
pub use input::{Input, Kind};
pub use kernel::kernel_like;
pub use legacy::legacy_like;
pub use many_types::many_types;
pub use plain::plain;
pub use random::Random;
pub use routine::routine;
pub use ust::ust_like;

/// The options of generated traces.
#[derive(Debug, Clone)]
pub struct Options {
    /// The trace format.
    pub format: Format,
    /// The seed: traces of different seeds differ in everything but their statistics.
    pub seed: u64,
    /// The size of packets in bytes.
    pub packet_bytes: u64,
    /// Writes LTTng's index files.
    pub index: bool,
    /// The mean time between events of the whole trace, in ns.
    pub mean_gap: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { format: Format::Ctf1, seed: 1, packet_bytes: 1 << 20, index: true, mean_gap: 250 }
    }
}

/// One stream per CPU, filled in time order.
struct Cpus {
    streams: Vec<StreamWriter<StreamFile>>,
    current: usize,
    /// The number of events until another CPU continues.
    run: u64,
    now: u64,
    mean_gap: u64,
}

impl Cpus {
    fn create(
        dir: &Path,
        schema: Schema,
        channel: &str,
        cpus: u32,
        options: &Options,
    ) -> Result<Self, WriteError> {
        let mut trace = TraceWriter::create_packetized(dir, schema)?;
        if options.index {
            trace = trace.with_index();
        }
        let stream = |cpu: u32| {
            let stream = trace.stream(StreamClassId(0), &format!("{channel}_{cpu}"))?;
            Ok(stream
                .with_packet_limit(options.packet_bytes)
                .with_padding()
                .with_stream_id(cpu.into())
                .with_packet_context(FieldValue::fields([("cpu_id", cpu)])))
        };
        Ok(Cpus {
            streams: (0..cpus.max(1)).map(stream).collect::<Result<_, WriteError>>()?,
            current: 0,
            run: 0,
            now: 1_000_000_000,
            mean_gap: options.mean_gap.max(1),
        })
    }

    /// Returns the CPU and the time of the next event. The mean length of runs is three
    /// events.
    fn advance(&mut self, random: &mut Random) -> (usize, u64) {
        if self.run == 0 {
            self.run = 1 + random.below(5);
            let others = self.streams.len() as u64 - 1;
            if others > 0 {
                let step = 1 + random.below(others) as usize;
                self.current = (self.current + step) % self.streams.len();
            }
        }
        self.run -= 1;
        self.now += 1 + random.below(self.mean_gap * 2);
        (self.current, self.now)
    }

    fn finish(self) -> Result<(), WriteError> {
        self.streams.into_iter().try_for_each(|stream| stream.finish().map(drop))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    type Make = fn(&Path, u32, u64, &Options) -> Result<(), WriteError>;

    fn files(make: Make, options: &Options) -> BTreeMap<String, Vec<u8>> {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), 4, 20_000, options).unwrap();
        let entries = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path());
        let files = entries.filter(|path| path.is_file());
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        files.map(|path| (name(&path), std::fs::read(&path).unwrap())).collect()
    }

    #[test]
    fn the_same_every_time_and_of_the_promised_size() {
        for make in [kernel_like as Make, routine, ust_like, calls_like] {
            let options = Options { packet_bytes: 4096, ..Options::default() };
            let first = files(make, &options);
            assert_eq!(first, files(make, &options));
            assert_eq!(first.len(), 5);
            let bytes: usize = first.iter().filter(|f| f.0 != "metadata").map(|f| f.1.len()).sum();
            assert!((20..50).contains(&(bytes / 20_000)), "{} bytes an event", bytes / 20_000);
            assert!(bytes.is_multiple_of(4096));
            let other = files(make, &Options { seed: 2, ..options });
            assert_ne!(first["channel0_1"], other["channel0_1"]);
            assert_eq!(first["metadata"], other["metadata"]);
        }
    }
}
