//! Options that modules contribute and an application parses.

use std::borrow::Cow;
use std::ops::ControlFlow;

use hashbrown::HashMap;

use crate::attributes::{AttributeType, AttributeValue, Browse, Entries, Kind};

/// The description of an option.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OptionSpec {
    /// The name, as after `--`: lower-case letters, digits and hyphens, and a letter first.
    pub name: Cow<'static, str>,
    /// A letter or digit as the short form, as after `-`.
    pub short: Option<char>,
    /// A line of help.
    pub help: Cow<'static, str>,
    /// The kind of the value. An option of kind [`Bool`](Kind::Bool) is a flag: it is present or
    /// absent, and has no value in text.
    pub kind: Kind,
    /// The name of the value in help.
    pub value_name: Cow<'static, str>,
    /// The default value in the form in which a user would write it, if there is one.
    pub default: Option<Cow<'static, str>>,
    /// `true` if the option can be given several times. Its value is then a list.
    pub repeatable: bool,
}

impl OptionSpec {
    /// Creates an option that takes a value.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        kind: Kind,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        let value_name = kind.name().to_uppercase().into();
        let (name, help) = (name.into(), help.into());
        OptionSpec { name, short: None, help, kind, value_name, default: None, repeatable: false }
    }

    /// Creates a flag: an option without a value.
    pub fn flag(name: impl Into<Cow<'static, str>>, help: impl Into<Cow<'static, str>>) -> Self {
        OptionSpec::new(name, Kind::Bool, help)
    }

    /// Sets the short form, a letter or digit.
    pub fn short(self, short: char) -> Self {
        OptionSpec { short: Some(short), ..self }
    }

    /// Sets the name of the value in help.
    pub fn value_name(self, value_name: impl Into<Cow<'static, str>>) -> Self {
        OptionSpec { value_name: value_name.into(), ..self }
    }

    /// Sets the default value, in the form in which a user would write it.
    pub fn default_value(self, text: impl Into<Cow<'static, str>>) -> Self {
        OptionSpec { default: Some(text.into()), ..self }
    }

    /// Sets that the option can be given any number of times.
    pub fn repeatable(self) -> Self {
        OptionSpec { repeatable: true, ..self }
    }

    /// Parses a value of the option.
    ///
    /// # Errors
    ///
    /// Returns [`OptionError::InvalidValue`] if the text is not a value of the option's kind.
    pub fn parse(&self, text: &str) -> Result<AttributeValue<'static>, OptionError> {
        AttributeValue::parse(self.kind, text).ok_or_else(|| OptionError::InvalidValue {
            option: self.name.to_string(),
            text: text.to_owned(),
            kind: self.kind,
        })
    }

    /// Parses the default value, if there is one.
    fn parse_default(&self) -> Result<Option<AttributeValue<'static>>, OptionError> {
        self.default.as_ref().map(|text| self.parse(text)).transpose()
    }

    fn check(&self) -> Result<(), OptionError> {
        let mut chars = self.name.chars();
        let begins = chars.next().is_some_and(|c| c.is_ascii_lowercase());
        if !begins || !chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
            return Err(OptionError::InvalidName(self.name.to_string()));
        }
        if let Some(short) = self.short.filter(|short| !short.is_ascii_alphanumeric()) {
            return Err(OptionError::InvalidName(short.to_string()));
        }
        // A flag that is set by default could not be unset. For a list with a default, it would be
        // unclear whether given values extend or replace it.
        let flag = self.kind == Kind::Bool;
        let no_default = flag || self.repeatable;
        if self.kind == Kind::Tree
            || flag && self.repeatable
            || no_default && self.default.is_some()
        {
            return Err(OptionError::InvalidSpec(self.name.to_string()));
        }
        self.parse_default().map(|_| ())
    }
}

