//! Ring buffers: the places of their pages in a file.

use super::compression::Compression;

/// A ring buffer.
#[derive(Debug)]
pub(super) struct Buffer {
    /// The name; empty for the main buffer.
    pub(super) name: String,
    pub(super) clock: Option<String>,
    /// The size of a page in bytes.
    pub(super) page_size: u32,
    /// The compression of the pages, in chunks.
    pub(super) compression: Option<Compression>,
    pub(super) cpus: Vec<CpuData>,
}

/// The place of the pages of a CPU in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuData {
    pub(super) cpu: u32,
    pub(super) offset: u64,
    pub(super) size: u64,
}
