//! Streams of compressed records, decompressed as their bytes arrive.

use crate::report::DecodeError;

/// The greatest number of decompressed bytes for each compressed one. Recordings have some tens.
#[cfg(feature = "compression")]
const MAX_RATIO: u64 = 256;

/// The number of decompressed bytes that a stream may have in any case.
#[cfg(feature = "compression")]
const MIN_LIMIT: u64 = 1 << 20;

/// A stream of frames, of which perf writes one that it never ends.
///
/// The decoder keeps the last part of a frame back as long as what follows may refer to it.
#[derive(Default)]
pub(super) struct Frames {
    /// The bytes that were not decompressed yet: less than a block.
    #[cfg(feature = "compression")]
    packed: Vec<u8>,
    #[cfg(feature = "compression")]
    frame: Option<Frame>,
    /// The numbers of bytes so far, compressed and decompressed.
    #[cfg(feature = "compression")]
    sizes: (u64, u64),
}

/// A frame that has not ended.
#[cfg(feature = "compression")]
struct Frame {
    decoder: Box<ruzstd::decoding::FrameDecoder>,
    has_checksum: bool,
}

#[cfg(feature = "compression")]
impl Frames {
    /// Adds compressed bytes, and appends the decompressed ones that are known to `to`.
    pub(super) fn push(&mut self, packed: &[u8], to: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.packed.extend_from_slice(packed);
        self.sizes.0 += packed.len() as u64;
        self.decode(to)
    }

    /// Appends the rest of a frame that was not ended to `to`.
    pub(super) fn finish(&mut self, to: &mut Vec<u8>) -> Result<(), DecodeError> {
        let is_cut = !self.packed.is_empty();
        self.packed.clear();
        if let Some(Frame { has_checksum, .. }) = self.frame {
            // The last block of a frame, which is empty.
            self.packed.extend([1, 0, 0]);
            self.packed.extend(has_checksum.then_some([0; 4]).into_iter().flatten());
            self.decode(to)?;
        }
        match is_cut {
            true => Err(DecodeError::DamagedCompression),
            false => Ok(()),
        }
    }

    /// Decodes the blocks that are there.
    fn decode(&mut self, to: &mut Vec<u8>) -> Result<(), DecodeError> {
        use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
        /// The size of the header of a block, in bytes.
        const BLOCK: usize = 3;
        let damaged = DecodeError::DamagedCompression;
        let mut at = 0;
        let result = loop {
            let rest = self.packed.get(at..).unwrap_or(&[]);
            let Some(frame) = &mut self.frame else {
                let Some(descriptor) = rest.get(4).copied() else { break Ok(()) };
                let Some(mut header) = rest.get(..header_size(descriptor)) else { break Ok(()) };
                at += header.len();
                let mut decoder = Box::new(FrameDecoder::new());
                if decoder.reset(&mut header).is_err() {
                    break Err(damaged);
                }
                let has_checksum = descriptor & 4 != 0;
                self.frame = Some(Frame { decoder, has_checksum });
                continue;
            };
            let Some([a, b, c]) = rest.first_chunk::<BLOCK>().copied() else { break Ok(()) };
            let header = u32::from_le_bytes([a, b, c, 0]);
            let (is_last, kind) = (header & 1 != 0, header >> 1 & 3);
            let size = if kind == 1 { 1 } else { header as usize >> 3 };
            let checksum = if is_last && frame.has_checksum { 4 } else { 0 };
            let Some(mut block) = rest.get(..BLOCK + size + checksum) else { break Ok(()) };
            let step = BlockDecodingStrategy::UptoBlocks(1);
            let decoded = frame.decoder.decode_blocks(&mut block, step);
            at += BLOCK + size + checksum;
            let before = to.len();
            let collected = frame.decoder.collect_to_writer(&mut *to);
            self.sizes.1 += (to.len() - before) as u64;
            let is_too_large = self.sizes.1 > self.sizes.0.saturating_mul(MAX_RATIO).max(MIN_LIMIT);
            if decoded.is_err() || collected.is_err() || is_too_large {
                break Err(damaged);
            }
            if is_last {
                self.frame = None;
            }
        };
        self.packed.drain(..at.min(self.packed.len()));
        result
    }
}

/// Returns the size of the header of a frame in bytes, given its descriptor.
#[cfg(feature = "compression")]
fn header_size(descriptor: u8) -> usize {
    let is_single = descriptor & 0x20 != 0;
    let window = usize::from(!is_single);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content = [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)];
    4 + 1 + window + dictionary + content
}

#[cfg(not(feature = "compression"))]
impl Frames {
    /// Decompresses nothing: the feature is off.
    pub(super) fn push(&mut self, _: &[u8], _: &mut Vec<u8>) -> Result<(), DecodeError> {
        Err(DecodeError::UnknownCompression)
    }

    /// Decompresses nothing: the feature is off.
    pub(super) fn finish(&mut self, _: &mut Vec<u8>) -> Result<(), DecodeError> {
        Ok(())
    }
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frames").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "compression")]
    use super::*;

    #[cfg(feature = "compression")]
    #[test]
    fn streams_may_arrive_in_any_parts() {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        let text: Vec<u8> = (0..300_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let packed = compress_to_vec(&*text, CompressionLevel::Fastest);
        let packed = [&packed[..], &packed].concat();
        let expected = [&text[..], &text].concat();
        for step in [1, 7, 1000, 1 << 16, packed.len()] {
            let (mut frames, mut found) = (Frames::default(), Vec::new());
            for part in packed.chunks(step) {
                frames.push(part, &mut found).unwrap();
            }
            frames.finish(&mut found).unwrap();
            assert!(found == expected, "{step}");
        }
        // Without its last block, everything before that is there.
        let (mut frames, mut found) = (Frames::default(), Vec::new());
        frames.push(&packed[..packed.len() / 4], &mut found).unwrap();
        assert!(frames.finish(&mut found).is_err());
        assert!(!found.is_empty() && expected.starts_with(&found));
        assert!(Frames::default().push(&[7; 100], &mut found).is_err());
    }
}
