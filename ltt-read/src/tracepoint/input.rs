//! Reading of numbers and texts in the parts of a file before the pages.

use crate::schema::ByteOrder;

/// A fault in a part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) section: &'static str,
    /// The place in the file, in bytes; that of a compressed section is its start.
    pub(crate) offset: u64,
    pub(crate) reason: &'static str,
}

/// A reader of successive values of a section.
#[derive(Debug, Clone)]
pub(crate) struct Input<'a> {
    rest: &'a [u8],
    order: ByteOrder,
    section: &'static str,
    /// The place of `rest` in the file.
    offset: u64,
    /// `true` if the bytes were compressed in the file.
    is_unpacked: bool,
}

/// The greatest size of a text with its null byte. Texts are names, some of which are copied to each
/// event type.
const MAX_TEXT: usize = 1024;

pub(crate) const ENDS: &str = "it ends too early";

impl<'a> Input<'a> {
    /// Creates a reader of a file from an offset on.
    pub(crate) fn at(file: &'a [u8], offset: u64, order: ByteOrder, section: &'static str) -> Self {
        let rest = usize::try_from(offset).ok().and_then(|at| file.get(at..)).unwrap_or(&[]);
        Input { rest, order, section, offset, is_unpacked: false }
    }

    /// Creates a reader of a part of a file, which starts at an offset.
    pub(crate) fn arriving(
        part: &'a [u8],
        offset: u64,
        order: ByteOrder,
        section: &'static str,
    ) -> Self {
        Input { rest: part, order, section, offset, is_unpacked: false }
    }

    /// Creates a reader of the contents of a compressed section, which starts at an offset of the file.
    pub(crate) fn unpacked(
        contents: &'a [u8],
        offset: u64,
        order: ByteOrder,
        section: &'static str,
    ) -> Self {
        Input { rest: contents, order, section, offset, is_unpacked: true }
    }

    /// Names the section that follows.
    pub(crate) fn enter(&mut self, section: &'static str) {
        self.section = section;
    }

    /// Sets the byte order of what follows.
    pub(crate) fn set_order(&mut self, order: ByteOrder) {
        self.order = order;
    }

    pub(crate) fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns the place in the file, in bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns `true` if nothing follows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns a fault at the current place.
    pub(crate) fn fault(&self, reason: &'static str) -> Fault {
        Fault { section: self.section, offset: self.offset, reason }
    }

    /// Reads some bytes.
    pub(crate) fn take(&mut self, count: u64) -> Result<&'a [u8], Fault> {
        let split = usize::try_from(count).ok().and_then(|count| self.rest.split_at_checked(count));
        let (bytes, rest) = split.ok_or_else(|| self.fault(ENDS))?;
        self.rest = rest;
        if !self.is_unpacked {
            self.offset += count;
        }
        Ok(bytes)
    }

    /// Reads a number of at most 8 bytes.
    fn number(&mut self, size: u64) -> Result<u64, Fault> {
        let bytes = self.take(size)?;
        let value = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Ok(match self.order {
            ByteOrder::Little => bytes.iter().rev().fold(0, value),
            ByteOrder::Big => bytes.iter().fold(0, value),
        })
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Fault> {
        self.number(1).map(|number| number as u8)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Fault> {
        self.number(2).map(|number| number as u16)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Fault> {
        self.number(4).map(|number| number as u32)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Fault> {
        self.number(8)
    }

    /// Reads a text up to its null byte.
    pub(crate) fn text(&mut self) -> Result<String, Fault> {
        let start = self.rest.get(..MAX_TEXT).unwrap_or(self.rest);
        let end = memchr::memchr(0, start).ok_or_else(|| self.fault("a text has no end"))?;
        let text = self.take(end as u64)?;
        self.take(1)?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Reads bytes after their number, which has 64 bits.
    pub(crate) fn block(&mut self) -> Result<&'a [u8], Fault> {
        let size = self.u64()?;
        self.take(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_a_greatest_size() {
        let read = |len: usize| {
            let bytes = [vec![b'a'; len], vec![0; 2]].concat();
            Input::at(&bytes, 0, ByteOrder::Little, "texts").text()
        };
        assert_eq!(read(MAX_TEXT - 1), Ok("a".repeat(MAX_TEXT - 1)));
        assert!(read(MAX_TEXT).is_err());
        assert!(Input::at(b"a", 0, ByteOrder::Little, "texts").text().is_err());
    }
}
