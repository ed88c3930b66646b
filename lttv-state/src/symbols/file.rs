//! One file with symbols.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{Loader, demangle_auto};
use object::{Object, ObjectSegment, ReadCache};

use super::error::SymbolError;

/// A file with symbols.
pub(super) struct SymbolFile {
    path: PathBuf,
    /// The ranges of the file that are loaded, with the address of each, if they were read.
    segments: Vec<(Range<u64>, u64)>,
    loader: Loader,
}

/// A function's name, and the source file and line of a place.
pub(super) type Place = (Option<Arc<str>>, Option<(Arc<str>, u32)>);

impl SymbolFile {
    /// Opens a file. If the build id of the binary is known, that of the file must be the same;
    /// otherwise the checksum must be that of the file, if there is one.
    pub(super) fn open(
        path: &Path,
        build_id: &[u8],
        checksum: Option<u32>,
    ) -> Result<Self, SymbolError> {
        let read = |source| SymbolError::Read { path: path.to_owned(), source };
        let damaged = |cause: &dyn fmt::Display| SymbolError::Damaged {
            path: path.to_owned(),
            cause: cause.to_string(),
        };
        if !build_id.is_empty() {
            let bytes = fs::read(path).map_err(read)?;
            let file = object::File::parse(&*bytes).map_err(|error| damaged(&error))?;
            let own = file.build_id().map_err(|error| damaged(&error))?;
            if own != Some(build_id) {
                return Err(SymbolError::OtherVersion { path: path.to_owned() });
            }
        } else if let Some(expected) = checksum
            && checksum_of(path).map_err(read)? != expected
        {
            return Err(SymbolError::OtherVersion { path: path.to_owned() });
        }
        let loader = Loader::new(path).map_err(|error| damaged(&error))?;
        Ok(SymbolFile { path: path.to_owned(), segments: Vec::new(), loader })
    }

    /// Reads which ranges of the file are loaded, for [`address_of`](Self::address_of).
    pub(super) fn with_segments(mut self) -> Result<Self, SymbolError> {
        let read = |source| SymbolError::Read { path: self.path.clone(), source };
        let cache = ReadCache::new(fs::File::open(&self.path).map_err(read)?);
        let file = object::File::parse(&cache).map_err(|error| SymbolError::Damaged {
            path: self.path.clone(),
            cause: error.to_string(),
        })?;
        let segments = file.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            (offset..offset.saturating_add(size), segment.address())
        });
        self.segments = segments.collect();
        Ok(self)
    }

    /// Returns the address of a byte of the file; `None` if it is not loaded, as far as the file tells.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        let (range, address) = self.segments.iter().find(|(range, _)| range.contains(&offset))?;
        Some(address.wrapping_add(offset - range.start))
    }

    /// Returns the function and source line of an address in the file.
    pub(super) fn look_up(&self, address: u64) -> Result<Place, SymbolError> {
        let damaged = |cause: &dyn fmt::Display| SymbolError::Damaged {
            path: self.path.clone(),
            cause: cause.to_string(),
        };
        let mut name: Option<Arc<str>> = None;
        let mut frames = self.loader.find_frames(address).map_err(|error| damaged(&error))?;
        // The last frame is the function itself, those before it are inlined in it.
        while let Some(frame) = frames.next().map_err(|error| damaged(&error))? {
            let function = frame.function.as_ref();
            let function = function.and_then(|function| Some(function.demangle().ok()?.into()));
            name = function.or(name);
        }
        let of_symbol = || -> Option<Arc<str>> {
            let symbol = self.loader.find_symbol(address)?;
            Some(demangle_auto(Cow::Borrowed(symbol), None).into())
        };
        let location = self.loader.find_location(address).map_err(|error| damaged(&error))?;
        let source = location.and_then(|of| Some((of.file?.into(), of.line?)));
        let name = match (name, of_symbol()) {
            // Debug information of lines alone has names without their modules.
            (Some(name), Some(symbol)) if is_path_to(&symbol, &name) => Some(symbol),
            (name, symbol) => name.or(symbol),
        };
        Ok((name, source))
    }
}

/// Computes the checksum of a file that debug links contain.
fn checksum_of(path: &Path) -> io::Result<u32> {
    let mut file = fs::File::open(path)?;
    let mut checksum = crc32fast::Hasher::new();
    let mut bytes = vec![0; 1 << 16];
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(checksum.finalize()),
            read => checksum.update(&bytes[..read]),
        }
    }
}

/// Returns `true` if a demangled symbol is a path to a function with a name, as `shop::add` is one to
/// `add`.
fn is_path_to(symbol: &str, name: &str) -> bool {
    symbol.strip_suffix(name).is_some_and(|module| module.ends_with("::"))
}

impl fmt::Debug for SymbolFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SymbolFile").field("path", &self.path).finish_non_exhaustive()
    }
}
