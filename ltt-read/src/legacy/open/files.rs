//! The files of a legacy trace, and detection of such traces.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::HashMap;

use super::name::Name;
use crate::base::source::{Access, FileBytes};
use crate::files::entries::{MAX_DEPTH, entries};
use crate::files::file_id::FileId;
use crate::files::findings::Findings;
use crate::files::once::FilesOnce;
use crate::legacy::blocks::block::BlockHeader;
use crate::legacy::blocks::version::Version;
use crate::report::Error;
use crate::report::NoticeKind;

/// The maximum size of a description in bytes.
const MAX_TEXT: u64 = 1 << 26;

/// The directory of the tracer's own channels before 2.3.
const CONTROL: &str = "control";
/// The description of the machine, in the format of 2003.
pub(super) const SYSTEM: &str = "info/system.xml";
/// The directory of the descriptions of facilities.
const DESCRIPTIONS: &str = "eventdefs/";

/// The channels that describe the other channels, in all versions.
const CHANNELS: [&str; 3] = ["metadata", "control/metadata", "control/facilities"];

/// A file with the name of a tracefile.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// The path in the trace's directory, with `/` as separator.
    pub(super) path: String,
    pub(super) name: Name,
    pub(super) source: Arc<FileBytes>,
}

/// The files of a trace.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// The tracefiles, sorted by channel and CPU.
    pub(super) tracefiles: Vec<File>,
    /// The paths and contents of descriptions of facilities and of the machine.
    pub(super) texts: Vec<(String, Vec<u8>)>,
}

impl Files {
    /// Finds the files in a directory. Hidden entries are ignored.
    pub(super) fn in_directory(
        root: &Path,
        access: Access,
        once: &mut FilesOnce,
        findings: &mut Findings,
    ) -> Result<Self, Error> {
        let mut list = List { root, found: Vec::new(), listed: HashMap::new() };
        list.add("", 0, findings)?;
        list.found.sort();
        let mut files = Files::default();
        for path in list.found {
            let full = root.join(&path);
            if is_text(&path) {
                let text = FileBytes::open_up_to(&full, access, MAX_TEXT);
                let text = text.map_err(|error| Error::Io { path: full, error });
                let text = findings.keep(text)?;
                files.texts.extend(text.map(|text| (path, text.bytes().to_vec())));
            } else {
                files.add(path, || once.open(&full, access, findings))?;
            }
        }
        files.sort();
        Ok(files)
    }

    /// Creates the files from pairs of path and content.
    pub(super) fn in_memory(
        contents: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Result<Self, Error> {
        let mut files = Files::default();
        for (path, bytes) in contents {
            if is_text(&path) {
                files.texts.push((path, bytes));
            } else {
                files.add(path, || Ok(Some(FileBytes::in_memory(bytes))))?;
            }
        }
        files.sort();
        Ok(files)
    }

    /// Adds a file if it has the name of a tracefile and is not empty.
    fn add(
        &mut self,
        path: String,
        open: impl FnOnce() -> Result<Option<FileBytes>, Error>,
    ) -> Result<(), Error> {
        let Some(name) = parse_name_of_2003(&path).or_else(|| Name::parse(&path)) else {
            return Ok(());
        };
        if let Some(source) = open()?.filter(|source| !source.bytes().is_empty()) {
            self.tracefiles.push(File { path, name, source: Arc::new(source) });
        }
        Ok(())
    }

    fn sort(&mut self) {
        let key = |f: &File| (f.name.channel.clone(), f.name.cpu, f.path.clone());
        self.tracefiles.sort_by_key(key);
    }

    /// Returns the description of the machine if this is a trace of 2003.
    pub(super) fn system(&self) -> Option<&[u8]> {
        self.texts.iter().find(|(path, _)| path == SYSTEM).map(|(_, text)| text.as_slice())
    }

    /// Iterates over the paths and contents of the descriptions of facilities.
    pub(super) fn descriptions(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let descriptions = self.texts.iter().filter(|(path, _)| path.starts_with(DESCRIPTIONS));
        descriptions.map(|(path, text)| (path.as_str(), text.as_slice()))
    }
}

/// Returns `true` if a channel of this name describes the other channels in a trace of
/// this version.
pub(super) fn is_metadata(version: Version, channel: &str) -> bool {
    channel
        == match version {
            Version::Markers(3..) => "metadata",
            Version::Markers(_) => "control/metadata",
            _ => "control/facilities",
        }
}

fn is_text(path: &str) -> bool {
    path == SYSTEM || path.starts_with(DESCRIPTIONS) && path.ends_with(".xml")
}

/// Parses the name of a tracefile of the format of 2003.
fn parse_name_of_2003(path: &str) -> Option<Name> {
    let name = |channel: &str, cpu| Name {
        channel: channel.to_owned(),
        cpu,
        flight: false,
        process: None,
    };
    if let Some(cpu) = path.strip_prefix("cpu/").filter(|n| n.bytes().all(|b| b.is_ascii_digit())) {
        return Some(name("cpu", cpu.parse().ok()?));
    }
    let control = matches!(path, "control/facilities" | "control/processes" | "control/interrupts");
    control.then(|| name(path, 0))
}

/// A recursive listing of a trace's directories.
struct List<'a> {
    root: &'a Path,
    /// The paths of the files in the trace's directory, with `/` as separator.
    found: Vec<String>,
    /// The listed directories, and the paths by which they were reached.
    listed: HashMap<FileId, PathBuf>,
}

