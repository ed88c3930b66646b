//! Completions of the command line for shells.

use std::error::Error;
use std::io::Write;

use clap::Command;
use clap_complete::{Generator, generate};
use lttv_common::text::output::Output;

/// Print the completions of the command line for a shell
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  lttv completions bash > ~/.local/share/bash-completion/completions/lttv
  lttv completions zsh > ~/.zfunc/_lttv       with fpath+=~/.zfunc before compinit in ~/.zshrc
  lttv completions fish > ~/.config/fish/completions/lttv.fish";

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// The Bourne-again shell
    Bash,
    /// The Z shell
    Zsh,
    /// The friendly interactive shell
    Fish,
}

/// Prints the completions of a program.
///
/// # Errors
///
/// If the output cannot be written.
pub fn run(args: &CompletionsArgs, program: Command) -> Result<(), Box<dyn Error>> {
    use clap_complete::Shell as Of;
    let mut script = Vec::new();
    match args.shell {
        Shell::Bash => write(Of::Bash, program, &mut script),
        Shell::Zsh => write(Of::Zsh, program, &mut script),
        Shell::Fish => write(Of::Fish, program, &mut script),
    }
    let mut out = Output::new(None)?;
    out.write_all(&script)?;
    Ok(out.finish()?)
}

fn write(shell: impl Generator, mut program: Command, out: &mut Vec<u8>) {
    let name = program.get_name().to_owned();
    generate(shell, &mut program, name, out);
}
