//! The files of programs and the modules of the kernel.

use std::collections::HashMap;
use std::sync::Arc;

use crate::call_stacks::Binary;

/// The maximum number of modules of a trace.
const MAX_MODULES: usize = 1 << 16;

/// The path and the build id of a file, and its place in memory if it is one of the kernel.
type ModuleKey = (Arc<str>, Arc<[u8]>, Option<(u64, u64)>);

/// The modules of a trace.
#[derive(Debug, Clone, Default)]
pub(super) struct Modules {
    all: Vec<Binary>,
    indices: HashMap<ModuleKey, usize>,
}

impl Modules {
    /// Returns the index of the file of a program, which is added if it is new; `None` if there are too many.
    pub(super) fn file(&mut self, path: &Arc<str>, build_id: &Arc<[u8]>) -> Option<usize> {
        self.find_or_add((path.clone(), build_id.clone(), None))
    }

    /// Returns the index of a part of the kernel, which is added if it is new; `None` if there are too many.
    pub(super) fn of_kernel(&mut self, path: &Arc<str>, base: u64, size: u64) -> Option<usize> {
        self.find_or_add((path.clone(), Arc::default(), Some((base, size))))
    }

    fn find_or_add(&mut self, key: ModuleKey) -> Option<usize> {
        if let Some(index) = self.indices.get(&key) {
            return Some(*index);
        }
        if self.all.len() >= MAX_MODULES {
            return None;
        }
        let (path, build_id, in_kernel) = key.clone();
        let (base, size) = in_kernel.unwrap_or((0, u64::MAX));
        self.all.push(Binary {
            process: None,
            base,
            size,
            path,
            is_relocatable: true,
            has_file_offsets: in_kernel.is_none(),
            build_id,
            debug_link: None,
        });
        let index = self.all.len() - 1;
        self.indices.insert(key, index);
        Some(index)
    }

    pub(super) fn into_all(self) -> Vec<Binary> {
        self.all
    }
}
