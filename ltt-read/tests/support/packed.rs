//! Files that are compressed as a whole.

use std::fs;
use std::io::Read;
use std::path::Path;

/// Returns the contents of a file, which may be compressed.
pub(crate) fn unpacked(path: &Path) -> Vec<u8> {
    let (bytes, mut contents) = (fs::read(path).unwrap(), Vec::new());
    match path.extension().and_then(|end| end.to_str()) {
        Some("zst") => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(&*bytes);
            _ = decoder.unwrap().read_to_end(&mut contents).unwrap();
        }
        Some("gz") => _ = flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut contents).unwrap(),
        _ => return bytes,
    }
    contents
}
