//! A recording by the files of tracefs, in an instance of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use rustix::time::{ClockId, clock_gettime};

use crate::choice::Choice;
use crate::error::RecordError;
use crate::journal::{Change, Journal};
use crate::machine::Machine;
use crate::pages::Readers;
use crate::request::Request;
use crate::trace_dat::{self, EventFormat, Recording};
use crate::tracefs::{self, event_folder, read, read_if_any, write};
use crate::wait::Event;

/// The name of the file in the folder of the recording.
const FILE: &str = "trace.dat";

/// The clock that all CPUs share, and that LTTng and programs use.
const CLOCK: &str = "mono";

/// The events of ftrace itself that may occur: texts and data of programs. Others need a tracer or an option, and what
/// is described counts as recorded.
const OWN: [&str; 4] = ["bprint", "bputs", "print", "raw_data"];

/// The size of the two numbers before the data of a page of a ring buffer, in bytes.
const PAGE_HEADER: u32 = 8 + size_of::<usize>() as u32;

/// A recording that runs.
#[derive(Debug)]
pub(crate) struct Running {
    root: PathBuf,
    instance: PathBuf,
    output: PathBuf,
    readers: Readers,
    recording: Recording,
    events: Vec<String>,
}

impl Running {
    /// Creates the instance and starts to record. `sender` gets the failures of reading.
    pub(crate) fn start(
        machine: &Machine,
        request: &Request,
        choice: &Choice,
        journal: &mut Journal,
        sender: &Sender<Event>,
    ) -> Result<Running, RecordError> {
        let root = machine.tracefs.clone();
        let name = format!("lttv-{}", std::process::id());
        let instance = root.join("instances").join(name);
        journal.note(Change::Instance(instance.clone()))?;
        machine.instances.create(&instance).map_err(RecordError::io("create", &instance))?;
        write(&instance.join("tracing_on"), "0")?;
        // The buffers of CPUs are allocated with their size, which the kernel may not have.
        write(&instance.join("buffer_size_kb"), &request.buffer_kib.to_string())?;
        let clock = instance.join("trace_clock");
        if has_word(&read(&clock)?, CLOCK) {
            write(&clock, CLOCK)?;
        }
        let header_page = read(&root.join("events/header_page"))?;
        let page_size = page_size(&header_page).ok_or_else(|| RecordError::Content {
            path: root.join("events/header_page"),
            reason: "it does not tell the size of the data of a page",
        })?;
        let recording = Recording { header_page, page_size, ..Recording::default() };
        let events: Vec<String> = choice.events.iter().cloned().collect();
        for event in &events {
            write(&event_folder(&instance.join("events"), event).join("enable"), "1")?;
        }
        let readers = Readers::open(&instance, &request.output, page_size, journal, sender)?;
        write(&instance.join("tracing_on"), "1")?;
        let output = request.output.clone();
        Ok(Running { root, instance, output, readers, recording, events })
    }

    /// Stops to record, and writes the file. Returns its path.
    pub(crate) fn stop(
        self,
        machine: &Machine,
        journal: &mut Journal,
    ) -> Result<PathBuf, RecordError> {
        let Running { root, instance, output, readers, mut recording, events } = self;
        write(&instance.join("tracing_on"), "0")?;
        recording.pages = readers.finish()?;
        recording.header_event = read(&root.join("events/header_event"))?;
        recording.trace_clock = read(&instance.join("trace_clock"))?;
        if has_word(&recording.trace_clock, &format!("[{CLOCK}]")) {
            recording.date_us = Some(date_us());
        }
        let own = root.join("events/ftrace");
        for name in tracefs::folders(&own)?.iter().filter(|name| OWN.contains(&name.as_str())) {
            recording.ftrace_formats.push(read(&own.join(name).join("format"))?);
        }
        for event in &events {
            let system = event.split_once(':').map_or("", |(system, _)| system).to_owned();
            let format = read(&event_folder(&root.join("events"), event).join("format"))?;
            recording.event_formats.push(EventFormat { system, format });
        }
        recording.kernel_symbols = read_if_any(&machine.proc.join("kallsyms"));
        recording.printk_formats = read_if_any(&root.join("printk_formats"));
        recording.command_lines = command_lines(machine, &root);
        for cpu in 0..recording.pages.len() {
            let path = instance.join(format!("per_cpu/cpu{cpu}/stats"));
            let text = [format!("CPU: {cpu}\n").as_bytes(), &read_if_any(&path)].concat();
            recording.statistics.push(text);
        }
        let uname = rustix::system::uname();
        let words = [uname.sysname(), uname.nodename(), uname.release(), uname.machine()];
        recording.uname = words.map(|word| word.to_string_lossy().into_owned()).join(" ");
        recording.version = concat!("lttv-record ", env!("CARGO_PKG_VERSION")).to_owned();
        recording.trace_id = trace_id();
        let (part, path) = (output.join("trace.dat.part"), output.join(FILE));
        journal.note(Change::File(part.clone()))?;
        trace_dat::write(&part, &recording)?;
        fs::rename(&part, &path).map_err(RecordError::io("create", &path))?;
        Ok(path)
    }
}