impl List<'_> {
    /// Adds the files in a directory and in its subdirectories.
    fn add(&mut self, below: &str, depth: usize, findings: &mut Findings) -> Result<(), Error> {
        let dir = self.root.join(below);
        let io = |error| Error::Io { path: dir.clone(), error };
        let id = dir.metadata().and_then(|metadata| FileId::new(&dir, &metadata));
        let Some(id) = findings.keep(id.map_err(io))? else { return Ok(()) };
        if let Some(first) = self.listed.get(&id) {
            findings.note(&dir, NoticeKind::Duplicate { first: first.as_path().into() });
            return Ok(());
        }
        self.listed.insert(id, dir.clone());
        let entries = findings.keep(entries(&dir))?.unwrap_or_default();
        // Real entries come before links, so that links are reported as the
        // duplicates.
        let (links, real): (Vec<_>, Vec<_>) = entries.into_iter().partition(|it| it.is_link);
        for entry in real.into_iter().chain(links) {
            let name = entry.path.file_name().and_then(|name| name.to_str());
            let Some(name) = name.filter(|name| !name.starts_with('.')) else { continue };
            let path = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
            match &entry.kind {
                Ok(kind) if kind.is_file() => self.found.push(path),
                Ok(kind) if !kind.is_dir() => {}
                Ok(_) if depth < MAX_DEPTH => self.add(&path, depth + 1, findings)?,
                Ok(_) => findings.fail(Error::TooDeep { path: entry.path })?,
                Err(_) => findings.fail(entry.into_error())?,
            }
        }
        Ok(())
    }
}

/// Returns `true` if a directory is a legacy trace: it contains a file with the name and
/// content of a metadata channel, or the files of a trace of 2003.
pub(crate) fn is_trace(dir: &Path) -> bool {
    let control = dir.join(CONTROL);
    let is_of_2003 = || dir.join(SYSTEM).is_file() && dir.join("cpu").is_dir();
    has_metadata(dir, "") || control.is_dir() && has_metadata(&control, "control/") || is_of_2003()
}

fn has_metadata(dir: &Path, prefix: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(dir) else { return false };
    entries.flatten().any(|entry| {
        let Some(name) = entry.file_name().to_str().map(|n| format!("{prefix}{n}")) else {
            return false;
        };
        let candidate = name.contains("metadata_") || name.contains("facilities_");
        candidate
            && Name::parse(&name).is_some_and(|name| {
                match first_version(&entry.path()) {
                    Ok(version) => version.is_some_and(|it| is_metadata(it, &name.channel)),
                    // Opening the trace reports the error.
                    Err(error) => {
                        let denied = error.kind() == ErrorKind::PermissionDenied;
                        denied && CHANNELS.contains(&&*name.channel)
                    }
                }
            })
    })
}

/// Returns the version of the first block of a file, or `None` if there is no valid
/// block.
fn first_version(path: &Path) -> std::io::Result<Option<Version>> {
    use std::io::Read;

    let mut bytes = Vec::new();
    // Opening a pipe would block until a writer opens it.
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let file = std::fs::File::open(path)?;
    file.take(256).read_to_end(&mut bytes)?;
    Ok(BlockHeader::read(&bytes).ok().map(|header| header.trace.version))
}
