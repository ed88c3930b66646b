//! Options of a recording.

use crate::layout::record::Scale;
use crate::schema::ByteOrder;
use crate::trace::ProcessMapping;
use crate::tracepoint::input::{Fault, Input};

/// The numbers of options that are read.
pub(super) mod id {
    pub(crate) const DONE: u16 = 0;
    pub(crate) const DATE: u16 = 1;
    pub(crate) const BUFFER: u16 = 3;
    pub(crate) const TRACE_CLOCK: u16 = 4;
    pub(crate) const UNAME: u16 = 5;
    pub(crate) const OFFSET: u16 = 7;
    pub(crate) const CPU_COUNT: u16 = 8;
    pub(crate) const VERSION: u16 = 9;
    pub(crate) const PROCESS_MAPPINGS: u16 = 10;
    pub(crate) const TRACE_ID: u16 = 11;
    pub(crate) const TSC_TO_NS: u16 = 14;
    pub(crate) const HEADER_INFO: u16 = 16;
    pub(crate) const FTRACE_FORMATS: u16 = 17;
    pub(crate) const EVENT_FORMATS: u16 = 18;
    pub(crate) const KERNEL_SYMBOLS: u16 = 19;
    pub(crate) const COMMAND_LINES: u16 = 21;
}

/// The options that apply to all buffers.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// The time to add to all times in ns, modulo 2⁶⁴.
    pub(super) offset: i64,
    /// `true` if times count from the Unix epoch with the offset.
    pub(super) has_date: bool,
    pub(super) clock: Option<String>,
    pub(super) uname: Option<String>,
    pub(super) version: Option<String>,
    pub(super) trace_id: Option<u64>,
    pub(super) cpus: Option<u32>,
    pub(super) scale: Option<Scale>,
    /// The files in the memory of processes.
    pub(super) process_mappings: Vec<ProcessMapping>,
}

/// The greatest number of files in the memory of processes.
const MAX_MAPPINGS: usize = 1 << 16;

impl Options {
    /// Notes an option.
    pub(super) fn note(
        &mut self,
        option: u16,
        payload: &[u8],
        order: ByteOrder,
    ) -> Result<(), Fault> {
        let mut input = Input::unpacked(payload, 0, order, "options");
        match option {
            id::DATE => {
                if let Some(us) = number(payload) {
                    self.offset = self.offset.wrapping_add(us.wrapping_mul(1000));
                    self.has_date = true;
                }
            }
            id::OFFSET => {
                self.offset = self.offset.wrapping_add(number(payload).unwrap_or(0));
            }
            id::TRACE_CLOCK => {
                let text = text(payload);
                let current = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
                self.clock = current.map(|(clock, _)| clock.to_owned()).or(self.clock.take());
            }
            id::UNAME => self.uname = Some(text(payload)),
            id::VERSION => self.version = Some(text(payload)),
            id::PROCESS_MAPPINGS => {
                let room = MAX_MAPPINGS.saturating_sub(self.process_mappings.len());
                self.process_mappings.extend(mappings(payload).take(room));
            }
            id::TRACE_ID => self.trace_id = Some(input.u64()?),
            id::CPU_COUNT => self.cpus = Some(input.u32()?),
            id::TSC_TO_NS => {
                let (factor, shift) = (input.u32()?, input.u32()?);
                self.scale = (factor > 0).then_some(Scale { factor, shift });
            }
            _ => {}
        }
        Ok(())
    }
}

/// Reads the files in the memory of processes: for each process a line of its id, the number of files and its name,
/// then lines of the first address, that after the last one, and the path. Other lines are left out.
fn mappings(payload: &[u8]) -> impl Iterator<Item = ProcessMapping> {
    let mut process = None;
    payload.split(|byte| matches!(byte, b'\n' | 0)).filter_map(move |line| {
        let line = String::from_utf8_lossy(line.get(..MAX_LINE).unwrap_or(line));
        let (first, rest) = line.split_once(' ')?;
        let (second, third) = rest.split_once(' ')?;
        // The name of a process is no path, and its id is decimal.
        if !third.starts_with(['/', '[']) {
            process = Some(first.parse().ok()?);
            return None;
        }
        let (start, end) =
            (u64::from_str_radix(first, 16).ok()?, u64::from_str_radix(second, 16).ok()?);
        Some(ProcessMapping { process: process?, start, end, path: third.into() })
    })
}

/// The greatest size of a line with a path.
const MAX_LINE: usize = 4200;

/// The greatest size of a text, of which each buffer has a copy.
const MAX_TEXT: usize = 1024;

/// Returns the text before the first null byte, up to its greatest size.
fn text(payload: &[u8]) -> String {
    let payload = payload.get(..MAX_TEXT).unwrap_or(payload);
    let text = payload.split(|byte| *byte == 0).next().unwrap_or(&[]);
    String::from_utf8_lossy(text).trim().to_owned()
}

/// Returns the number in a text, decimal or hexadecimal, modulo 2⁶⁴.
fn number(payload: &[u8]) -> Option<i64> {
    let text = text(payload);
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    } as i64;
    Some(if is_negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_the_process_before() {
        let text = b"12 2 /usr/bin/x y\n12 2 some name\n400000 401000 /usr/bin/x y\nrubbish\n\
                     7f00 7fff [vdso]\n13 1 other\nzz 1 /x\n10 20 /lib/x.so\n\0";
        let mut options = Options::default();
        options.note(id::PROCESS_MAPPINGS, text, ByteOrder::Little).unwrap();
        let found: Vec<_> = options
            .process_mappings
            .iter()
            .map(|of| (of.process, of.start, of.end, &*of.path))
            .collect();
        let expected = [
            (12, 0x40_0000, 0x40_1000, "/usr/bin/x y"),
            (12, 0x7f00, 0x7fff, "[vdso]"),
            (13, 0x10, 0x20, "/lib/x.so"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn offsets_add_up() {
        let mut options = Options::default();
        options.note(id::DATE, b"0x10\0", ByteOrder::Little).unwrap();
        options.note(id::OFFSET, b"-3", ByteOrder::Little).unwrap();
        assert!(options.has_date && options.offset == 15_997);
        options.note(id::OFFSET, b"none", ByteOrder::Little).unwrap();
        assert_eq!(options.offset, 15_997);
        assert!(options.note(id::TRACE_ID, b"123", ByteOrder::Little).is_err());
        options.note(id::TRACE_CLOCK, b"local [mono] boot\n\0", ByteOrder::Little).unwrap();
        assert_eq!(options.clock.as_deref(), Some("mono"));
        options.note(id::UNAME, &[b'a'; 2 * MAX_TEXT], ByteOrder::Little).unwrap();
        assert_eq!(options.uname.map(|name| name.len()), Some(MAX_TEXT));
    }
}
