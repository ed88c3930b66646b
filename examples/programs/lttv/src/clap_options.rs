//! Conversion of module options to and from command lines that clap parses.

use clap::{Arg, ArgAction, ArgMatches, Command};
use lttv_context::attributes::{AttributeValue, Kind};
use lttv_context::framework::{OptionError, Options};

/// Adds the options to a command, with one help heading per module.
pub fn add_args(command: Command, options: &Options) -> Command {
    command.args(options.specs().map(|spec| {
        let module = options.module(&spec.name).unwrap_or_default();
        let arg = Arg::new(spec.name.to_string())
            .long(spec.name.to_string())
            .short(spec.short)
            .help(spec.help.to_string())
            .help_heading(format!("Options of module {module}"));
        // The option names of LTTV contain underscores.
        let arg = match spec.name.contains('-') {
            true => arg.alias(spec.name.replace('-', "_")),
            false => arg,
        };
        if spec.kind == Kind::Bool {
            return arg.action(ArgAction::SetTrue);
        }
        let action = if spec.repeatable { ArgAction::Append } else { ArgAction::Set };
        let parser = {
            let spec = spec.clone();
            move |text: &str| spec.parse(text)
        };
        // Only shown in the help: the options have the default themselves.
        arg.action(action)
            .value_name(spec.value_name.to_string())
            .value_parser(parser)
            .allow_hyphen_values(matches!(spec.kind, Kind::Int | Kind::Float | Kind::Time))
            .default_values(spec.default.iter().map(|text| text.to_string()))
    }))
}

/// Sets the options that the command line contains.
///
/// # Errors
///
/// If `matches` come from a command without these options.
pub fn take_args(matches: &ArgMatches, options: &mut Options) -> Result<(), OptionError> {
    let given =
        |name: &str| matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine);
    let names: Vec<(String, Kind)> =
        options.specs().map(|spec| (spec.name.to_string(), spec.kind)).collect();
    for (name, kind) in names.into_iter().filter(|(name, _)| given(name)) {
        if kind == Kind::Bool {
            options.set(&name, true)?;
            continue;
        }
        for value in matches.get_many::<AttributeValue<'static>>(&name).into_iter().flatten() {
            options.set(&name, value.borrowed())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use lttv_context::attributes::{Paths, Text};
    use lttv_context::framework::OptionSpec;

    use super::*;

    fn parse(args: &[&str]) -> Result<Options, clap::Error> {
        let mut options = Options::new();
        for spec in [
            OptionSpec::flag("quick", "").short('q'),
            OptionSpec::flag("very-quick", ""),
            OptionSpec::new("name", Kind::Text, "").repeatable(),
            OptionSpec::new("depth", Kind::Int, "").short('d').default_value("3"),
        ] {
            options.declare("module", spec).unwrap();
        }
        let command = add_args(Command::new("test").no_binary_name(true), &options);
        take_args(&command.try_get_matches_from(args)?, &mut options).unwrap();
        Ok(options)
    }

    #[test]
    fn command_lines() {
        assert_eq!(Paths(&parse(&[]).unwrap()).to_string(), "/depth: 3\n");
        let options = parse(&["-q", "--name=a", "--depth=-0x10", "--name", "b"]).unwrap();
        assert_eq!(options.is_set("quick"), Ok(true));
        assert_eq!(options.is_set("very-quick"), Ok(false));
        for spelt in ["--very-quick", "--very_quick"] {
            assert_eq!(parse(&[spelt]).unwrap().is_set("very-quick"), Ok(true));
        }
        assert_eq!(options.get::<i64>("depth"), Ok(Some(&-16)));
        assert!(options.all::<Text>("name").unwrap().into_iter().eq(["a", "b"]));
        for wrong in [&["--depth=deep"][..], &["-d", "1", "-d", "2"], &["--quick=1"], &["--slow"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
