//! Recordings of ftrace, made byte by byte.

use std::io::Write;

use ltt_read::schema::ByteOrder;

/// A recording of one event system with descriptions and pages.
#[derive(Debug, Clone)]
pub(crate) struct FtraceFile {
    pub(crate) machine: Machine,
    /// The name of the system of the events.
    pub(crate) system: &'static str,
    /// The descriptions of the events.
    pub(crate) formats: Vec<String>,
    /// The CPUs with their pages.
    pub(crate) cpus: Vec<(u32, Vec<u8>)>,
}

/// The kind of the recording machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) order: ByteOrder,
    /// The size of a `long` in bytes.
    pub(crate) long: usize,
    pub(crate) page_size: usize,
}

/// The common fields of all descriptions.
const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
\n";

/// Returns the description of an event. Each field is given by its declaration, its offset, its size
/// and 1 if it is signed.
pub(crate) fn format(name: &str, id: u16, fields: &[(&str, usize, usize, u8)]) -> String {
    let mut text = format!("name: {name}\nID: {id}\nformat:\n{COMMON}");
    for (declaration, offset, size, signed) in fields {
        text +=
            &format!("\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n");
    }
    text + "\nprint fmt: \"\"\n"
}

impl Machine {
    /// Returns a number in the machine's byte order.
    pub(crate) fn number(&self, value: u64, size: usize) -> Vec<u8> {
        match self.order {
            ByteOrder::Little => value.to_le_bytes()[..size].to_vec(),
            ByteOrder::Big => value.to_be_bytes()[8 - size..].to_vec(),
        }
    }

    /// Returns a record header.
    pub(crate) fn header(&self, kind: u32, delta: u32) -> Vec<u8> {
        let word = match self.order {
            ByteOrder::Little => delta << 5 | kind,
            ByteOrder::Big => kind << 27 | delta,
        };
        self.number(word.into(), 4)
    }

    /// Returns the common fields of a record.
    pub(crate) fn common(&self, id: u16, pid: i32) -> Vec<u8> {
        [self.number(id.into(), 2), vec![1, 2], self.number(pid as u32 as u64, 4)].concat()
    }

    /// Returns an event with its header.
    pub(crate) fn event(&self, delta: u32, record: &[u8]) -> Vec<u8> {
        assert!(record.len().is_multiple_of(4));
        match record.len() / 4 {
            words @ 1..=28 => [self.header(words as u32, delta), record.to_vec()].concat(),
            words => {
                let size = self.number(4 * words as u64 + 4, 4);
                [self.header(0, delta), size, record.to_vec()].concat()
            }
        }
    }

    /// Returns a page with some records. `lost` is the number of lost events before it; `None` if it
    /// is not known.
    pub(crate) fn page(
        &self,
        time: u64,
        records: &[Vec<u8>],
        lost: Option<Option<u64>>,
    ) -> Vec<u8> {
        let data = records.concat();
        let flags = match lost {
            None => 0,
            Some(None) => 1 << 31,
            Some(Some(_)) => 3 << 30,
        };
        let commit = data.len() as u64 | flags;
        let mut page = [self.number(time, 8), self.number(commit, self.long), data].concat();
        if let Some(Some(lost)) = lost {
            page.extend(self.number(lost, self.long));
        }
        assert!(page.len() <= self.page_size);
        page.resize(self.page_size, 0xee);
        page
    }
}

impl FtraceFile {
    fn start(&self, version: &str) -> Vec<u8> {
        let Machine { order, long, page_size } = self.machine;
        let order = u8::from(order == ByteOrder::Big);
        let head = [b"\x17\x08\x44tracing", version.as_bytes(), &[0, order, long as u8]].concat();
        [head, self.machine.number(page_size as u64, 4)].concat()
    }

    fn block(&self, contents: &[u8], size: usize) -> Vec<u8> {
        [self.machine.number(contents.len() as u64, size), contents.to_vec()].concat()
    }

