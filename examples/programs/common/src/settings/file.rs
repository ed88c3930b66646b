//! Reading of the configuration file.

use lttv_filter::{Zone, nearest};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::{Place, Settings, Thousands, TimeFormat, palette};
use crate::paint::Paint;
use crate::text::palette::Color;

/// A key of the terminal program that has the action of another key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyBinding {
    /// The key, as the help of the program writes it.
    pub key: String,
    /// The key whose action it has without this binding; empty for no action.
    pub like: String,
    file: PathBuf,
    line: usize,
}

/// An error from reading a configuration file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("{}: cannot read the configuration: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The file contains an unknown name or a wrong value, or is not TOML.
    #[error("{}:{line}: {message}", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The fault.
        message: String,
    },
}

/// The contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct File {
    color: Option<Spanned<String>>,
    time_zone: Option<Spanned<String>>,
    time_format: Option<Spanned<String>>,
    thousands: Option<Spanned<String>>,
    palette: BTreeMap<Spanned<String>, Spanned<String>>,
    keys: BTreeMap<Spanned<String>, Spanned<String>>,
}

impl Settings {
    /// Reads the settings. A usual file need not exist.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or contains unknown names or wrong values.
    pub fn load(place: &Place) -> Result<Self, SettingsError> {
        let (path, must_exist) = match place {
            Place::None => return Ok(Settings::default()),
            Place::Given(path) => (path, true),
            Place::Usual(path) => (path, false),
        };
        match std::fs::read_to_string(path) {
            Ok(text) => Settings::parse(path, &text),
            Err(error) if error.kind() == ErrorKind::NotFound && !must_exist => {
                Ok(Settings::default())
            }
            Err(error) => Err(SettingsError::Read { file: path.clone(), error }),
        }
    }

    /// Parses the text of a configuration file. The path is only for errors.
    ///
    /// # Errors
    ///
    /// If the text contains unknown names or wrong values, or is not TOML.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        let wrong = |span: Range<usize>, message: String| {
            let before = text.get(..span.start).unwrap_or(text);
            let line = 1 + before.matches('\n').count();
            SettingsError::Wrong { file: path.to_owned(), line, message }
        };
        let file: File = toml::from_str(text).map_err(|error| {
            wrong(error.span().unwrap_or_default(), error.message().replace('\n', " "))
        })?;
        let mut settings = Settings::default();
        if let Some(color) = file.color {
            let choices = [("auto", None), ("always", Some(Color::Always))];
            let choices = choices.into_iter().chain([("never", Some(Color::Never))]);
            settings.color =
                chosen("color", &color, choices).map_err(|e| wrong(color.span(), e))?;
        }
        if let Some(format) = file.time_format {
            let choices = [("seconds", TimeFormat::Seconds), ("time", TimeFormat::Time)];
            let choices = choices.into_iter().chain([("date", TimeFormat::Date)]);
            let format_of = chosen("time-format", &format, choices);
            settings.time_format = Some(format_of.map_err(|e| wrong(format.span(), e))?);
        }
        if let Some(thousands) = file.thousands {
            let choices = [("comma", ","), ("apostrophe", "'"), ("space", " "), ("none", "")];
            let text = chosen("thousands", &thousands, choices.into_iter());
            settings.thousands = Thousands(text.map_err(|error| wrong(thousands.span(), error))?);
        }
        if let Some(zone) = file.time_zone {
            settings.zone = Some(zone_of(zone.get_ref()).map_err(|e| wrong(zone.span(), e))?);
        }
        for (name, color) in &file.palette {
            let names = || Paint::ALL.into_iter().map(|paint| (palette::name(paint), paint));
            let paint = chosen("palette", name, names()).map_err(|e| wrong(name.span(), e))?;
            let value = color.get_ref().parse();
            let value = value.map_err(|e: palette::ColorError| wrong(color.span(), e.to_string()));
            settings.palette.set(paint, value?);
        }
        let mut keys: Vec<_> = file.keys.into_iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        settings.keys = keys
            .into_iter()
            .map(|(key, like)| KeyBinding {
                line: 1 + text[..key.span().start].matches('\n').count(),
                file: path.to_owned(),
                key: key.into_inner(),
                like: like.into_inner(),
            })
            .collect();
        Ok(settings)
    }
}

