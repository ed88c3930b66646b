//! The parts of a file before the pages: what was recorded, and where it is.

use std::borrow::Cow;

use hashbrown::HashSet;

use super::buffer::{Buffer, CpuData};
use super::compression::Compression;
use super::options::{Options, id};
use super::recover::{self, FoundSection};
use crate::schema::ByteOrder;
use crate::tracepoint::classes::Machine;
use crate::tracepoint::descriptions::Descriptions;
use crate::tracepoint::input::{Fault, Input};

/// The first bytes of a file.
pub(super) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// The contents of the parts of a file before the pages.
#[derive(Debug)]
pub(super) struct Recording {
    /// The version of the format.
    pub(super) version: u32,
    pub(super) descriptions: Descriptions,
    pub(super) options: Options,
    pub(super) buffers: Vec<Buffer>,
    /// The place of the names of the kernel's functions.
    pub(super) kernel_symbols: Option<TextPlace>,
    /// The place of the names of threads.
    pub(super) thread_names: Option<TextPlace>,
    pub(super) warnings: Vec<String>,
    /// `true` if the descriptions of buffers at the end of version 7 are not all there.
    is_cut: bool,
}

/// The place of a text after its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPlace {
    /// The offset in the file, in bytes.
    pub(super) offset: u64,
    /// The size in the file, in bytes.
    pub(super) size: u64,
    /// The method and the decompressed size in bytes, if it is compressed.
    pub(super) packed: Option<(Compression, u32)>,
}

/// The greatest size of a decompressed section in bytes. Descriptions of events have some megabytes.
const MAX_SECTION: u32 = 1 << 28;

/// The greatest size of a page in bytes: the size of its contents has 27 bits.
const MAX_PAGE: u32 = 1 << 27;

const SMALLEST_PAGE: u32 = 32;

/// The greatest number of stored warnings.
pub(super) const MAX_WARNINGS: usize = 1024;

/// The greatest number of buffers. A recording has one and those of its instances.
const MAX_BUFFERS: usize = 1024;

/// The greatest number of CPUs of all buffers. Tables of their pages may overlap in damaged files.
const MAX_CPUS: usize = 1 << 17;

const COMPRESSED: u16 = 1;

impl Recording {
    /// Reads a file; `None` if it has not the magic number.
    pub(super) fn read(file: &[u8]) -> Option<Result<Recording, Fault>> {
        file.starts_with(MAGIC).then(|| Reading::start(file)?.read())
    }

    /// Returns `true` if a file of some bytes has everything that its descriptions tell.
    pub(super) fn is_complete(&self, len: u64) -> bool {
        let mut data = self.buffers.iter().flat_map(|buffer| &buffer.cpus);
        !self.is_cut && data.all(|data| data.offset.saturating_add(data.size) <= len)
    }
}

/// The state while a file is read.
struct Reading<'a> {
    file: &'a [u8],
    input: Input<'a>,
    compression: Option<Compression>,
    page_size: u32,
    /// The number of CPUs of all buffers.
    cpus: usize,
    recording: Recording,
}

impl<'a> Reading<'a> {
    /// Reads the start of a file, which is the same in all versions.
    fn start(file: &'a [u8]) -> Result<Self, Fault> {
        let mut input = Input::at(file, MAGIC.len() as u64, ByteOrder::Little, "file header");
        let version = input.text()?;
        let Some(version @ (6 | 7)) = version.parse().ok() else {
            return Err(input.fault("only versions 6 and 7 of the format are supported"));
        };
        let machine = Machine::read(&mut input)?;
        let page_size = input.u32()?;
        check_page_size(page_size, &input)?;
        let recording = Recording {
            version,
            descriptions: Descriptions::new(machine),
            options: Options::default(),
            buffers: Vec::new(),
            kernel_symbols: None,
            thread_names: None,
            warnings: Vec::new(),
            is_cut: false,
        };
        Ok(Reading { file, input, compression: None, page_size, cpus: 0, recording })
    }

    fn read(mut self) -> Result<Recording, Fault> {
        match self.recording.version {
            6 => self.read_sequence()?,
            _ => self.read_sections()?,
        }
        for system in std::mem::take(&mut self.recording.descriptions.invalid) {
            self.warn(format!("a description of an event of `{system}` is invalid"));
        }
        Ok(self.recording)
    }

    fn warn(&mut self, text: String) {
        if self.recording.warnings.len() < MAX_WARNINGS {
            self.recording.warnings.push(text);
        }
    }

