//! Which block has a text, and texts that are ready to be given out.
//!
//! In a block a text is bytes, of which each use has to find out that they are UTF-8. The
//! same texts are asked for again and again; so each is copied when it is first asked for.
//! Only so many are copied, and none that are long, that the memory for it is bounded.

use std::sync::OnceLock;

use super::file::BlockEntry;

/// Texts that may be copied: the first ones, which most intervals have.
const MOST: usize = 1 << 16;

/// Longer ones are not copied, in bytes.
const LONGEST: usize = 128;

/// Which blocks have texts.
#[derive(Debug)]
pub(super) struct Texts {
    /// First number of the texts of each block that has some, and its index.
    blocks: Vec<(u64, usize)>,
    /// By number, those that were copied.
    copied: Box<[OnceLock<Box<str>>]>,
}

impl Texts {
    pub(super) fn of(blocks: &[BlockEntry]) -> Texts {
        let with_texts = || blocks.iter().enumerate().filter(|(_, block)| block.head.texts > 0);
        let behind = |(_, block): (usize, &BlockEntry)| {
            (block.head.first_text as usize).saturating_add(block.head.texts as usize)
        };
        let count = with_texts().next_back().map_or(0, behind).min(MOST);
        Texts {
            blocks: with_texts().map(|(i, block)| (block.head.first_text.into(), i)).collect(),
            copied: (0..count).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The blocks that have texts.
    pub(super) fn blocks(&self) -> impl Iterator<Item = usize> {
        self.blocks.iter().map(|(_, block)| *block)
    }

    /// The block that has the text with a number, and its place there.
    #[inline(always)]
    pub(super) fn find(&self, id: u64) -> Option<(usize, u64)> {
        let at = self.blocks.partition_point(|(first, _)| *first <= id).checked_sub(1)?;
        let (first, block) = *self.blocks.get(at)?;
        Some((block, id - first))
    }

    /// A text that was copied.
    #[inline(always)]
    pub(super) fn copied(&self, id: u64) -> Option<&str> {
        Some(self.copied.get(usize::try_from(id).ok()?)?.get()?)
    }

    /// Copies a text, if it is worth that.
    pub(super) fn copy(&self, id: u64, text: &str) {
        if text.len() <= LONGEST
            && let Some(place) = usize::try_from(id).ok().and_then(|id| self.copied.get(id))
        {
            // Somebody else may have been faster.
            let _ = place.set(text.into());
        }
    }
}
