//! Finding the files of a binary.

use std::path::{Path, PathBuf};

use super::SymbolOptions;
use super::error::SymbolError;
use super::file::SymbolFile;
use crate::call_stacks::Binary;

/// Returns the files with symbols of a binary, those with debug information first, and the files that
/// cannot be used.
pub(super) fn files(
    options: &SymbolOptions,
    binary: &Binary,
) -> (Vec<SymbolFile>, Vec<SymbolError>) {
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    for (path, checksum) in candidates(options, binary) {
        if !path.is_file() {
            continue;
        }
        let opened = SymbolFile::open(&path, &binary.build_id, checksum);
        match opened.and_then(|file| match binary.has_file_offsets {
            true => file.with_segments(),
            false => Ok(file),
        }) {
            Ok(file) => files.push(file),
            Err(problem) => problems.push(problem),
        }
    }
    (files, problems)
}

/// Returns the paths at which files with symbols of a binary may be, with the checksums that the files
/// must have.
fn candidates(options: &SymbolOptions, binary: &Binary) -> Vec<(PathBuf, Option<u32>)> {
    // A place such as `[linux-vdso.so.1]` is not a file.
    let Some(path) = Some(Path::new(&*binary.path)).filter(|path| path.is_absolute()) else {
        return Vec::new();
    };
    let relative = path.strip_prefix("/").unwrap_or(path);
    let in_root = options.root.as_ref().map_or(path.to_owned(), |root| root.join(relative));
    let mut paths = Vec::new();
    let id: String = binary.build_id.iter().map(|byte| format!("{byte:02x}")).collect();
    if let Some((first, rest)) = id.split_at_checked(2) {
        let name = Path::new(".build-id").join(first).join(format!("{rest}.debug"));
        paths.extend(options.debug_folders.iter().map(|folder| (folder.join(&name), None)));
    }
    if let (Some((link, checksum)), Some(folder)) = (&binary.debug_link, in_root.parent()) {
        // A name with a folder in it would lead elsewhere.
        if let Some(name) = Path::new(&**link).file_name() {
            let beside = [folder.join(name), folder.join(".debug").join(name)];
            let of_binary = relative.parent().unwrap_or(Path::new(""));
            let debug = options.debug_folders.iter();
            let debug = debug.map(|debug| debug.join(of_binary).join(name));
            paths.extend(beside.into_iter().chain(debug).map(|path| (path, Some(*checksum))));
        }
    }
    paths.push((in_root, None));
    paths
}
