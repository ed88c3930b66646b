//! The address spaces of processes and of the kernel: which part of which file is where.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ltt_read::Trace;

use super::frames::{CodeMode, Frame};
use super::modules::Modules;

/// The maximum number of mappings of an address space.
const MAX_MAPPINGS: usize = 1 << 14;
/// The maximum number of address spaces.
const MAX_SPACES: usize = 1 << 18;

/// A mapped range of addresses.
#[derive(Debug, Clone, Copy)]
struct Mapping {
    /// The address after its last byte.
    end: u64,
    /// The file; `None` for memory without a file, such as generated code.
    module: Option<usize>,
    /// The number to add to an address to get the offset in the file, modulo 2⁶⁴; 0 in the kernel.
    to_file: u64,
}

/// The mappings of an address space, by their first addresses.
#[derive(Debug, Clone, Default)]
struct Space(BTreeMap<u64, Mapping>);

impl Space {
    /// Maps a range, in place of what was mapped there.
    fn map(&mut self, start: u64, mapping: Mapping) {
        if start >= mapping.end {
            return;
        }
        let before = self.0.range(..start).next_back();
        let before = before.filter(|(_, of)| of.end > start).map(|(at, of)| (*at, *of));
        let within = self.0.range(start..mapping.end).map(|(at, of)| (*at, *of));
        for (at, of) in before.into_iter().chain(within.collect::<Vec<_>>()) {
            self.0.remove(&at);
            if at < start {
                self.0.insert(at, Mapping { end: start, ..of });
            }
            if of.end > mapping.end {
                self.0.insert(mapping.end, of);
            }
        }
        if self.0.len() < MAX_MAPPINGS {
            self.0.insert(start, mapping);
        }
    }

    fn find(&self, address: u64) -> Option<&Mapping> {
        let (_, found) = self.0.range(..=address).next_back()?;
        (address < found.end).then_some(found)
    }
}

/// A range of addresses to map to a file.
#[derive(Debug, Clone)]
pub(super) struct NewMapping {
    pub(super) start: u64,
    pub(super) size: u64,
    /// The position in the file of the first byte, in bytes.
    pub(super) file_offset: u64,
    pub(super) path: Arc<str>,
    pub(super) build_id: Arc<[u8]>,
}

/// A function that the kernel has generated or removed.
#[derive(Debug, Clone)]
pub(super) struct NewSymbol {
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) name: Arc<str>,
    pub(super) is_removed: bool,
}

/// All address spaces of a trace.
#[derive(Debug, Clone, Default)]
pub(super) struct Spaces {
    kernel: Space,
    /// The spaces of processes, by their ids. Processes that fork share them until one changes its own.
    processes: HashMap<i64, Arc<Space>>,
    pub(super) modules: Modules,
    /// The build ids of files, for mappings that have none.
    build_ids: Arc<HashMap<Arc<str>, Arc<[u8]>>>,
}

impl Spaces {
    /// Creates the spaces of a trace, with the mappings that it has apart from its events.
    pub(super) fn new(trace: &Trace) -> Self {
        let ids = trace.build_ids().iter().map(|of| (of.path.clone(), of.id.clone()));
        let mut spaces = Spaces { build_ids: Arc::new(ids.collect()), ..Spaces::default() };
        for of in trace.process_mappings() {
            let mapping = NewMapping {
                start: of.start,
                size: of.end.saturating_sub(of.start),
                file_offset: 0,
                path: of.path.clone(),
                build_id: Arc::default(),
            };
            spaces.map(Some(of.process.into()), &mapping);
        }
        spaces
    }

    /// Names a range of the kernel after a function, or forgets it.
    pub(super) fn symbol(&mut self, symbol: &NewSymbol) {
        let NewSymbol { start, size, name, is_removed } = symbol;
        let module = match is_removed {
            true => None,
            false => self.modules.of_kernel(name, *start, *size),
        };
        self.kernel.map(*start, Mapping { end: start.saturating_add(*size), module, to_file: 0 });
    }

    /// Maps a range of a process, or of the kernel if there is none.
    pub(super) fn map(&mut self, process: Option<i64>, new: &NewMapping) {
        let NewMapping { start, size, file_offset, path, build_id } = new;
        let end = start.saturating_add(*size);
        let Some(pid) = process else {
            // `[kernel.kallsyms]_text` names the symbol at which it begins.
            let path =
                path.rsplit_once(']').map_or(path.clone(), |(name, _)| format!("{name}]").into());
            if let Some(module) = self.modules.of_kernel(&path, *start, *size) {
                self.kernel.map(*start, Mapping { end, module: Some(module), to_file: 0 });
            }
            return;
        };
        if self.processes.len() >= MAX_SPACES && !self.processes.contains_key(&pid) {
            return;
        }
        let build_id = match self.build_ids.get(path) {
            Some(known) if build_id.is_empty() => known,
            _ => build_id,
        };
        let has_file = path.starts_with('/') && !path.starts_with("//") || &**path == "[vdso]";
        let module = has_file.then(|| self.modules.file(path, build_id)).flatten();
        let to_file = file_offset.wrapping_sub(*start);
        let space = self.processes.entry(pid).or_default();
        Arc::make_mut(space).map(*start, Mapping { end, module, to_file });
    }

