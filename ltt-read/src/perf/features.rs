//! Features: the parts of a file that describe the machine and the recording.

use hashbrown::HashMap;

use super::attributes::{Attribute, HEADER};
use crate::schema::ByteOrder;
use crate::trace::BuildId;
use crate::tracepoint::classes::Machine;
use crate::tracepoint::descriptions::Descriptions;
use crate::tracepoint::input::{Fault, Input};

/// The numbers of the features that are read.
mod feature {
    pub(super) const TRACING_DATA: u64 = 1;
    pub(super) const BUILD_IDS: u64 = 2;
    pub(super) const HOSTNAME: u64 = 3;
    pub(super) const RELEASE: u64 = 4;
    pub(super) const VERSION: u64 = 5;
    pub(super) const MACHINE: u64 = 6;
    pub(super) const COMMAND_LINE: u64 = 11;
    pub(super) const EVENTS: u64 = 12;
    pub(super) const CLOCK_DATA: u64 = 29;
}

/// The first bytes of descriptions of tracepoints.
const TRACING_MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// The greatest number of build ids that are read.
const MAX_BUILD_IDS: usize = 1 << 16;

/// The bit in the header of the record of a build id whose size is given.
const HAS_SIZE: u16 = 1 << 15;

/// The greatest number of words of a command line.
const MAX_WORDS: u32 = 4096;

/// The facts in the features of a recording.
#[derive(Debug, Default)]
pub(super) struct Features {
    pub(super) descriptions: Option<Descriptions>,
    pub(super) hostname: String,
    pub(super) release: String,
    pub(super) version: String,
    pub(super) machine: String,
    pub(super) command_line: String,
    /// The build ids of files with samples.
    pub(super) build_ids: Vec<BuildId>,
    /// The time to add to all times to get those of the wall clock, in ns.
    pub(super) date: Option<i64>,
    /// `true` if the names of events were read.
    has_names: bool,
}

impl Features {
    /// Notes a feature. That with the names of events sets those of the attributes.
    pub(super) fn note(
        &mut self,
        number: u64,
        payload: &[u8],
        offset: u64,
        order: ByteOrder,
        attributes: &mut [Attribute],
    ) -> Result<(), Fault> {
        let mut input = Input::unpacked(payload, offset, order, "features");
        match number {
            feature::TRACING_DATA => self.tracing_data(payload, offset)?,
            feature::BUILD_IDS => self.build_ids(&mut input)?,
            feature::HOSTNAME => self.hostname = text(&mut input)?,
            feature::RELEASE => self.release = text(&mut input)?,
            feature::VERSION => self.version = text(&mut input)?,
            feature::MACHINE => self.machine = text(&mut input)?,
            feature::COMMAND_LINE => {
                let mut words = Vec::new();
                for _ in 0..input.u32()?.min(MAX_WORDS) {
                    words.push(text(&mut input)?);
                }
                self.command_line = words.join(" ");
            }
            // More than once only damage has it, and would cost time.
            feature::EVENTS if !self.has_names => {
                self.has_names = true;
                let (mut by_id, mut by_config) = (HashMap::new(), HashMap::new());
                for (attribute, at) in attributes.iter().zip(0..) {
                    for id in &attribute.ids {
                        by_id.entry(*id).or_insert(at);
                    }
                    if attribute.ids.is_empty() {
                        by_config.entry(attribute.config).or_insert(at);
                    }
                }
                let (count, size) = (input.u32()?, input.u32()?);
                for _ in 0..count {
                    let found = Attribute::read(input.take(size.into())?, order)?;
                    let ids = input.u32()?;
                    let name = text(&mut input)?;
                    let ids = input.take(8 * u64::from(ids))?;
                    let first = Input::unpacked(ids, offset, order, "features").u64().ok();
                    let at: Option<usize> = match first {
                        Some(id) => by_id.get(&id).copied(),
                        None => by_config.get(&found.config).copied(),
                    };
                    if let Some(known) = at.and_then(|at| attributes.get_mut(at)) {
                        known.name = Some(name).filter(|name| !name.is_empty());
                    }
                }
            }
            feature::CLOCK_DATA => {
                let (version, _clock) = (input.u32()?, input.u32()?);
                let (wall, clock) = (input.u64()?, input.u64()?);
                if version == 1 {
                    self.date = Some(wall.wrapping_sub(clock) as i64);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the build ids of files: records with a header like all others.
    fn build_ids(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        while !input.is_empty() && self.build_ids.len() < MAX_BUILD_IDS {
            let (_, misc, size) = (input.u32()?, input.u16()?, input.u16()?);
            let record = input.take(u64::from(size).saturating_sub(HEADER.into()))?;
            let Some((_pid, rest)) = record.split_at_checked(4) else { continue };
            let Some((id, path)) = rest.split_at_checked(24) else { continue };
            // Older versions of perf have ids of 20 bytes only.
            let size = if misc & HAS_SIZE != 0 { usize::from(id[20]).min(20) } else { 20 };
            let path = path.split(|byte| *byte == 0).next().unwrap_or(&[]);
            let path = String::from_utf8_lossy(path).as_ref().into();
            self.build_ids.push(BuildId { path, id: id[..size].into() });
        }
        Ok(())
    }

    /// Reads the descriptions of tracepoints, which begin like a file of ftrace.
    pub(super) fn tracing_data(&mut self, payload: &[u8], offset: u64) -> Result<(), Fault> {
        let mut input = Input::unpacked(payload, offset, ByteOrder::Little, "tracing data");
        if input.take(TRACING_MAGIC.len() as u64)? != TRACING_MAGIC {
            return Err(input.fault("expected `tracing`"));
        }
        input.text()?; // the version
        let machine = Machine::read(&mut input)?;
        input.u32()?; // the size of a page
        let mut descriptions = Descriptions::new(machine);
        let result = (|| {
            descriptions.header_info(&mut input)?;
            descriptions.ftrace_formats(&mut input)?;
            descriptions.event_formats(&mut input)
        })();
        self.descriptions = Some(descriptions);
        result
    }
}

/// Reads a text after its size.
fn text(input: &mut Input<'_>) -> Result<String, Fault> {
    let size = input.u32()?;
    let bytes = input.take(size.into())?;
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or(&[]);
    Ok(String::from_utf8_lossy(text).into_owned())
}