impl KeyBinding {
    /// Creates the error of a binding that the terminal program does not accept.
    pub fn error(&self, message: impl ToString) -> SettingsError {
        let KeyBinding { file, line, .. } = self;
        SettingsError::Wrong { file: file.clone(), line: *line, message: message.to_string() }
    }
}

/// Returns the value of the name, or an error with all names.
fn chosen<T>(
    of: &str,
    name: &Spanned<String>,
    choices: impl Iterator<Item = (&'static str, T)>,
) -> Result<T, String> {
    let name = name.get_ref();
    let mut names = Vec::new();
    for (known, value) in choices {
        if known == name {
            return Ok(value);
        }
        names.push(known);
    }
    let meant = nearest(name, names.iter().copied());
    let hint = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    Err(format!("{of}: expected {}, not `{name}`{hint}", names.join(", ")))
}

fn zone_of(name: &str) -> Result<Zone, String> {
    match name {
        "local" => Ok(Zone::local()),
        "utc" | "UTC" => Ok(Zone::UTC),
        _ => match Zone::named(name) {
            Ok(zone) => Ok(zone),
            Err(_) => Err(format!(
                "time-zone: expected local, utc or a name such as Europe/Berlin, not `{name}`"
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint;

    fn parse(text: &str) -> Result<Settings, String> {
        Settings::parse(Path::new("config.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn all_settings() {
        let settings = parse(
            "color = \"never\"\ntime-format = \"date\"\nthousands = \"none\"\ntime-zone = \"utc\"\n\
             [palette]\nwait = \"#0102fF\"\nwait-cpu = \"#000000\"\n\
             [keys]\n\"F5\" = \"Ctrl-L\"\nx = \"\"\n",
        )
        .unwrap();
        assert_eq!(settings.color(), Some(Color::Never));
        assert_eq!(settings.time_format(), Some(TimeFormat::Date));
        assert_eq!(settings.thousands(), "");
        assert_eq!(settings.zone(), Zone::UTC);
        assert_eq!(settings.palette().get(Paint::Wait), Some(paint::Color(1, 2, 255)));
        assert_eq!(settings.palette().get(Paint::User), None);
        let keys: Vec<_> = settings.keys().iter().map(|of| (&*of.key, &*of.like)).collect();
        assert_eq!(keys, [("F5", "Ctrl-L"), ("x", "")]);
        assert_eq!(settings.keys()[1].error("no").to_string(), "config.toml:10: no");
        assert_eq!(parse("").unwrap().color(), None);
        assert_eq!(parse("color = \"auto\"").unwrap().color(), None);
    }

    #[test]
    fn unknown_names_and_wrong_values_are_errors_with_their_line() {
        for (text, expected) in [
            ("\ncolour = \"never\"", "config.toml:2: unknown field `colour`"),
            (
                "color = \"nevr\"",
                "config.toml:1: color: expected auto, always, never, not `nevr`; ",
            ),
            ("color = 5", "config.toml:1: invalid type: integer"),
            ("\n\ntime-zone = \"Mars\"", "config.toml:3: time-zone: expected local, utc or a name"),
            ("time-format = \"epoch\"", "config.toml:1: time-format: expected seconds, time, date"),
            (
                "[palette]\nwiat = \"#000000\"",
                "config.toml:2: palette: expected unknown, running, user",
            ),
            ("[palette]\n\nwait = \"red\"", "config.toml:3: expected a colour such as"),
            ("[palette]\nwait = 5", "config.toml:2: invalid type: integer"),
            ("[keys]\nq = 5", "config.toml:2: invalid type: integer"),
            ("color = ", "config.toml:1: "),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
