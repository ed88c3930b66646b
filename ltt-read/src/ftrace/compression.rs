//! Decompression of sections and chunks.

use crate::report::DecodeError;

/// A method of compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Zlib,
    Zstd,
    /// A method that this crate does not know.
    Unknown,
}

impl Compression {
    /// Returns the method of a name; `None` if nothing is compressed.
    pub(crate) fn named(name: &str) -> Option<Compression> {
        match name {
            "none" | "" => None,
            "zlib" => Some(Compression::Zlib),
            "zstd" => Some(Compression::Zstd),
            _ => Some(Compression::Unknown),
        }
    }

    /// Decompresses bytes of which there are `size` afterwards, which the caller has to limit.
    #[cfg(feature = "compression")]
    pub(crate) fn unpack(self, packed: &[u8], size: usize) -> Result<Vec<u8>, DecodeError> {
        let mut bytes = vec![0; size];
        let unpacked = match self {
            Compression::Zlib => {
                use miniz_oxide::inflate::core::inflate_flags::{
                    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
                };
                use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
                let flags = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
                let mut decompressor = Box::<DecompressorOxide>::default();
                let (status, _, unpacked) =
                    decompress(&mut decompressor, packed, &mut bytes, 0, flags);
                (status == miniz_oxide::inflate::TINFLStatus::Done).then_some(unpacked)
            }
            Compression::Zstd => {
                let mut decoder = ruzstd::decoding::FrameDecoder::new();
                decoder.decode_all(packed, &mut bytes).ok()
            }
            Compression::Unknown => return Err(DecodeError::UnknownCompression),
        };
        match unpacked == Some(size) {
            true => Ok(bytes),
            false => Err(DecodeError::DamagedCompression),
        }
    }

    /// Decompresses nothing: the feature is off.
    #[cfg(not(feature = "compression"))]
    pub(crate) fn unpack(self, _: &[u8], _: usize) -> Result<Vec<u8>, DecodeError> {
        Err(DecodeError::UnknownCompression)
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "compression")]
    use std::io::Write;

    #[cfg(feature = "compression")]
    use super::*;

    #[cfg(feature = "compression")]
    #[test]
    fn sizes_are_those_that_were_declared() {
        let text = b"abcabcabcabcabcabcabc".repeat(100);
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&text).unwrap();
        let packed = encoder.finish().unwrap();
        let unpack = |packed: &[u8], size| Compression::Zlib.unpack(packed, size);
        assert_eq!(unpack(&packed, text.len()).as_ref(), Ok(&text));
        for (packed, size) in [
            (&packed[..], text.len() - 1),
            (&packed, text.len() + 1),
            (&packed[..packed.len() / 2], text.len()),
            (&[], 3),
        ] {
            assert_eq!(unpack(packed, size), Err(DecodeError::DamagedCompression));
            assert!(Compression::Zstd.unpack(packed, size).is_err());
        }
    }
}