    fn header_info(&self) -> Vec<u8> {
        let page = format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:{};\tsigned:1;\n",
            self.machine.long
        );
        let page = self.block(page.as_bytes(), 8);
        [&b"header_page\0"[..], &page, b"header_event\0", &self.block(b"type_len", 8)].concat()
    }

    fn event_formats(&self) -> Vec<u8> {
        let system = [self.system.as_bytes(), b"\0"].concat();
        let mut all = [self.machine.number(1, 4), system].concat();
        all.extend(self.machine.number(self.formats.len() as u64, 4));
        self.formats.iter().for_each(|format| all.extend(self.block(format.as_bytes(), 8)));
        all
    }

    /// Returns the file in version 6.
    pub(crate) fn version_6(&self) -> Vec<u8> {
        let number = |value, size| self.machine.number(value, size);
        let mut file = [self.start("6"), self.header_info(), number(0, 4)].concat();
        file.extend(self.event_formats());
        file.extend([number(0, 4), number(0, 4), self.block(b"7 comm\n", 8)].concat());
        let cpus = self.cpus.iter().map(|(cpu, _)| *cpu as usize + 1).max().unwrap_or(0);
        file.extend(number(cpus as u64, 4));
        file.extend(b"options  \0");
        file.extend([number(4, 2), self.block(b"[local] mono\0", 4), number(0, 2)].concat());
        file.extend(b"flyrecord\0");
        let mut offset = (file.len() + 16 * cpus).next_multiple_of(self.machine.page_size);
        let mut data = Vec::new();
        for cpu in 0..cpus {
            let pages = self.cpus.iter().find(|(of, _)| *of as usize == cpu);
            let pages = pages.map_or(&[][..], |(_, pages)| pages);
            file.extend([number(offset as u64, 8), number(pages.len() as u64, 8)].concat());
            data.extend_from_slice(pages);
            offset += pages.len();
        }
        file.resize(offset - data.len(), 0);
        file.extend(data);
        file
    }

    /// Returns the file in version 7, compressed with zlib if wanted.
    pub(crate) fn version_7(&self, is_compressed: bool) -> Vec<u8> {
        self.write_7(is_compressed, 0)
    }

    /// Returns the file in version 7, compressed as by `trace-cmd convert`: sizes of data do not count the number of
    /// chunks before them.
    pub(crate) fn converted(&self) -> Vec<u8> {
        self.write_7(true, 4)
    }

    fn write_7(&self, is_compressed: bool, uncounted: usize) -> Vec<u8> {
        let number = |value, size| self.machine.number(value, size);
        let mut file = self.start("7");
        file.extend(if is_compressed { &b"zlib\x001\0"[..] } else { b"none\0\0" });
        let place_of_options = file.len();
        file.extend([0; 8]);
        let mut options = Vec::new();
        for (id, contents) in [(16, self.header_info()), (18, self.event_formats())] {
            options.extend([number(id, 2), self.block(&number(file.len() as u64, 8), 4)].concat());
            file.extend(self.section(id, &contents, is_compressed));
        }
        options.extend([number(4, 2), self.block(b"[local] mono\0", 4)].concat());
        let buffer = file.len() as u64;
        let flags = u64::from(is_compressed);
        file.extend([number(3, 2), number(flags, 2), number(0, 4), number(0, 8)].concat());
        let mut of_buffer = [number(buffer, 8), b"\0local\0".to_vec()].concat();
        of_buffer.extend(number(self.machine.page_size as u64, 4));
        of_buffer.extend(number(self.cpus.len() as u64, 4));
        for (cpu, pages) in &self.cpus {
            if !is_compressed {
                file.resize(file.len().next_multiple_of(self.machine.page_size), 0);
            }
            let begin = file.len();
            match is_compressed {
                true => {
                    let chunks = pages.chunks(2 * self.machine.page_size);
                    file.extend(number(chunks.len() as u64, 4));
                    chunks.for_each(|chunk| file.extend(self.packed(chunk)));
                }
                false => file.extend_from_slice(pages),
            }
            of_buffer.extend(number((*cpu).into(), 4));
            of_buffer.extend(number(begin as u64, 8));
            of_buffer.extend(number((file.len() - begin - uncounted) as u64, 8));
        }
        let size = number(file.len() as u64 - buffer - 16, 8);
        file[buffer as usize + 8..][..8].copy_from_slice(&size);
        options.extend([number(3, 2), self.block(&of_buffer, 4)].concat());
        options.extend([number(0, 2), self.block(&[0; 8], 4)].concat());
        let place = number(file.len() as u64, 8);
        file[place_of_options..][..8].copy_from_slice(&place);
        file.extend(self.section(0, &options, is_compressed));
        file
    }

    /// Returns a section with its header.
    fn section(&self, id: u64, contents: &[u8], is_compressed: bool) -> Vec<u8> {
        let number = |value, size| self.machine.number(value, size);
        let contents = match is_compressed {
            true => self.packed(contents),
            false => contents.to_vec(),
        };
        let flags = u64::from(is_compressed);
        let size = contents.len() as u64;
        [number(id, 2), number(flags, 2), number(0, 4), number(size, 8), contents].concat()
    }

    /// Returns compressed bytes after both sizes.
    fn packed(&self, bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        let packed = encoder.finish().unwrap();
        let size = |size: usize| self.machine.number(size as u64, 4);
        [size(packed.len()), size(bytes.len()), packed].concat()
    }
}
