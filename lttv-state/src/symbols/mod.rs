//! Symbols: the names of functions and their places in source files.
//!
//! The state dump of LTTng and the records of perf contain the binaries of each process, so an address is a place in a
//! file. [`Symbols`] finds the file, or the one with its debug information, and reads the function's name and
//! source line from it. Those of the kernel are in recordings of ftrace, or in a [table](KernelSymbols).

mod error;
mod file;
mod find;
mod kernel;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use ltt_read::Trace;

use crate::call_stacks::{Binary, CallStacks, CallTarget, Function, TraceCalls};
use crate::stack_samples::{CodeMode, Frame, TraceSamples};

pub use error::SymbolError;
pub use kernel::KernelSymbols;

use file::SymbolFile;

/// The maximum number of stored problems.
const MAX_PROBLEMS: usize = 100;

/// The first address of the half that belongs to the kernel.
const KERNEL_HALF: u64 = 1 << 63;

/// The places where symbols are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolOptions {
    /// The folder in which the files of the traced machine are found; `None` for those of this machine.
    pub root: Option<PathBuf>,
    /// The folders with debug information, such as `/usr/lib/debug`, in order.
    pub debug_folders: Vec<PathBuf>,
    /// The file with the functions of the kernel, a copy of `/proc/kallsyms`, for traces that do not contain them.
    pub kernel: Option<PathBuf>,
}

/// The name of a function, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Symbol {
    /// The demangled name of the function, or that of the pair or section; `None` if unknown.
    pub function: Option<Arc<str>>,
    /// The name of the binary without its folder, and the address in it; `None` if unknown.
    pub binary: Option<(Arc<str>, u64)>,
    /// The source file and line; `None` if unknown.
    pub source: Option<(Arc<str>, u32)>,
    /// The address in the process; 0 for a pair, and if it is unknown.
    pub address: u64,
}

impl Symbol {
    /// Returns what a trace alone tells about a function: the name of a pair, or the binary and the
    /// address in it.
    pub fn without_files(calls: &CallStacks, trace: &TraceCalls, function: &Function) -> Self {
        let address = match function.code {
            CallTarget::Address(address) => address,
            CallTarget::EventPair(pair) => {
                let function = calls.pair_names().get(pair.0 as usize).cloned();
                return Symbol { function, ..Symbol::at(0) };
            }
            CallTarget::Section(section) => {
                return Symbol { function: trace.section(section).cloned(), ..Symbol::at(0) };
            }
        };
        let binary = trace.binary(function.process, address);
        let binary = binary.map(|binary| (binary.name().into(), binary.offset(address)));
        Symbol { binary, ..Symbol::at(address) }
    }

    /// Returns what a trace alone tells about a frame: the module and the address in it.
    pub fn of_frame(samples: &TraceSamples, frame: &Frame) -> Self {
        let module = frame.module.and_then(|module| samples.modules().get(module));
        let binary = module.map(|module| (module.name().into(), module.offset(frame.address)));
        Symbol { binary, ..Symbol::at(frame.address) }
    }

    fn at(address: u64) -> Self {
        Symbol { function: None, binary: None, source: None, address }
    }
}

impl fmt::Display for Symbol {
    /// Writes the name, else the binary and the address in it, else the address, else `[unknown]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.function, &self.binary) {
            (Some(function), _) => f.write_str(function),
            (None, Some((binary, offset))) => write!(f, "{binary}+{offset:#x}"),
            (None, None) if self.address == 0 => f.write_str("[unknown]"),
            (None, None) => write!(f, "{:#x}", self.address),
        }
    }
}

/// The path and the build id of a binary.
type BinaryKey = (Arc<str>, Arc<[u8]>);

/// The symbols of binaries, which are read when they are first needed.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::call_stacks::{CallRules, call_stacks};
/// use lttv_state::symbols::{SymbolOptions, Symbols};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/ust");
/// let calls = call_stacks(&Traceset::open(path)?, &CallRules::default(), 1).calls;
/// let debug_folders = vec!["/usr/lib/debug".into()];
/// let mut symbols = Symbols::new(SymbolOptions { debug_folders, ..Default::default() });
/// for trace in calls.traces() {
///     for function in trace.functions() {
///         println!("{}", symbols.symbol(&calls, trace, function));
///     }
/// }
/// for problem in symbols.problems() {
///     println!("{problem}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Symbols {
    options: SymbolOptions,
    /// The files of each binary.
    files: HashMap<BinaryKey, Vec<SymbolFile>>,
    /// The addresses in binaries that are known.
    known: HashMap<(BinaryKey, u64), Symbol>,
    /// The functions of the kernel of each trace.
    kernels: Vec<(Arc<Trace>, KernelSymbols)>,
    problems: Vec<SymbolError>,
}

