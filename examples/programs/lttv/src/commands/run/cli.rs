//! The command line of the program itself. Modules add options.

/// Run modules by name, as the driver of LTTV does
#[derive(Debug, clap::Parser)]
#[command(name = "run", bin_name = "lttv run", display_name = "lttv-run")]
#[command(no_binary_name = true, max_term_width = 100)]
pub(super) struct Cli {
    /// Load this module, and those that it requires
    #[arg(short, long = "module", value_name = "NAME")]
    pub(super) modules: Vec<String>,

    /// List the available modules
    #[arg(long)]
    pub(super) list_modules: bool,

    /// List the fields that filters can test in the traces, with their types, relations and
    /// labels; with --json for other programs
    #[arg(short, long, alias = "list_fields")]
    pub(super) list_fields: bool,
}

/// The help text before the list of modules.
pub(super) const BEFORE_MODULES: &str = "\
Modules add options. The options of a module and of the modules that it requires are accepted, and
shown here, after it has been named with --module.

Modules:";

/// The help text after the list of modules.
pub(super) const AFTER_MODULES: &str = "\
Examples:
  lttv run -m textDump -t TRACE -e 'event.name == sched_switch'
  lttv run -m textDump --json -t TRACE
  lttv run -m eventCounts -m statistics -t TRACE --begin +1s --end +2s
  lttv run -l -t TRACE

The notations of times are those of lttv dump --help.

Ctrl-C ends reading; the results so far are printed.

Exit status: 0 if everything was read and written; 1 if something could not be read (the rest was
analysed) or written; 2 for a wrong command line: modules, options, times, filters, or an output
that would replace a file of a trace; 130 if interrupted.";