/// Returns the size of a page of a ring buffer in bytes, from the description of its header.
fn page_size(header: &[u8]) -> Option<u32> {
    let text = String::from_utf8_lossy(header);
    let data = text.lines().find(|line| line.contains(" data;"))?;
    let value = |name: &str| -> Option<u32> {
        data.split_once(name)?.1.split(';').next()?.trim().parse().ok()
    };
    let size = value("size:")?.checked_add(value("offset:")?)?;
    (size > PAGE_HEADER && size < 1 << 27).then_some(size)
}

/// Returns `true` if a text contains a word.
fn has_word(text: &[u8], word: &str) -> bool {
    text.split(u8::is_ascii_whitespace).any(|of| of == word.as_bytes())
}

/// Returns the time that added to the monotonic clock gives the time since 1970, in µs.
fn date_us() -> i64 {
    let us = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    };
    us(ClockId::Realtime) - us(ClockId::Monotonic)
}

/// Returns a number that differs between recordings.
fn trace_id() -> u64 {
    let time = clock_gettime(ClockId::Realtime);
    let ns = (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64);
    // Recorders that start at once on machines with one clock have other process ids.
    ns.rotate_left(22) ^ u64::from(std::process::id())
}

/// Returns the names of threads: those that the kernel has saved, which also tell of threads that have ended, and those
/// of all others that run.
fn command_lines(machine: &Machine, root: &Path) -> Vec<u8> {
    let mut lines = read_if_any(&root.join("saved_cmdlines"));
    if lines.last().is_some_and(|last| *last != b'\n') {
        lines.push(b'\n');
    }
    let id = |line: &[u8]| -> Option<u32> {
        let text = std::str::from_utf8(line).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    let saved: std::collections::HashSet<u32> = lines
        .split(|byte| *byte == b'\n')
        .filter_map(|line| id(line.split(|byte| *byte == b' ').next()?))
        .collect();
    let ids = |folder: &Path| -> Vec<u32> {
        let mut ids: Vec<u32> = tracefs::folders(folder)
            .unwrap_or_default()
            .iter()
            .filter_map(|name| name.parse().ok())
            .collect();
        ids.sort_unstable();
        ids
    };
    for process in ids(&machine.proc) {
        let tasks = machine.proc.join(process.to_string()).join("task");
        for thread in ids(&tasks).into_iter().filter(|thread| !saved.contains(thread)) {
            // Threads may end meanwhile.
            let name = read_if_any(&tasks.join(thread.to_string()).join("comm"));
            if !name.is_empty() {
                lines.extend_from_slice(format!("{thread} ").as_bytes());
                lines.extend_from_slice(name.trim_ascii_end());
                lines.push(b'\n');
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_size_of_their_parts() {
        let header = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
                      \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
                      \tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
        assert_eq!(page_size(header.as_bytes()), Some(4096));
        let large = header.replace("4080", "4294967295");
        assert_eq!(page_size(large.as_bytes()), None);
        assert_eq!(page_size(b"nothing"), None);
    }

    #[test]
    fn clocks_are_words() {
        assert!(has_word(b"[local] global mono_raw mono boot\n", "mono"));
        assert!(!has_word(b"[local] global mono_raw\n", "mono"));
        assert!(has_word(b"local [mono]\n", "[mono]"));
    }
}