    fn warn_of(&mut self, Fault { section, offset, reason }: Fault) {
        self.warn(format!("{section}, byte {offset}: {reason}"));
    }

    /// Reads version 6: all parts follow each other.
    fn read_sequence(&mut self) -> Result<(), Fault> {
        let mut input = self.input.clone();
        let descriptions = &mut self.recording.descriptions;
        descriptions.header_info(&mut input)?;
        descriptions.ftrace_formats(&mut input)?;
        descriptions.event_formats(&mut input)?;
        input.enter("kernel symbols");
        let offset = input.offset();
        let size = input.u32()?;
        input.take(size.into())?;
        let size = u64::from(size) + 4;
        self.recording.kernel_symbols = Some(TextPlace { offset, size, packed: None });
        input.enter("printk formats");
        let size = input.u32()?;
        input.take(size.into())?;
        input.enter("command lines");
        let offset = input.offset();
        let size = input.block()?.len() as u64 + 8;
        self.recording.thread_names = Some(TextPlace { offset, size, packed: None });
        input.enter("CPUs");
        let mut cpus = input.u32()?;
        let mut named = Vec::new();
        let mut word = input.take(10)?;
        if word.starts_with(b"options") {
            input.enter("options");
            loop {
                let option = input.u16()?;
                if option == id::DONE {
                    break;
                }
                let size = input.u32()?;
                let payload = input.take(size.into())?;
                self.recording.options.note(option, payload, input.order())?;
                if option == id::BUFFER {
                    let mut buffer =
                        Input::unpacked(payload, input.offset(), input.order(), "options");
                    named.push((buffer.u64()?, buffer.text()?));
                    if named.len() > MAX_BUFFERS {
                        return Err(input.fault(TOO_MANY));
                    }
                }
            }
            cpus = self.recording.options.cpus.unwrap_or(cpus);
            word = input.take(10)?;
        }
        self.pages(&mut input, word, cpus, String::new())?;
        for (offset, name) in named {
            if let Err(fault) = self.named_pages(offset, cpus, &name) {
                let Fault { section, offset, reason } = fault;
                self.warn(format!("buffer `{name}`: {section}, byte {offset}: {reason}"));
            }
        }
        Ok(())
    }

    /// Reads the part of a named buffer of version 6.
    fn named_pages(&mut self, offset: u64, cpus: u32, name: &str) -> Result<(), Fault> {
        let mut input = Input::at(self.file, offset, self.input.order(), "buffer");
        let mut word = input.take(10)?;
        if word.starts_with(b"options") {
            while input.u16()? != id::DONE {
                let size = input.u32()?;
                input.take(size.into())?;
            }
            word = input.take(10)?;
        }
        self.pages(&mut input, word, cpus, name.to_owned())
    }

    /// Reads the places of the pages of a buffer of version 6.
    fn pages(
        &mut self,
        input: &mut Input<'_>,
        word: &[u8],
        cpus: u32,
        name: String,
    ) -> Result<(), Fault> {
        input.enter("places of pages");
        if word.starts_with(b"latency") {
            return Err(input.fault("it has the text of a latency tracer instead of events"));
        }
        if !word.starts_with(b"flyrecord") {
            return Err(input.fault("expected `flyrecord`"));
        }
        let mut places = Vec::new();
        for cpu in 0..cpus {
            let (offset, size) = (input.u64()?, input.u64()?);
            places.push(CpuData { cpu, offset, size });
        }
        let clock = self.recording.options.clock.clone();
        let page_size = self.page_size;
        self.add(Buffer { name, clock, page_size, compression: None, cpus: places }, input)
    }

    /// Adds a buffer, which was read from an input.
    fn add(&mut self, buffer: Buffer, input: &Input<'_>) -> Result<(), Fault> {
        let cpus = self.cpus + buffer.cpus.len();
        if self.recording.buffers.len() >= MAX_BUFFERS || cpus > MAX_CPUS {
            return Err(input.fault(TOO_MANY));
        }
        self.cpus = cpus;
        self.recording.buffers.push(buffer);
        Ok(())
    }

