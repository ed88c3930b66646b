//! `lttv` alone: the traces of the user and of the current directory.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lttv_archive::{Kind, kind};
use lttv_common::args::Common;
use lttv_common::report::Report;
use lttv_common::table::Table;
use lttv_common::text::quoted;
use lttv_common::units::bytes;

/// The folder below the home directory in which LTTng creates sessions.
const SESSIONS: &str = "lttng-traces";

/// The greatest number of entries of a folder that are looked at.
const MAX_ENTRIES: usize = 1000;

/// The greatest number of files of a trace that are counted.
const MAX_FILES: usize = 10_000;

/// The greatest depth of traces in a folder: LTTng has the session, the domain, the user and the bits.
const MAX_DEPTH: u32 = 5;

/// The number of traces that are shown.
const SHOWN: usize = 20;

/// The first bytes of recordings of perf and ftrace, with the names of the tracers.
const MAGIC: [(&[u8], &str); 3] =
    [(b"PERFILE2", "perf"), (b"2ELIFREP", "perf"), (b"\x17\x08\x44tracing", "ftrace")];

/// The ends of the names of archives. Other files are not looked into.
const ARCHIVES: [&str; 6] = [".tar", ".tgz", ".tar.gz", ".gz", ".zst", ".zip"];

/// A trace, or an archive that may contain some.
#[derive(Debug)]
struct Found {
    path: PathBuf,
    kind: &'static str,
    size: u64,
    changed: SystemTime,
}

/// Lists the traces, the newest first, with the command that opens each of them.
///
/// # Errors
///
/// If the output cannot be written.
pub fn run(_: &mut Report) -> Result<(), Box<dyn Error>> {
    let mut all = in_folder(Path::new("."));
    if let Some(home) = std::env::var_os("HOME").filter(|home| !home.is_empty()) {
        all.extend(in_folder(&Path::new(&home).join(SESSIONS)));
    }
    all.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.path.cmp(&b.path)));
    let more = all.len().saturating_sub(SHOWN);
    all.truncate(SHOWN);
    let now = SystemTime::now();
    let tables = match all.is_empty() {
        true => Vec::new(),
        false => vec![table(&all, now)],
    };
    Common::default().write_and(tables, &[], |out| {
        match (all.is_empty(), more) {
            (true, _) => writeln!(out, "There are no traces here or in ~/{SESSIONS}.\n")?,
            (false, 0) => {}
            (false, more) => writeln!(out, "… and {more} older ones\n")?,
        }
        out.write_all(
            b"lttv record -- COMMAND    records one\n\
              lttv --help               shows all commands\n",
        )
    })
}

fn table(all: &[Found], now: SystemTime) -> Table {
    let age_of = |of: &Found| age(now.duration_since(of.changed).unwrap_or_default());
    Table::of("traces", "Traces, the newest first".to_owned(), all)
        .text("kind", "KIND", |of| of.kind)
        .text("size", "SIZE", |of| bytes(of.size))
        .text("age", "AGE", age_of)
        .text("command", "COMMAND", |of| format!("lttv {}", quoted::shell_word(&of.path)))
        .build()
}

/// Returns the traces in a folder: files, and folders that contain traces. What cannot be read is none.
fn in_folder(folder: &Path) -> Vec<Found> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_ENTRIES);
    let found = entries.filter_map(|entry| {
        let path = entry.path();
        let path = path.strip_prefix(".").map_or(path.clone(), Path::to_owned);
        let of = fs::metadata(&path).ok()?;
        let kind = match of.is_dir() {
            true => kind_of_folder(&path, MAX_DEPTH)?,
            false => kind_of_file(&path)?,
        };
        let size = if of.is_dir() { size(&path) } else { of.len() };
        Some(Found { path, kind, size, changed: of.modified().ok()? })
    });
    found.collect()
}

/// Returns the kind of a file, if it is a recording or an archive.
fn kind_of_file(path: &Path) -> Option<&'static str> {
    use std::io::Read;
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut start = Vec::new();
    fs::File::open(path).ok()?.take(16).read_to_end(&mut start).ok()?;
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Some(name);
    }
    let name = path.file_name()?.to_string_lossy().into_owned();
    if !ARCHIVES.iter().any(|end| name.ends_with(end)) {
        return None;
    }
    match kind(path).ok()?? {
        Kind::Tar(_) | Kind::Zip => Some("archive"),
        // Many other files are packed.
        Kind::File(_) => {
            Some("packed file").filter(|_| name.contains(".dat") || name.contains(".data"))
        }
    }
}

/// Returns the kind of the first trace in a folder.
fn kind_of_folder(folder: &Path, depth: u32) -> Option<&'static str> {
    if folder.join("metadata").is_file() {
        return Some("CTF");
    }
    let depth = depth.checked_sub(1)?;
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .take(MAX_ENTRIES)
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    let is_recording = |path: &PathBuf| {
        kind_of_file(path).filter(|kind| MAGIC.iter().any(|(_, name)| name == kind))
    };
    let folders = paths.iter().filter(|path| path.is_dir() && !path.is_symlink());
    paths
        .iter()
        .find_map(is_recording)
        .or_else(|| folders.into_iter().find_map(|path| kind_of_folder(path, depth)))
}

/// Returns the size of the files in a folder in bytes, up to the greatest number of files.
fn size(folder: &Path) -> u64 {
    let (mut bytes, mut files, mut folders) = (0_u64, 0, vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            files += 1;
            if files > MAX_FILES {
                return bytes;
            }
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => bytes = bytes.saturating_add(found.len()),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// Returns an age in the greatest unit of which there is at least one.
fn age(age: Duration) -> String {
    const UNITS: [(&str, u64); 4] =
        [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)];
    let seconds = age.as_secs().max(1);
    let (name, per) = UNITS.into_iter().find(|(_, per)| seconds >= *per).unwrap_or(UNITS[3]);
    match seconds / per {
        1 => format!("1 {name}"),
        more => format!("{more} {name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        let of = |seconds| age(Duration::from_secs(seconds));
        assert_eq!(
            [of(0), of(59), of(60), of(7300), of(200_000)],
            ["1 second", "59 seconds", "1 minute", "2 hours", "2 days"]
        );
    }

    #[test]
    fn bundled_traces_are_found() {
        let traces = in_folder(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces")));
        let kind = |name: &str| traces.iter().find(|of| of.path.ends_with(name)).map(|of| of.kind);
        assert_eq!(kind("kernel"), Some("CTF"));
        assert_eq!(kind("perf"), Some("perf"));
        assert_eq!(kind("ftrace"), Some("ftrace"));
        assert!(traces.iter().all(|of| of.size > 1000));
    }
}
