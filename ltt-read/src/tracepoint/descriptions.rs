//! The descriptions of events in a file: those of page and record headers, then those of event types.

use std::sync::Arc;

use super::classes::Machine;
use super::formats::Format;
use super::input::{Fault, Input};

/// The descriptions of the events of a recording.
#[derive(Debug)]
pub(crate) struct Descriptions {
    pub(crate) machine: Machine,
    /// The descriptions of event types, each with its system.
    pub(crate) formats: Vec<(Arc<str>, Format)>,
    /// The systems of descriptions that are invalid.
    pub(crate) invalid: Vec<Arc<str>>,
}

/// The greatest number of invalid descriptions that are noted.
const MAX_INVALID: usize = 1024;

impl Descriptions {
    /// Creates the descriptions of a machine, without any.
    pub(crate) fn new(machine: Machine) -> Self {
        Descriptions { machine, formats: Vec::new(), invalid: Vec::new() }
    }

    /// Reads the descriptions of page headers and of record headers.
    pub(crate) fn header_info(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        input.enter("header page");
        if input.take(12)? != b"header_page\0" {
            return Err(input.fault("expected `header_page`"));
        }
        let page = Format::parse(&[b"name: page\nID: 0\n", input.block()?].concat());
        let commit = page.iter().flat_map(|page| &page.fields).find(|field| field.name == "commit");
        if let Some(long @ (4 | 8)) = commit.map(|commit| commit.size) {
            self.machine.long = long;
        }
        if input.take(13)? != b"header_event\0" {
            return Err(input.fault("expected `header_event`"));
        }
        input.block()?;
        Ok(())
    }

    /// Reads the descriptions of the tracer's own event types.
    pub(crate) fn ftrace_formats(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        input.enter("formats of ftrace");
        let system = "ftrace".into();
        for _ in 0..input.u32()? {
            self.format(&system, input)?;
        }
        Ok(())
    }

    /// Reads the descriptions of the other event types.
    pub(crate) fn event_formats(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        input.enter("formats of events");
        for _ in 0..input.u32()? {
            let system = input.text()?.into();
            for _ in 0..input.u32()? {
                self.format(&system, input)?;
            }
        }
        Ok(())
    }

    /// Reads the description of an event type. One that makes no sense is left out.
    fn format(&mut self, system: &Arc<str>, input: &mut Input<'_>) -> Result<(), Fault> {
        match Format::parse(input.block()?) {
            Some(format) => self.formats.push((system.clone(), format)),
            None if self.invalid.len() < MAX_INVALID => self.invalid.push(system.clone()),
            None => {}
        }
        Ok(())
    }
}