/// The options of all modules, with their values.
///
/// A module describes each of its options by an [`OptionSpec`]. The application declares these,
/// obtains values from the user in any way (a command line, a file, a dialog), and sets them.
/// The module then reads the typed values. Names are unique across modules: if two modules use
/// one name for different options, the second is refused.
///
/// ```
/// use lttv_context::attributes::Kind;
/// use lttv_context::framework::{OptionSpec, Options};
///
/// let mut options = Options::new();
/// options.declare("rates", OptionSpec::new("interval", Kind::Duration, "Length of a row")
///     .short('i')
///     .value_name("SECONDS")
///     .default_value("1"))?;
/// options.declare("rates", OptionSpec::flag("per-cpu", "Count each CPU by itself"))?;
///
/// // The values on a command line are text.
/// options.set_text("interval", "0.25")?;
///
/// let interval = options.get::<std::time::Duration>("interval")?;
/// assert_eq!(interval.map(|d| d.as_millis()), Some(250));
/// assert!(!options.is_set("per-cpu")?);
/// # Ok::<(), lttv_context::framework::OptionError>(())
/// ```
///
/// # With clap
///
/// The crate depends on no parser, but specifications contain everything that `clap` needs:
///
/// ```text
/// for spec in options.specs() {
///     let mut arg = Arg::new(spec.name).long(spec.name).help(spec.help);
///     arg = match spec.kind {
///         Kind::Bool => arg.action(ArgAction::SetTrue),
///         _ => arg.value_parser(move |text: &str| spec.parse(text)).action(…),
///     };
/// }
/// ```
///
/// The example program `lttv` contains the complete code, in one file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    options: Vec<Declared>,
    by_name: HashMap<Cow<'static, str>, usize>,
    by_short: HashMap<char, usize>,
}

#[derive(Debug, Clone)]
struct Declared {
    module: String,
    spec: OptionSpec,
    default: Option<AttributeValue<'static>>,
    given: Vec<AttributeValue<'static>>,
}

impl Options {
    /// Creates an empty collection.
    pub fn new() -> Self {
        Options::default()
    }

    /// Adds an option of a module.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidName`](OptionError::InvalidName), [`InvalidSpec`](OptionError::InvalidSpec) or
    /// [`InvalidValue`](OptionError::InvalidValue) if the specification is invalid, and
    /// [`Duplicate`](OptionError::Duplicate) if the name or letter is already in use.
    pub fn declare(
        &mut self,
        module: impl Into<String>,
        spec: OptionSpec,
    ) -> Result<(), OptionError> {
        let module = module.into();
        spec.check()?;
        let long = self.by_name.get(&spec.name).map(|&index| (format!("--{}", spec.name), index));
        let short = spec
            .short
            .and_then(|short| self.by_short.get(&short).map(|&index| (format!("-{short}"), index)));
        if let Some((option, index)) = long.or(short) {
            let first = self.options[index].module.clone();
            return Err(OptionError::Duplicate { option, first, second: module });
        }
        let index = self.options.len();
        self.by_name.insert(spec.name.clone(), index);
        self.by_short.extend(spec.short.map(|short| (short, index)));
        let default = spec.parse_default()?;
        self.options.push(Declared { module, spec, default, given: Vec::new() });
        Ok(())
    }

    /// Iterates over the options in the order in which they were declared.
    pub fn specs(&self) -> impl ExactSizeIterator<Item = &OptionSpec> {
        self.options.iter().map(|option| &option.spec)
    }