    /// Reads version 7: options tell the places of sections.
    fn read_sections(&mut self) -> Result<(), Fault> {
        self.input.enter("file header");
        let compression = self.input.text()?;
        self.input.text()?;
        self.compression = Compression::named(&compression);
        let mut offset = self.input.u64()?;
        let first_section = self.input.offset();
        let mut is_broken = offset == 0;
        // The places of the buffers whose description is known.
        let mut buffers = HashSet::new();
        let (mut places, mut seen) = ([None; 3], HashSet::new());
        while offset != 0 {
            if !seen.insert(offset) {
                return Err(Fault { section: "options", offset, reason: "the chain has a cycle" });
            }
            offset = match self.options(offset, &mut buffers, &mut places) {
                Ok(next) => next,
                Err(fault) => {
                    self.warn_of(fault);
                    is_broken = true;
                    break;
                }
            };
        }
        let mut lost = Vec::new();
        self.recording.is_cut = is_broken;
        if is_broken {
            self.warn(
                "the last options are not there: the file was cut, or recording has not ended"
                    .to_owned(),
            );
            for section in recover::sections(self.file, first_section, self.input.order()) {
                match section.id {
                    id::DONE if !seen.contains(&section.offset) => {
                        // What cannot be read is lost.
                        _ = self.options(section.offset, &mut buffers, &mut places);
                    }
                    id::HEADER_INFO..=id::EVENT_FORMATS => {
                        let place = &mut places[usize::from(section.id - id::HEADER_INFO)];
                        place.get_or_insert(section.offset);
                    }
                    id::BUFFER => lost.push(section),
                    _ => {}
                }
            }
            if places[2].is_none() {
                return Err(self.input.fault("there are no formats of events"));
            }
        }
        type Read = fn(&mut Descriptions, &mut Input<'_>) -> Result<(), Fault>;
        let read: [(u16, &'static str, Read); 3] = [
            (id::HEADER_INFO, "header page", Descriptions::header_info),
            (id::FTRACE_FORMATS, "formats of ftrace", Descriptions::ftrace_formats),
            (id::EVENT_FORMATS, "formats of events", Descriptions::event_formats),
        ];
        for ((option, name, read), place) in read.into_iter().zip(places) {
            let Some(place) = place else { continue };
            let (contents, at) = self.contents(place, option, name)?;
            let order = self.input.order();
            let mut input = match &contents {
                Cow::Borrowed(_) => Input::at(self.file, at, order, name),
                Cow::Owned(bytes) => Input::unpacked(bytes, at, order, name),
            };
            read(&mut self.recording.descriptions, &mut input)?;
        }
        lost.retain(|section| !buffers.contains(&section.offset));
        if let Err(fault) = lost.into_iter().try_for_each(|section| self.lost_buffer(section)) {
            self.warn_of(fault);
        }
        Ok(())
    }

    /// Reads a section of options. Returns the place of the next one; 0 if there is none.
    fn options(
        &mut self,
        offset: u64,
        buffers: &mut HashSet<u64>,
        places: &mut [Option<u64>; 3],
    ) -> Result<u64, Fault> {
        let order = self.input.order();
        let (contents, at) = self.contents(offset, id::DONE, "options")?;
        let mut input = match &contents {
            Cow::Borrowed(_) => Input::at(self.file, at, order, "options"),
            Cow::Owned(bytes) => Input::unpacked(bytes, at, order, "options"),
        };
        loop {
            let (option, size) = (input.u16()?, input.u32()?);
            let payload = input.take(size.into())?;
            let mut values = Input::unpacked(payload, input.offset(), order, "options");
            match option {
                id::DONE => return values.u64(),
                id::BUFFER => {
                    values.enter("buffers");
                    match self.buffer(&mut values) {
                        Ok(place) => _ = buffers.insert(place),
                        Err(fault) => self.warn_of(fault),
                    }
                }
                id::HEADER_INFO => places[0] = Some(values.u64()?),
                id::FTRACE_FORMATS => places[1] = Some(values.u64()?),
                id::EVENT_FORMATS => places[2] = Some(values.u64()?),
                id::KERNEL_SYMBOLS => {
                    let place = self.text(values.u64()?, option, "kernel symbols");
                    match place {
                        Ok(place) => self.recording.kernel_symbols = Some(place),
                        Err(fault) => self.warn_of(fault),
                    }
                }
                id::COMMAND_LINES => {
                    let place = self.text(values.u64()?, option, "names of threads");
                    match place {
                        Ok(place) => self.recording.thread_names = Some(place),
                        Err(fault) => self.warn_of(fault),
                    }
                }
                _ => self.recording.options.note(option, payload, order)?,
            }
        }
    }

    /// Reads the header of a section, which has to have the id `wanted`. Returns what follows it, whether
    /// that is compressed, and its size.
    fn section(
        &self,
        offset: u64,
        wanted: u16,
        name: &'static str,
    ) -> Result<(Input<'a>, bool, u64), Fault> {
        let mut input = Input::at(self.file, offset, self.input.order(), name);
        let (found, flags) = (input.u16()?, input.u16()?);
        input.u32()?; // the place of a description
        let size = input.u64()?;
        match found == wanted {
            true => Ok((input, flags & COMPRESSED != 0, size)),
            false => Err(Fault { section: name, offset, reason: "another section is there" }),
        }
    }

    /// Returns the contents of a section, and their place in the file.
    fn contents(
        &self,
        offset: u64,
        wanted: u16,
        name: &'static str,
    ) -> Result<(Cow<'a, [u8]>, u64), Fault> {
        let (mut input, is_compressed, size) = self.section(offset, wanted, name)?;
        let at = input.offset();
        if !is_compressed {
            return Ok((Cow::Borrowed(input.take(size)?), at));
        }
        let (packed, plain) = (input.u32()?, input.u32()?);
        if plain > MAX_SECTION {
            return Err(input.fault("it is too large"));
        }
        let compression = self.compression_if(true).unwrap_or(Compression::Unknown);
        let unpacked = compression.unpack(input.take(packed.into())?, plain as usize);
        let damaged = |_| Fault { section: name, offset: at, reason: "it cannot be decompressed" };
        Ok((Cow::Owned(unpacked.map_err(damaged)?), at))
    }

    /// Returns the place of the text in a section.
    fn text(&self, offset: u64, wanted: u16, name: &'static str) -> Result<TextPlace, Fault> {
        let (mut input, is_compressed, size) = self.section(offset, wanted, name)?;
        let Some(compression) = self.compression_if(is_compressed) else {
            return Ok(TextPlace { offset: input.offset(), size, packed: None });
        };
        let (packed, plain) = (input.u32()?, input.u32()?);
        match plain > MAX_SECTION {
            true => Err(input.fault("it is too large")),
            false => Ok(TextPlace {
                offset: input.offset(),
                size: packed.into(),
                packed: Some((compression, plain)),
            }),
        }
    }

    /// Returns the method of compression of a section.
    fn compression_if(&self, is_compressed: bool) -> Option<Compression> {
        is_compressed.then_some(self.compression.unwrap_or(Compression::Unknown))
    }

    /// Adds the buffer of a section whose description is lost.
    fn lost_buffer(&mut self, section: FoundSection) -> Result<(), Fault> {
        let cpus = recover::cpus(self.file, section, self.page_size, self.input.order());
        let compression = self.compression_if(section.is_compressed);
        self.warn(format!(
            "the description of the buffer at byte {} is lost: its pages were found by their form, \
             and the numbers of its {} CPUs are guesses",
            section.offset,
            cpus.len()
        ));
        let (name, page_size) = (String::new(), self.page_size);
        let input = self.input.clone();
        self.add(Buffer { name, clock: None, page_size, compression, cpus }, &input)
    }

    /// Reads the option of a buffer of version 7. Returns the place of its section.
    fn buffer(&mut self, input: &mut Input<'_>) -> Result<u64, Fault> {
        let (offset, name, clock) = (input.u64()?, input.text()?, input.text()?);
        let (_, is_compressed, _) = self.section(offset, id::BUFFER, "buffers")?;
        let page_size = input.u32()?;
        check_page_size(page_size, input)?;
        let mut cpus = Vec::new();
        for _ in 0..input.u32()? {
            let (cpu, offset, size) = (input.u32()?, input.u64()?, input.u64()?);
            cpus.push(CpuData { cpu, offset, size });
        }
        let compression = self.compression_if(is_compressed);
        let clock = Some(clock).filter(|clock| !clock.is_empty());
        self.add(Buffer { name, clock, page_size, compression, cpus }, input)?;
        Ok(offset)
    }
}

const TOO_MANY: &str = "there are too many buffers or CPUs";

fn check_page_size(size: u32, input: &Input<'_>) -> Result<(), Fault> {
    match (SMALLEST_PAGE..=MAX_PAGE).contains(&size) {
        true => Ok(()),
        false => Err(input.fault("the size of pages is out of range")),
    }
}
