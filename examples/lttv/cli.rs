//! The command line of the program itself. Modules add options.

/// Run modules over traces: the text part of LTTV
#[derive(Debug, clap::Parser)]
#[command(name = "lttv", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Load this module, and those that it requires
    #[arg(short, long = "module", value_name = "NAME")]
    pub(crate) modules: Vec<String>,

    /// List the available modules
    #[arg(long)]
    pub(crate) list_modules: bool,

    /// List the fields that filters can test in the traces, with their types, relations and
    /// labels; with --json for other programs
    #[arg(short, long, alias = "list_fields")]
    pub(crate) list_fields: bool,
}

/// The help text before the list of modules.
pub(crate) const BEFORE_MODULES: &str = "\
Modules add options. The options of a module and of the modules that it requires are accepted, and
shown here, after it has been named with --module.

Modules:";

/// The help text after the list of modules.
pub(crate) const AFTER_MODULES: &str = "\
Times:
  YYYY-MM-DD [hh:mm[:ss[.NANO]]]   a date and time (local, unless --clock-gmt)
  hh:mm[:ss[.NANO]]                on the day of the first event
  [-]SEC[.NANO]                    seconds since the origin of the clock

Ctrl-C ends reading; the results so far are printed.

Exit status: 0 if everything was read and written; 1 if something could not be read (the rest was
analysed) or written; 2 for a wrong command line: modules, options, times, filters, or an output
that would replace a file of a trace; 130 if interrupted.";
