//! Compressed chunks of pages, decompressed when they are needed.

use std::sync::{Arc, Mutex, PoisonError};

use super::compression::Compression;
use crate::base::source::FileBytes;
use crate::report::DecodeError;

/// The greatest number of decompressed bytes that are kept for a trace, apart from those that cursors
/// read.
const MOST_KEPT: usize = 16 << 20;

/// The decompressed chunks of a trace that were used last.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    kept: Mutex<Kept>,
}

/// The chunks that are kept, in the order of their last use.
#[derive(Debug, Default)]
struct Kept {
    chunks: Vec<(u64, Arc<FileBytes>)>,
    size: usize,
}

/// A chunk, whose compressed bytes are a part of a file.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) chunks: Arc<Chunks>,
    pub(crate) compression: Compression,
    /// The number of the chunk in its trace.
    pub(crate) number: u64,
    /// The size of its pages in bytes.
    pub(crate) size: u32,
}

impl Chunk {
    /// Returns the pages, given the compressed bytes.
    pub(crate) fn unpack(&self, packed: &[u8]) -> Result<Arc<FileBytes>, DecodeError> {
        if let Some(found) = self.chunks.find(self.number) {
            return Ok(found);
        }
        // Not locked meanwhile: other cursors read other chunks.
        let bytes = self.compression.unpack(packed, self.size as usize)?;
        let bytes = Arc::new(FileBytes::in_memory(bytes));
        self.chunks.keep(self.number, bytes.clone());
        Ok(bytes)
    }
}

impl Chunks {
    fn find(&self, number: u64) -> Option<Arc<FileBytes>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.chunks.iter().rposition(|(known, _)| *known == number)?;
        let found = kept.chunks.remove(at);
        let bytes = found.1.clone();
        kept.chunks.push(found);
        Some(bytes)
    }

    fn keep(&self, number: u64, bytes: Arc<FileBytes>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.chunks.iter().any(|(known, _)| *known == number) {
            return;
        }
        kept.size += bytes.bytes().len();
        kept.chunks.push((number, bytes));
        let mut dropped = 0;
        while kept.size > MOST_KEPT && dropped + 1 < kept.chunks.len() {
            kept.size -= kept.chunks[dropped].1.bytes().len();
            dropped += 1;
        }
        kept.chunks.drain(..dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_chunks_are_kept() {
        let chunks = Chunks::default();
        let bytes = |size| Arc::new(FileBytes::in_memory(vec![0; size]));
        for number in 0..100 {
            chunks.keep(number, bytes(1 << 20));
            assert!(chunks.find(0).is_some(), "the first one is used");
        }
        let kept = (0..100).filter(|number| chunks.find(*number).is_some()).count();
        assert_eq!(kept, 16);
        // One is kept however large it is.
        chunks.keep(100, bytes(MOST_KEPT + 1));
        assert!(chunks.find(100).is_some() && chunks.find(99).is_none());
    }
}
