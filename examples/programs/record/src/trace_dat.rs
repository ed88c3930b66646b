//! The file `trace.dat`, version 6, which `trace-cmd`, KernelShark and others read.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::RecordError;

/// The description of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFormat {
    /// The subsystem.
    pub system: String,
    /// The contents of the file `format`.
    pub format: Vec<u8>,
}

/// The contents of a recording of ftrace.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// The size of a page of a ring buffer in bytes.
    pub page_size: u32,
    /// The contents of `events/header_page`.
    pub header_page: Vec<u8>,
    /// The contents of `events/header_event`.
    pub header_event: Vec<u8>,
    /// The descriptions of the events of ftrace itself.
    pub ftrace_formats: Vec<Vec<u8>>,
    /// The descriptions of the recorded events, sorted by system.
    pub event_formats: Vec<EventFormat>,
    /// The addresses and names of the kernel's functions, as in `/proc/kallsyms`.
    pub kernel_symbols: Vec<u8>,
    /// The addresses and texts of formats, as in `printk_formats`.
    pub printk_formats: Vec<u8>,
    /// The names of threads, as in `saved_cmdlines`.
    pub command_lines: Vec<u8>,
    /// The contents of `trace_clock`, in which the clock of the recording is in brackets.
    pub trace_clock: Vec<u8>,
    /// The time that added to the clock gives the time since 1970, in µs, if it is known.
    pub date_us: Option<i64>,
    /// The name of the system, the host, the release and the machine, as by `uname -snrm`.
    pub uname: String,
    /// The name and version of the program that records.
    pub version: String,
    /// A number that differs between recordings.
    pub trace_id: u64,
    /// The contents of `stats` of each CPU.
    pub statistics: Vec<Vec<u8>>,
    /// The files with the pages of each CPU, by number; empty for one without pages.
    pub pages: Vec<Option<PathBuf>>,
}

mod option {
    pub(super) const DONE: u16 = 0;
    pub(super) const DATE: u16 = 1;
    pub(super) const STATISTICS: u16 = 2;
    pub(super) const TRACE_CLOCK: u16 = 4;
    pub(super) const UNAME: u16 = 5;
    pub(super) const VERSION: u16 = 9;
    pub(super) const TRACE_ID: u16 = 11;
}

/// Writes a recording to a new file.
///
/// # Errors
///
/// If a file cannot be read or written, or a section is too large.
pub fn write(path: &Path, recording: &Recording) -> Result<(), RecordError> {
    let failed = RecordError::io("write", path);
    let file = File::create_new(path).map_err(RecordError::io("create", path))?;
    let mut out = BufWriter::new(file);
    let sections = sections(recording)?;
    out.write_all(&sections).map_err(&failed)?;
    // For each CPU the place and the size of its pages, which are known when all have been written.
    let table = sections.len() as u64;
    let cpus = recording.pages.len() as u64;
    let page = u64::from(recording.page_size.max(1));
    let mut places = Vec::with_capacity(recording.pages.len());
    let mut end = (table + 16 * cpus).next_multiple_of(page);
    for pages in &recording.pages {
        let begin = end;
        if let Some(from) = pages {
            let mut input = File::open(from).map_err(RecordError::io("read", from))?;
            out.seek(SeekFrom::Start(begin)).map_err(&failed)?;
            out.flush().map_err(&failed)?;
            end += io::copy(&mut input, out.get_mut()).map_err(&failed)?;
        }
        places.push((begin, end - begin));
        end = end.next_multiple_of(page);
    }
    out.seek(SeekFrom::Start(table)).map_err(&failed)?;
    for (begin, size) in places {
        out.write_all(&begin.to_ne_bytes()).map_err(&failed)?;
        out.write_all(&size.to_ne_bytes()).map_err(&failed)?;
    }
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    // A file without pages ends on a page, too.
    file.set_len(end).and_then(|()| file.sync_all()).map_err(&failed)
}

/// Returns all that is before the table of pages.
fn sections(of: &Recording) -> Result<Vec<u8>, RecordError> {
    let mut out = Sections(Vec::new());
    out.bytes(b"\x17\x08\x44tracing6\0");
    out.bytes(&[u8::from(cfg!(target_endian = "big")), size_of::<usize>() as u8]);
    out.u32(of.page_size);
    out.bytes(b"header_page\0");
    out.text64(&of.header_page);
    out.bytes(b"header_event\0");
    out.text64(&of.header_event);
    out.count("formats of ftrace", of.ftrace_formats.len())?;
    of.ftrace_formats.iter().for_each(|format| out.text64(format));
    let systems: Vec<&[EventFormat]> =
        of.event_formats.chunk_by(|a, b| a.system == b.system).collect();
    out.count("formats of events", systems.len())?;
    for system in systems {
        out.bytes(system[0].system.as_bytes());
        out.bytes(&[0]);
        out.count("formats of events", system.len())?;
        system.iter().for_each(|event| out.text64(&event.format));
    }
    out.count("kernel symbols", of.kernel_symbols.len())?;
    out.bytes(&of.kernel_symbols);
    out.count("printk formats", of.printk_formats.len())?;
    out.bytes(&of.printk_formats);
    out.text64(&of.command_lines);
    out.count("CPUs", of.pages.len())?;
    out.bytes(b"options  \0");
    if let Some(date) = of.date_us {
        out.option(option::DATE, format!("{date:#x}\0").as_bytes())?;
    }
    for statistics in &of.statistics {
        out.option(option::STATISTICS, &with_nul(statistics))?;
    }
    out.option(option::TRACE_CLOCK, &with_nul(&of.trace_clock))?;
    out.option(option::UNAME, &with_nul(of.uname.as_bytes()))?;
    out.option(option::VERSION, &with_nul(of.version.as_bytes()))?;
    out.option(option::TRACE_ID, &of.trace_id.to_ne_bytes())?;
    out.bytes(&option::DONE.to_ne_bytes());
    out.bytes(b"flyrecord\0");
    Ok(out.0)
}

fn with_nul(text: &[u8]) -> Vec<u8> {
    [text, &[0]].concat()
}

/// Sections of a file, in the byte order of the machine.
struct Sections(Vec<u8>);

impl Sections {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn u32(&mut self, value: u32) {
        self.bytes(&value.to_ne_bytes());
    }

    /// Writes a number of bytes or of items of a section.
    fn count(&mut self, section: &'static str, count: usize) -> Result<(), RecordError> {
        let size = count as u64;
        let count = u32::try_from(count).map_err(|_| RecordError::TooLarge { section, size })?;
        self.u32(count);
        Ok(())
    }

    /// Writes a text after its size in 64 bits.
    fn text64(&mut self, text: &[u8]) {
        self.bytes(&(text.len() as u64).to_ne_bytes());
        self.bytes(text);
    }

    fn option(&mut self, id: u16, payload: &[u8]) -> Result<(), RecordError> {
        self.bytes(&id.to_ne_bytes());
        self.count("options", payload.len())?;
        self.bytes(payload);
        Ok(())
    }
}
