//! The names of functions in results.

use std::path::PathBuf;
use std::sync::Arc;

use lttv_state::call_stacks::{CallStacks, Function, PathId, TraceCalls};
use lttv_state::stack_samples::{Frame, TraceSamples};
use lttv_state::symbols::{Symbol, SymbolOptions, Symbols};

use crate::report::Report;

/// The options of names.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SymbolArgs {
    /// Look for the binaries of the traced machine in this folder instead of /
    #[arg(long, value_name = "DIR", help_heading = "Symbols")]
    pub root: Option<PathBuf>,

    /// Look for debug information in this folder, by build id and name; may be repeated
    /// [default: /usr/lib/debug]
    #[arg(long, value_name = "DIR", help_heading = "Symbols")]
    pub debug_dir: Vec<PathBuf>,

    /// Take the names of the kernel's functions from this copy of /proc/kallsyms, if the traces lack them
    #[arg(long, value_name = "FILE", help_heading = "Symbols")]
    pub kallsyms: Option<PathBuf>,

    /// Read no binaries: functions are shown as BINARY+OFFSET
    #[arg(long, help_heading = "Symbols")]
    pub no_symbols: bool,
}

impl SymbolArgs {
    /// Returns the options in the form of the library; `None` if no binary is to be read.
    pub fn options(&self) -> Option<SymbolOptions> {
        if self.no_symbols {
            return None;
        }
        let debug_folders = match self.debug_dir.is_empty() {
            true => vec!["/usr/lib/debug".into()],
            false => self.debug_dir.clone(),
        };
        Some(SymbolOptions {
            root: self.root.clone(),
            debug_folders,
            kernel: self.kallsyms.clone(),
        })
    }
}

/// The names of the functions of a traceset.
#[derive(Debug, Default)]
pub struct Names {
    symbols: Option<Symbols>,
}

impl Names {
    /// Creates names from the files that options describe, or from the trace alone.
    pub fn new(options: Option<SymbolOptions>) -> Self {
        Names { symbols: options.map(Symbols::new) }
    }

    /// Returns the symbol of a function.
    pub fn symbol(
        &mut self,
        calls: &CallStacks,
        trace: &TraceCalls,
        function: &Function,
    ) -> Symbol {
        match &mut self.symbols {
            Some(symbols) => symbols.symbol(calls, trace, function),
            None => Symbol::without_files(calls, trace, function),
        }
    }

    /// Returns the name of a function.
    pub fn name(
        &mut self,
        calls: &CallStacks,
        trace: &TraceCalls,
        function: &Function,
    ) -> Arc<str> {
        self.symbol(calls, trace, function).to_string().into()
    }

    /// Returns the symbol of a frame of a stack.
    pub fn frame(&mut self, samples: &TraceSamples, frame: &Frame) -> Symbol {
        match &mut self.symbols {
            Some(symbols) => symbols.frame(samples, frame),
            None => Symbol::of_frame(samples, frame),
        }
    }

    /// Returns the names of a path, outermost first, separated by semicolons.
    pub fn path(&mut self, calls: &CallStacks, trace: &TraceCalls, path: PathId) -> String {
        let functions = trace.path_functions(path);
        let functions = functions.iter().filter_map(|id| trace.functions().get(id.index()));
        let names: Vec<_> = functions.map(|of| self.name(calls, trace, of).to_string()).collect();
        names.join(";")
    }

    /// Warns of the files that could not be used.
    pub fn warn(&self, report: &Report) {
        for problem in self.symbols.iter().flat_map(Symbols::problems) {
            report.warning(format_args!("symbols: {}", ltt_read::ErrorChain(problem)));
        }
    }
}
