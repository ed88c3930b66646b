//! The command line: what is for the program itself. Modules add options.

/// Run modules over traces: the text part of LTTV
#[derive(Debug, clap::Parser)]
#[command(name = "lttv", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Load this module, and those that it requires
    #[arg(short, long = "module", value_name = "NAME")]
    pub(crate) modules: Vec<String>,

    /// Tell which modules there are
    #[arg(long)]
    pub(crate) list_modules: bool,
}

/// What comes before the list of modules at the end of help.
pub(crate) const BEFORE_MODULES: &str = "\
Modules add options: those of a module are known, and shown here, once it is named by --module. The
modules that it requires are loaded with it.

Modules:";

/// What comes after it.
pub(crate) const AFTER_MODULES: &str = "\
Times:
  YYYY-MM-DD [hh:mm[:ss[.NANO]]]   a civil time (local, unless --clock-gmt)
  hh:mm[:ss[.NANO]]                on the day on which the traces begin
  [-]SEC[.NANO]                    seconds since the origin of the clock

Ctrl-C ends reading; what was found so far is printed.

Exit status: 0 if everything was read and written; 1 if something could not be read (the rest was
analysed) or written; 2 for a wrong command line: modules, options, times, filters, or an output that
would replace a file of a trace; 130 if it was interrupted.";
