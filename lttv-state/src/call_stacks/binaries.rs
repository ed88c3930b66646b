//! The executables and libraries of processes, from state dumps and from loading.

use std::sync::Arc;

use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::{Event, Field, Trace, Value};

/// The maximum number of binaries of a trace.
const MAX_BINARIES: usize = 1 << 16;
/// The maximum length of a build id in bytes.
const MAX_BUILD_ID: usize = 64;

/// An executable or a library in the memory of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Binary {
    /// The id of the process; `None` if the trace does not contain it.
    pub process: Option<i64>,
    /// The address of its first byte.
    pub base: u64,
    /// The size in memory in bytes.
    pub size: u64,
    /// The path of the file.
    pub path: Arc<str>,
    /// `true` if it can be loaded at any address. Otherwise, addresses are those in the file.
    pub is_relocatable: bool,
    /// `true` if its addresses are offsets in the file, rather than addresses that the file says.
    pub has_file_offsets: bool,
    /// The build id; empty if unknown.
    pub build_id: Arc<[u8]>,
    /// The name of the file with debug information, and its checksum; `None` if unknown.
    pub debug_link: Option<(Arc<str>, u32)>,
}

impl Binary {
    /// Returns the name of the file without its folder.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns an address of the process as one in the file.
    pub fn offset(&self, address: u64) -> u64 {
        if self.is_relocatable { address.wrapping_sub(self.base) } else { address }
    }

    fn contains(&self, process: Option<i64>, address: u64) -> bool {
        let at = address.checked_sub(self.base);
        self.process == process && at.is_some_and(|at| at < self.size)
    }
}

/// The binaries of all processes of a trace, in order of events.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Binaries {
    all: Arc<Vec<Binary>>,
}

impl Binaries {
    pub(super) fn all(&self) -> &[Binary] {
        &self.all
    }

    /// Returns the binary that contains an address of a process: the last one, if the place was
    /// used again.
    pub(super) fn find(&self, process: Option<i64>, address: u64) -> Option<&Binary> {
        self.all.iter().rev().find(|binary| binary.contains(process, address))
    }

    /// Adds a binary, unless it is known.
    fn add(&mut self, binary: Binary) {
        let is_same = |of: &Binary| {
            (of.process, of.base, of.size) == (binary.process, binary.base, binary.size)
                && of.path == binary.path
        };
        let is_known = self.find_base(binary.process, binary.base).is_some_and(is_same);
        if !is_known && self.all.len() < MAX_BINARIES {
            Arc::make_mut(&mut self.all).push(binary);
        }
    }

    fn find_base(&self, process: Option<i64>, base: u64) -> Option<&Binary> {
        self.all.iter().rev().find(|of| (of.process, of.base) == (process, base))
    }

    /// Adds the binaries of a later part of the trace.
    pub(super) fn append(&mut self, later: &Binaries) {
        if self.all.is_empty() {
            self.all = later.all.clone();
            return;
        }
        if Arc::ptr_eq(&self.all, &later.all) {
            return;
        }
        later.all.iter().for_each(|binary| self.add(binary.clone()));
    }

    /// Applies an event of a process.
    #[cold]
    pub(super) fn apply(&mut self, process: Option<i64>, fields: &BinaryEvent, event: &Event<'_>) {
        let base = event.integer(&fields.base);
        let Some(base) = base else { return };
        let text = |field: &Option<Field>| -> Option<Arc<str>> {
            Some(event.get(field.as_ref()?)?.as_str()?.to_str_lossy().into())
        };
        let number = |field: &Option<Field>| field.as_ref().and_then(|of| event.integer(of));
        match &fields.kind {
            Kind::Loaded { size, path, is_pic } => {
                let Some(path) = text(path) else { return };
                self.add(Binary {
                    process,
                    base,
                    size: number(size).unwrap_or(0),
                    path,
                    is_relocatable: number(is_pic).is_none_or(|is_pic| is_pic != 0),
                    has_file_offsets: false,
                    build_id: Arc::default(),
                    debug_link: None,
                });
            }
            Kind::BuildId(id) => {
                let id: Arc<[u8]> = match event.get(id) {
                    Some(Value::Array(bytes)) => (bytes.iter().take(MAX_BUILD_ID))
                        .filter_map(|byte| Some(byte.as_u64()? as u8))
                        .collect(),
                    Some(Value::Blob(bytes)) => bytes[..bytes.len().min(MAX_BUILD_ID)].into(),
                    _ => return,
                };
                self.change(process, base, |binary| binary.build_id = id);
            }
            Kind::DebugLink { name, checksum } => {
                let Some(name) = text(name) else { return };
                let checksum = number(checksum).unwrap_or(0) as u32;
                self.change(process, base, |binary| binary.debug_link = Some((name, checksum)));
            }
        }
    }

    /// Changes the last binary of a process at a place.
    fn change(&mut self, process: Option<i64>, base: u64, change: impl FnOnce(&mut Binary)) {
        let at = self.all.iter().rposition(|of| (of.process, of.base) == (process, base));
        if let Some(binary) = at.and_then(|at| Arc::make_mut(&mut self.all).get_mut(at)) {
            change(binary);
        }
    }
}

/// The fields of an event type about binaries.
#[derive(Debug, Clone)]
pub(super) struct BinaryEvent {
    base: Field,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Loaded { size: Option<Field>, path: Option<Field>, is_pic: Option<Field> },
    BuildId(Field),
    DebugLink { name: Option<Field>, checksum: Option<Field> },
}

impl BinaryEvent {
    /// Returns the fields of an event type; `None` if it is not about binaries.
    pub(super) fn of(trace: &Trace, id: EventTypeId) -> Option<Self> {
        let field = |name: &str| trace.field(id, Scope::Payload, name);
        let (provider, name) = trace.event_type(id).name().split_once(':')?;
        let of_loading = ["lttng_ust_statedump", "lttng_ust_lib", "lttng_ust_dl"];
        let kind = match (provider, name) {
            ("lttng_ust_statedump", "bin_info")
            | ("lttng_ust_lib", "load")
            | ("lttng_ust_dl", "dlopen" | "dlmopen") => {
                Kind::Loaded { size: field("memsz"), path: field("path"), is_pic: field("is_pic") }
            }
            // LTTng 2.4 to 2.7.
            ("ust_baddr_statedump" | "lttng_ust_baddr_statedump", "soinfo")
            | ("ust_baddr", "push") => {
                Kind::Loaded { size: field("size"), path: field("sopath"), is_pic: None }
            }
            (of, "build_id") if of_loading.contains(&of) => Kind::BuildId(field("build_id")?),
            (of, "debug_link") if of_loading.contains(&of) => {
                Kind::DebugLink { name: field("filename"), checksum: field("crc") }
            }
            _ => return None,
        };
        Some(BinaryEvent { base: field("baddr")?, kind })
    }
}