impl Symbols {
    /// Creates symbols of the files in some places.
    pub fn new(options: SymbolOptions) -> Self {
        Symbols { options, ..Symbols::default() }
    }

    /// Returns the symbol of a function of a trace.
    pub fn symbol(&mut self, all: &CallStacks, calls: &TraceCalls, function: &Function) -> Symbol {
        if let CallTarget::Address(address) = function.code
            && address >= KERNEL_HALF
            && let Some(name) = self.of_kernel(calls.trace(), None, address)
        {
            return Symbol { function: Some(name), ..Symbol::at(address) };
        }
        if let CallTarget::Address(address) = function.code
            && let Some(binary) = calls.binary(function.process, address)
        {
            return self.in_binary(binary, address);
        }
        Symbol::without_files(all, calls, function)
    }

    /// Returns the symbol of a frame of a trace.
    pub fn frame(&mut self, samples: &TraceSamples, frame: &Frame) -> Symbol {
        let module = frame.module.and_then(|module| samples.modules().get(module));
        match (frame.mode, module) {
            // Of functions that the kernel has generated, the module is the name.
            (CodeMode::Kernel, Some(module)) if !module.path.starts_with(['[', '/']) => {
                Symbol { function: Some(module.path.clone()), ..Symbol::of_frame(samples, frame) }
            }
            (CodeMode::Kernel, _) => {
                let function =
                    self.of_kernel(samples.trace(), samples.kernel_base(), frame.address);
                Symbol { function, ..Symbol::of_frame(samples, frame) }
            }
            (CodeMode::User, Some(module)) => self.in_binary(module, frame.address),
            _ => Symbol::of_frame(samples, frame),
        }
    }

    /// Returns the name of the function of the kernel at an address, whose first byte may be known.
    fn of_kernel(
        &mut self,
        trace: &Arc<Trace>,
        base: Option<u64>,
        address: u64,
    ) -> Option<Arc<str>> {
        let at = self.kernels.iter().position(|(of, _)| Arc::ptr_eq(of, trace));
        let at = at.unwrap_or_else(|| {
            let found = KernelSymbols::of(trace, self.options.kernel.as_deref(), base);
            let symbols = found.unwrap_or_else(|problem| {
                if self.problems.len() < MAX_PROBLEMS {
                    self.problems.push(problem);
                }
                KernelSymbols::default()
            });
            self.kernels.push((trace.clone(), symbols));
            self.kernels.len() - 1
        });
        self.kernels[at].1.function(address).map(Into::into)
    }

    /// Returns the symbol at an address in the memory of a process that belongs to a binary.
    pub fn in_binary(&mut self, binary: &Binary, address: u64) -> Symbol {
        let offset = binary.offset(address);
        let key = ((binary.path.clone(), binary.build_id.clone()), offset);
        if let Some(symbol) = self.known.get(&key) {
            return Symbol { address, ..symbol.clone() };
        }
        let options = &self.options;
        let files = self.files.entry(key.0.clone()).or_insert_with(|| {
            let (files, problems) = find::files(options, binary);
            let room = MAX_PROBLEMS.saturating_sub(self.problems.len());
            self.problems.extend(problems.into_iter().take(room));
            files
        });
        let file = Some((binary.name().into(), offset));
        let mut symbol = Symbol { binary: file, ..Symbol::at(address) };
        let address_in_file = match binary.has_file_offsets {
            // The files with debug information do not always tell what is loaded where.
            true => files.iter().rev().find_map(|file| file.address_of(offset)).unwrap_or(offset),
            false => offset,
        };
        for file in files {
            match file.look_up(address_in_file) {
                Ok((function, source)) => {
                    symbol.function = symbol.function.or(function);
                    symbol.source = symbol.source.or(source);
                }
                Err(problem) if self.problems.len() < MAX_PROBLEMS => self.problems.push(problem),
                Err(_) => {}
            }
        }
        self.known.insert(key, symbol.clone());
        symbol
    }

    /// Returns the files that could not be used, at most 100 of them. A file that does not exist is
    /// not a problem.
    pub fn problems(&self) -> &[SymbolError] {
        &self.problems
    }
}
