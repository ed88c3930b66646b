//! The format of results by the extension of the file that is written.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use lttv_common::extension;

/// Parses a command line again with the format that the extension of its output names, if the
/// command line gives none. All subcommands with an output and a format share this.
///
/// # Errors
///
/// Returns an error if the extension contradicts the format, or names one that the subcommand
/// cannot write.
pub(super) fn with_format(
    command: &mut Command,
    matches: ArgMatches,
    mut words: Vec<OsString>,
) -> Result<ArgMatches, clap::Error> {
    let Some((option, format)) = named(command, &matches)? else { return Ok(matches) };
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, format!("--{option}={format}").into());
    command.try_get_matches_from_mut(words)
}

/// Returns the option that selects the format, and the format that the extension names; `None` if
/// it names none, or if the command line has it already.
fn named(
    command: &mut Command,
    matches: &ArgMatches,
) -> Result<Option<(&'static str, String)>, clap::Error> {
    let Some((name, mut matches)) = matches.subcommand() else { return Ok(None) };
    // Options of all subcommands of a subcommand are with the innermost one.
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    let Some(path) = matches.try_get_one::<PathBuf>("output").ok().flatten() else {
        return Ok(None);
    };
    let of_command = command.find_subcommand(name);
    let option = |option: &'static str| {
        let arg = of_command?.get_arguments().find(|arg| arg.get_id() == option)?;
        let values = arg.get_possible_values();
        let values = values.iter().map(|value| value.get_name().to_owned());
        Some((option, values.collect::<Vec<_>>()))
    };
    let Some((option, values)) = option("format").or_else(|| option("to")) else {
        return Ok(None);
    };
    // Traces are directories; their extensions name no format.
    const PERFETTO: (&str, &str) = ("perfetto", "json");
    let as_extension =
        |value: &str| if value == PERFETTO.0 { PERFETTO.1 } else { value }.to_owned();
    let formats: Vec<String> = values.iter().map(|value| as_extension(value)).collect();
    let is_given = matches.value_source(option) == Some(ValueSource::CommandLine);
    let raw = matches.try_get_raw(option).ok().flatten();
    let given = raw.and_then(|mut raw| raw.next()).filter(|_| is_given);
    let given = given.map(|given| as_extension(&given.to_string_lossy()));
    let names: Vec<&str> = formats.iter().map(String::as_str).collect();
    let format = extension::format(path, &names, given.as_deref());
    let format = format.map_err(|message| command.error(ErrorKind::ArgumentConflict, message))?;
    let place = format.and_then(|format| names.iter().position(|name| *name == format));
    Ok(place.filter(|_| given.is_none()).map(|at| (option, values[at].clone())))
}
