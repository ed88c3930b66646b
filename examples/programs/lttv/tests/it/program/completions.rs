//! Completions, loaded by the shells that are installed.

use std::fs;
use std::process::Command;

use super::{assert_refused, lttv, text};
use crate::support;

/// Runs a script in a shell after the completions were written to `$1`. Returns its output, or
/// `None` if the shell is not installed.
fn in_shell(shell: &str, args: &[&str], script: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    // The name that zsh expects of a function.
    let file = folder.path().join("_lttv");
    fs::write(&file, text(&lttv(&["completions", shell]))).unwrap();
    let mut command = Command::new(shell);
    command.args(args).args(["-c", script]);
    if shell != "fish" {
        command.arg(shell);
    }
    let output = match command.arg(&file).env("HOME", folder.path()).output() {
        Ok(output) => output,
        Err(_) => {
            support::print_note(&format!("SKIPPED: there is no {shell} here"));
            return None;
        }
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{shell}: {stderr}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn bash_completes_commands_and_options() {
    let script = r#"
        source "$1"
        complete -p lttv
        of() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _lttv lttv "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[@]}"
        }
        of lttv du
        of lttv dump --timer
        of lttv dump --format ''
        of lttv run --mod
    "#;
    let Some(found) = in_shell("bash", &["--norc"], script) else { return };
    let lines: Vec<_> = found.lines().collect();
    assert!(lines[0].contains("-F _lttv"), "{found}");
    assert_eq!(lines[1..], ["dump", "--timerange", "text lttv babeltrace json csv", "--module"]);
}

#[test]
fn zsh_loads_the_function() {
    let script = r#"
        fpath=("${1:h}" $fpath)
        autoload -Uz compinit && compinit -u -D
        autoload -Uz +X _lttv
        print ${_comps[lttv]}
    "#;
    let Some(found) = in_shell("zsh", &["-f"], script) else { return };
    assert_eq!(found.trim(), "_lttv");
}

#[test]
fn fish_completes_commands() {
    let script = "source $argv[1]; complete -C 'lttv du'";
    let Some(found) = in_shell("fish", &["--no-config"], script) else { return };
    assert!(found.starts_with("dump"), "{found}");
}

#[test]
fn other_shells_are_refused() {
    assert_refused(&["completions", "cmd"], "[possible values: bash, zsh, fish]");
    assert_refused(&["completions"], "<SHELL>");
}
