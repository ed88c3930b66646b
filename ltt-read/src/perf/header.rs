//! The parts of a file before its records.

use std::ops::Range;

use super::attributes::Attribute;
use super::features::Features;
use crate::schema::ByteOrder;
use crate::tracepoint::input::{Fault, Input};

/// The first bytes of a file in little-endian and in big-endian byte order.
pub(super) const MAGIC: [&[u8; 8]; 2] = [b"PERFILE2", b"2ELIFREP"];

/// The first bytes of a file of the version before 2010.
pub(super) const OLD_MAGIC: &[u8; 8] = b"PERFFILE";

/// The size of the header of a pipe.
const PIPE_HEADER: u64 = 16;

/// The size of the place of the ids after an attribute.
const IDS_PLACE: u64 = 16;

/// The greatest number of attributes. Recordings have at most some thousands.
const MAX_ATTRIBUTES: usize = 1 << 14;

/// The greatest number of ids of all attributes.
const MAX_IDS: usize = 1 << 22;

/// The greatest number of stored warnings.
const MAX_WARNINGS: usize = 1024;

/// The number of the feature that says that records are compressed.
const COMPRESSED: u64 = 27;

/// Returns the end of the records in a file that is no pipe; `None` if it does not say so yet, as long as it is being
/// written.
pub(crate) fn end_of_records(file: &[u8]) -> Option<u64> {
    let (begin, size) = data_section(file).filter(|(_, size)| *size > 0)?;
    Some(begin.saturating_add(size))
}

/// Returns the offset and the size of the records by the header of a file that is no pipe.
fn data_section(file: &[u8]) -> Option<(u64, u64)> {
    let order = match file.first_chunk()? {
        magic if magic == MAGIC[0] => ByteOrder::Little,
        magic if magic == MAGIC[1] => ByteOrder::Big,
        _ => return None,
    };
    let mut input = Input::at(file, 8, order, "file header");
    let header_size = input.u64().ok()?;
    // The attributes are in between.
    input.take(24).ok()?;
    let section = (input.u64().ok()?, input.u64().ok()?);
    (header_size != PIPE_HEADER).then_some(section)
}

/// The facts in a file apart from its records, and the place of these.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) order: ByteOrder,
    pub(super) attributes: Vec<Attribute>,
    pub(super) features: Features,
    pub(super) warnings: Vec<String>,
    /// The records: a part of the file.
    pub(super) records: Range<u64>,
    /// `true` if the records are those of a pipe, or said to be compressed.
    pub(super) is_packed: bool,
    ids: usize,
}

impl Recording {
    /// Reads the header and the features of a file; `None` if it has not the magic number.
    pub(super) fn read(file: &[u8]) -> Option<Result<Recording, Fault>> {
        let order = match file.first_chunk()? {
            magic if magic == MAGIC[0] => ByteOrder::Little,
            magic if magic == MAGIC[1] => ByteOrder::Big,
            magic if magic == OLD_MAGIC => {
                let input = Input::at(file, 0, ByteOrder::Little, "file header");
                return Some(Err(input.fault("version 1 of the format is not supported")));
            }
            _ => return None,
        };
        let recording = Recording {
            order,
            attributes: Vec::new(),
            features: Features::default(),
            warnings: Vec::new(),
            records: 0..0,
            is_packed: false,
            ids: 0,
        };
        Some(recording.read_header(file))
    }

    fn read_header(mut self, file: &[u8]) -> Result<Recording, Fault> {
        let mut input = Input::at(file, 8, self.order, "file header");
        match input.u64()? {
            PIPE_HEADER => {
                self.records = PIPE_HEADER..file.len() as u64;
                self.is_packed = true;
            }
            _ => self.is_packed = self.read_file(file, input)?,
        }
        Ok(self)
    }

    /// Returns the offset of the records in a file that is no pipe; `None` if the header is not there.
    pub(super) fn begin_of_records(file: &[u8]) -> Option<u64> {
        Some(data_section(file)?.0)
    }

    /// Reads the header of a file that is no pipe. Returns `true` if it has compressed records.
    fn read_file(&mut self, file: &[u8], mut input: Input<'_>) -> Result<bool, Fault> {
        let entry = input.u64()?;
        let (attributes, attributes_size) = (input.u64()?, input.u64()?);
        let (data, mut size) = (input.u64()?, input.u64()?);
        input.take(16)?; // event types, which are not used
        let mut bits = Vec::new();
        for word in 0..4 {
            let flags = input.u64()?;
            bits.extend((0..64).filter(|bit| flags >> bit & 1 != 0).map(|bit| 64 * word + bit));
        }
        if size == 0 {
            self.warn("recording has not ended: there are no descriptions of events, which perf writes at the \
                 end of a file, but at the start of a pipe (`-o -`)".to_owned());
            size = (file.len() as u64).saturating_sub(data);
            bits.clear();
        }
        self.records = data..data.saturating_add(size);
        let mut input = Input::at(file, attributes, self.order, "attributes");
        if entry <= IDS_PLACE {
            return Err(input.fault("an attribute is too short"));
        }
        for _ in 0..attributes_size / entry {
            let bytes = input.take(entry - IDS_PLACE)?;
            let (at, size) = (input.u64()?, input.u64()?);
            let ids = Input::at(file, at, self.order, "ids").take(size)?;
            self.add_attribute(bytes, ids)?;
        }
        let mut places = Input::at(file, self.records.end, self.order, "features");
        for bit in &bits {
            let result = (|| {
                let (at, size) = (places.u64()?, places.u64()?);
                let payload = Input::at(file, at, self.order, "features").take(size)?;
                self.feature(*bit, payload, at)
            })();
            self.keep(result);
        }
        Ok(bits.contains(&COMPRESSED))
    }

    /// Returns a fault if there are no attributes, without which no record can be read.
    pub(super) fn check(&self) -> Result<(), Fault> {
        match self.attributes.is_empty() {
            true => Err(Input::at(&[], 0, self.order, "attributes").fault("there are none")),
            false => Ok(()),
        }
    }

    /// Adds an attribute with its ids.
    pub(super) fn add_attribute(&mut self, bytes: &[u8], ids: &[u8]) -> Result<(), Fault> {
        let mut attribute = Attribute::read(bytes, self.order)?;
        let mut input = Input::unpacked(ids, 0, self.order, "ids");
        self.ids = self.ids.saturating_add(ids.len() / 8);
        if self.attributes.len() >= MAX_ATTRIBUTES || self.ids > MAX_IDS {
            return Err(input.fault("there are too many"));
        }
        while let Ok(id) = input.u64() {
            attribute.ids.push(id);
        }
        self.attributes.push(attribute);
        Ok(())
    }

    /// Notes a feature.
    pub(super) fn feature(&mut self, bit: u64, payload: &[u8], at: u64) -> Result<(), Fault> {
        self.features.note(bit, payload, at, self.order, &mut self.attributes)
    }

    /// Notes a fault that does not prevent reading.
    pub(super) fn keep(&mut self, result: Result<(), Fault>) {
        if let Err(Fault { section, offset, reason }) = result {
            self.warn(format!("{section}, byte {offset}: {reason}"));
        }
    }

    pub(super) fn warn(&mut self, text: String) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(text);
        }
    }
}
