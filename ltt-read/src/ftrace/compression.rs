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
            #[cfg(feature = "zstd")]
            Compression::Zstd => zstd_safe::decompress(&mut bytes[..], packed).ok(),
            #[cfg(not(feature = "zstd"))]
            Compression::Zstd => unpack_in_rust(packed, &mut bytes),
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

/// Decompresses frames of zstd without the library in C. Returns the number of bytes; `None` if they are damaged or
/// do not fit.
#[cfg(all(feature = "compression", any(test, not(feature = "zstd"))))]
fn unpack_in_rust(packed: &[u8], bytes: &mut [u8]) -> Option<usize> {
    ruzstd::decoding::FrameDecoder::new().decode_all(packed, bytes).ok()
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

    /// Both decoders of zstd give the same bytes, and refuse frames that were cut or do not fit.
    #[cfg(feature = "compression")]
    #[test]
    fn zstd_is_unpacked_alike_with_and_without_the_library() {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        let text: Vec<u8> = (0..10_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let packed = compress_to_vec(&*text, CompressionLevel::Fastest);
        let in_rust = |packed: &[u8], size: usize| {
            let mut bytes = vec![0; size];
            (unpack_in_rust(packed, &mut bytes) == Some(size)).then_some(bytes)
        };
        let found = |packed: &[u8], size| Compression::Zstd.unpack(packed, size).ok();
        assert!(found(&packed, text.len()).as_ref() == Some(&text));
        assert!(in_rust(&packed, text.len()).as_ref() == Some(&text));
        for (len, size) in (0..packed.len())
            .map(|len| (len, text.len()))
            .chain([(packed.len(), text.len() - 1), (packed.len(), text.len() + 1)])
        {
            assert_eq!(found(&packed[..len], size), None, "{len}, {size}");
            assert_eq!(in_rust(&packed[..len], size), None, "{len}, {size}");
        }
        // The library refuses other damage than the decoder in Rust, but neither writes beyond the end.
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x10;
            assert!(found(&damaged, text.len()).is_none_or(|bytes| bytes.len() == text.len()));
            _ = in_rust(&damaged, text.len());
        }
    }
}