    /// Returns the name of the module that declared an option.
    pub fn module(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).map(|&index| self.options[index].module.as_str())
    }

    /// Sets the value of an option, or adds a value to a repeatable option.
    ///
    /// # Errors
    ///
    /// Returns [`Unknown`](OptionError::Unknown) if there is no such option,
    /// [`WrongKind`](OptionError::WrongKind) if the value has the wrong kind, and
    /// [`AlreadySet`](OptionError::AlreadySet) if the option already has a value and is not repeatable.
    pub fn set<'v>(
        &mut self,
        name: &str,
        value: impl Into<AttributeValue<'v>>,
    ) -> Result<(), OptionError> {
        let value = value.into();
        let index = self.find(name, Some(value.kind()))?;
        let Declared { spec, given, .. } = &mut self.options[index];
        if !given.is_empty() && !spec.repeatable {
            return Err(OptionError::AlreadySet(name.to_owned()));
        }
        given.push(value.into_owned());
        Ok(())
    }

    /// Sets the value of an option from text, or adds a value to a repeatable option.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`set`](Options::set), and [`InvalidValue`](OptionError::InvalidValue) if the text
    /// is not a value of the option's kind.
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<(), OptionError> {
        let index = self.find(name, None)?;
        self.set(name, self.options[index].spec.parse(text)?)
    }

    /// Returns `true` if a flag was given.
    ///
    /// # Errors
    ///
    /// Returns [`Unknown`](OptionError::Unknown) if there is no such option, and
    /// [`WrongKind`](OptionError::WrongKind) if it is not a flag.
    pub fn is_set(&self, name: &str) -> Result<bool, OptionError> {
        Ok(self.get::<bool>(name)?.copied().unwrap_or(false))
    }

    /// Returns the first value of an option, or its default, or `None` if it has neither.
    ///
    /// # Errors
    ///
    /// Returns [`Unknown`](OptionError::Unknown) if there is no such option, and
    /// [`WrongKind`](OptionError::WrongKind) if it has another kind.
    pub fn get<T: AttributeType>(&self, name: &str) -> Result<Option<&T>, OptionError> {
        let Declared { given, default, .. } = &self.options[self.find(name, Some(T::KIND))?];
        Ok(given.first().or(default.as_ref()).and_then(T::from_value))
    }

    /// Returns all values that an option was given, in order. The default is not included.
    ///
    /// # Errors
    ///
    /// Returns [`Unknown`](OptionError::Unknown) if there is no such option, and
    /// [`WrongKind`](OptionError::WrongKind) if it has another kind.
    pub fn all<T: AttributeType>(&self, name: &str) -> Result<Vec<&T>, OptionError> {
        let Declared { given, .. } = &self.options[self.find(name, Some(T::KIND))?];
        Ok(given.iter().filter_map(T::from_value).collect())
    }

    fn find(&self, name: &str, wanted: Option<Kind>) -> Result<usize, OptionError> {
        let Some(&index) = self.by_name.get(name) else {
            return Err(OptionError::Unknown(name.to_owned()));
        };
        let kind = self.options[index].spec.kind;
        match wanted {
            Some(wanted) if wanted != kind => {
                Err(OptionError::WrongKind { option: name.to_owned(), kind, wanted })
            }
            _ => Ok(index),
        }
    }
}

/// Shows the options that have values, by name. The values of a repeatable option are numbered.
impl Browse for Options {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        for Declared { spec, default, given, .. } in &self.options {
            if spec.repeatable {
                out.subtree(&*spec.name, &List(given))?;
            } else if let Some(value) = given.first().or(default.as_ref()) {
                out.value(&*spec.name, value.borrowed())?;
            }
        }
        ControlFlow::Continue(())
    }
}

struct List<'a>(&'a [AttributeValue<'static>]);

impl Browse for List<'_> {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        (0..).zip(self.0).try_for_each(|(index, value)| out.value(index, value.borrowed()))
    }
}

/// An error for an option or its value.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// This name or letter is invalid on a command line.
    #[error("invalid option name `{0}`")]
    InvalidName(String),
    /// The option of this name is a tree, a flag or a list with a default, or a list of flags.
    #[error("option --{0} is a tree, a list of flags, or a flag or list with a default")]
    InvalidSpec(String),
    /// Two modules declare options of the same name or letter.
    #[error("option {option} of module {second} is already declared by module {first}")]
    Duplicate {
        /// The name or the letter, with its hyphens.
        option: String,
        /// The module that declared the option first.
        first: String,
        /// The module whose option was refused.
        second: String,
    },
    /// No module has an option of this name.
    #[error("unknown option --{0}")]
    Unknown(String),
    /// The option has another kind.
    #[error("option --{option} has kind {kind}, not {wanted}")]
    WrongKind {
        /// The name of the option.
        option: String,
        /// The kind of the option.
        kind: Kind,
        /// The kind that was requested or set.
        wanted: Kind,
    },
    /// The text is not a value of the option's kind.
    #[error("invalid value `{text}` for --{option}: expected kind {kind}")]
    InvalidValue {
        /// The name of the option.
        option: String,
        /// The text that was given.
        text: String,
        /// The kind of the option.
        kind: Kind,
    },
    /// The option of this name has a value and is not repeatable.
    #[error("option --{0} can be given only once")]
    AlreadySet(String),
}

ltt_read::debug_as_chain!(OptionError);
