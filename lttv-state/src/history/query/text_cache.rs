//! The location of texts in blocks, and a cache of texts.
//!
//! A text in a block is a byte string, which has to be checked to be UTF-8 at each use.
//! Since the same texts are used again and again, each is copied on its first use. The
//! number and the length of the copied texts are limited, which bounds the memory for them.

use std::sync::OnceLock;

use crate::history::file::index::BlockEntry;

/// The number of texts that can be cached: the first ones, which most intervals refer to.
const MAX_CACHED: usize = 1 << 16;

/// The greatest length of a cached text, in bytes.
const MAX_CACHED_LEN: usize = 128;

/// The blocks of all texts, and a cache of texts.
#[derive(Debug)]
pub(crate) struct TextCache {
    /// For each block with texts, the number of its first text, and the block's index.
    blocks: Vec<(u64, usize)>,
    /// The cached texts, by number.
    cached: Box<[OnceLock<Box<str>>]>,
}

impl TextCache {
    pub(crate) fn of(blocks: &[BlockEntry]) -> TextCache {
        let with_texts = || blocks.iter().enumerate().filter(|(_, block)| block.head.texts > 0);
        let end = |(_, block): (usize, &BlockEntry)| {
            (block.head.first_text as usize).saturating_add(block.head.texts as usize)
        };
        let count = with_texts().next_back().map_or(0, end).min(MAX_CACHED);
        TextCache {
            blocks: with_texts().map(|(i, block)| (block.head.first_text.into(), i)).collect(),
            cached: (0..count).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Iterates over the blocks that contain texts.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = usize> {
        self.blocks.iter().map(|(_, block)| *block)
    }

    /// Returns the block that contains the text with a number, and its index there.
    #[inline(always)]
    pub(crate) fn find(&self, id: u64) -> Option<(usize, u64)> {
        let at = self.blocks.partition_point(|(first, _)| *first <= id).checked_sub(1)?;
        let (first, block) = *self.blocks.get(at)?;
        Some((block, id - first))
    }

    /// Returns a text if it is cached.
    #[inline(always)]
    pub(crate) fn cached(&self, id: u64) -> Option<&str> {
        Some(self.cached.get(usize::try_from(id).ok()?)?.get()?)
    }

    /// Caches a text, unless it is too long or its number too great.
    pub(crate) fn insert(&self, id: u64, text: &str) {
        if text.len() <= MAX_CACHED_LEN
            && let Some(slot) = usize::try_from(id).ok().and_then(|id| self.cached.get(id))
        {
            // Another thread may have cached the same text already.
            let _ = slot.set(text.into());
        }
    }
}