    /// Gives a process the mappings of the one that forked it.
    pub(super) fn fork(&mut self, parent: i64, child: i64) {
        if parent == child {
            return;
        }
        match self.processes.get(&parent).cloned() {
            Some(space) if self.processes.len() < MAX_SPACES => {
                self.processes.insert(child, space);
            }
            _ => self.clear(child),
        }
    }

    /// Removes the mappings of a process, which executes another program.
    pub(super) fn clear(&mut self, process: i64) {
        self.processes.remove(&process);
    }

    /// Returns the frame at an address.
    pub(super) fn frame(&self, process: Option<i64>, mode: CodeMode, address: u64) -> Frame {
        let space = match mode {
            CodeMode::Kernel => Some(&self.kernel),
            CodeMode::User => process.and_then(|pid| self.processes.get(&pid)).map(|of| &**of),
            CodeMode::Other => None,
        };
        match space.and_then(|space| space.find(address)) {
            Some(Mapping { module: Some(module), to_file, .. }) => {
                Frame { mode, module: Some(*module), address: address.wrapping_add(*to_file) }
            }
            // No file has it, as code that a program has generated.
            _ if mode == CodeMode::User && space.is_some() => {
                Frame { mode, module: None, address: 0 }
            }
            _ => Frame { mode, module: None, address },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Later mappings hide earlier ones, as in a list that is searched from its end.
        #[test]
        fn the_last_mapping_of_an_address_is_found(
            all in prop::collection::vec((0_u64..60, 0_u64..20), 0..40),
            address in 0_u64..90,
        ) {
            let mut space = Space::default();
            for (module, (start, size)) in all.iter().enumerate() {
                let module = Some(module);
                space.map(*start, Mapping { end: start + size, module, to_file: 0 });
            }
            let has = |(_, (start, size)): &(usize, &(u64, u64))| {
                (*start..start + size).contains(&address)
            };
            let expected = all.iter().enumerate().rev().find(has).map(|(module, _)| module);
            prop_assert_eq!(space.find(address).and_then(|found| found.module), expected);
        }
    }

    #[test]
    fn functions_of_the_kernel_come_and_go() {
        let mut spaces = Spaces::default();
        let base = 1 << 63;
        let symbol = |is_removed| NewSymbol {
            start: base + 0x100,
            size: 0x40,
            name: "bpf_prog_1".into(),
            is_removed,
        };
        let name = |spaces: &Spaces, address| {
            let frame = spaces.frame(Some(1), CodeMode::Kernel, address);
            assert_eq!(frame.address, address);
            let modules = spaces.modules.clone().into_all();
            frame.module.map(|module| modules[module].path.to_string())
        };
        spaces.symbol(&symbol(false));
        assert_eq!(name(&spaces, base + 0x100).as_deref(), Some("bpf_prog_1"));
        assert_eq!(name(&spaces, base + 0x13f).as_deref(), Some("bpf_prog_1"));
        assert_eq!(name(&spaces, base + 0x140), None);
        spaces.symbol(&symbol(true));
        assert_eq!(name(&spaces, base + 0x100), None);
    }

    #[test]
    fn processes_share_what_they_inherit() {
        let mut spaces = Spaces::default();
        let new = |path: &str, start| NewMapping {
            start,
            size: 0x1000,
            file_offset: 0x200,
            path: path.into(),
            build_id: Arc::default(),
        };
        spaces.map(Some(1), &new("/bin/sh", 0x1000));
        spaces.fork(1, 2);
        spaces.map(Some(2), &new("/bin/ls", 0x1800));
        spaces.map(None, &new("[kernel.kallsyms]_text", 1 << 63));
        let of = |pid, address| spaces.frame(Some(pid), CodeMode::User, address);
        assert_eq!((of(1, 0x1800).module, of(1, 0x1800).address), (Some(0), 0xa00));
        assert_eq!((of(2, 0x17ff).module, of(2, 0x1800).module), (Some(0), Some(1)));
        assert_eq!(of(3, 0x1000).module, None);
        let kernel = spaces.frame(None, CodeMode::Kernel, (1 << 63) + 5);
        assert_eq!((kernel.module, kernel.address), (Some(2), (1 << 63) + 5));
        assert_eq!(&*spaces.modules.into_all()[2].path, "[kernel.kallsyms]");
    }
}
