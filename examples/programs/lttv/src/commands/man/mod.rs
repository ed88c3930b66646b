//! Manual pages of the command line.

mod page;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Command;
use lttv_common::report::Report;
use lttv_common::text::output::Output;

/// Write manual pages: one for the program, and one for each subcommand
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ManArgs {
    /// Folder to write all pages to; without it, the page of the program is printed
    pub dir: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  lttv man | man -l -
  lttv man ~/.local/share/man/man1 && man lttv-dump";

/// Prints the page of a program, or writes all its pages to a folder.
///
/// # Errors
///
/// If the output cannot be written.
pub fn run(args: &ManArgs, program: Command, report: &mut Report) -> Result<(), Box<dyn Error>> {
    // The subcommand `help` needs no page.
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let Some(dir) = &args.dir else {
        let mut out = Output::new(None)?;
        out.write_all(page::of(&program)?.as_bytes())?;
        return Ok(out.finish()?);
    };
    let in_dir = |error: io::Error| {
        io::Error::new(error.kind(), format!("cannot write to {}: {error}", dir.display()))
    };
    fs::create_dir_all(dir).map_err(in_dir)?;
    let pages = write_all(&program, dir).map_err(in_dir)?;
    report.message(format_args!("{pages} pages written to {}", dir.display()));
    Ok(())
}

/// Writes the page of a command and those of its subcommands. Returns their number.
fn write_all(command: &Command, dir: &Path) -> io::Result<usize> {
    let mut pages = 1;
    for subcommand in command.get_subcommands().filter(|of| !of.is_hide_set()) {
        pages += write_all(subcommand, dir)?;
    }
    fs::write(dir.join(format!("{}.1", page::name(command))), page::of(command)?)?;
    Ok(pages)
}
