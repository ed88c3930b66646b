//! Options that modules contribute and an application parses.
//!
//! A module says with an [`OptionSpec`] what it can be told. The application
//! collects these in [`Options`], asks its user in whatever way it likes (a
//! command line, a file, a dialog), and puts in the answers; the module takes
//! them out again, typed.
//!
//! ```
//! use lttv_context::attributes::Kind;
//! use lttv_context::options::{OptionSpec, Options};
//!
//! let mut options = Options::new();
//! options.declare("rates", OptionSpec::new("interval", Kind::Duration, "Length of a row")
//!     .short('i')
//!     .value_name("SECONDS")
//!     .default("1"))?;
//! options.declare("rates", OptionSpec::flag("per-cpu", "Count each CPU by itself"))?;
//!
//! // What a command line holds is text.
//! options.set_text("interval", "0.25")?;
//!
//! let interval = options.get::<std::time::Duration>("interval")?;
//! assert_eq!(interval.map(|d| d.as_millis()), Some(250));
//! assert!(!options.is_set("per-cpu")?);
//! # Ok::<(), lttv_context::options::OptionError>(())
//! ```
//!
//! # With clap
//!
//! The crate depends on no parser, but specifications have what `clap` needs:
//!
//! ```text
//! for spec in options.specs() {
//!     let mut arg = Arg::new(spec.name).long(spec.name).help(spec.help);
//!     arg = match spec.kind {
//!         Kind::Bool => arg.action(ArgAction::SetTrue),
//!         _ => arg.value_parser(move |text: &str| spec.parse(text)).action(…),
//!     };
//! }
//! ```
//!
//! The example program `lttv` has the whole of it, in one file.

use std::borrow::Cow;
use std::ops::ControlFlow;

use hashbrown::HashMap;

use crate::attributes::{AttributeType, Browse, Entries, Kind, Value};

/// What a module can be told.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OptionSpec {
    /// Its name, as after `--`: lower-case letters, digits and hyphens,
    /// beginning with a letter.
    pub name: Cow<'static, str>,
    /// A letter or digit for it, as after `-`.
    pub short: Option<char>,
    /// One line for those who ask.
    pub help: Cow<'static, str>,
    /// What its value is. An option of kind [`Bool`](Kind::Bool) is a flag: it
    /// is given or not, and takes no text.
    pub kind: Kind,
    /// How to call its value in help.
    pub value_name: Cow<'static, str>,
    /// The value, as a user would write it, if none is given.
    pub default: Option<Cow<'static, str>>,
    /// Whether it can be given more than once, and has a list of values.
    pub repeatable: bool,
}

impl OptionSpec {
    /// An option that takes a value.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        kind: Kind,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        let value_name = kind.name().to_uppercase().into();
        let (name, help) = (name.into(), help.into());
        OptionSpec { name, short: None, help, kind, value_name, default: None, repeatable: false }
    }

    /// An option that is given or not.
    pub fn flag(name: impl Into<Cow<'static, str>>, help: impl Into<Cow<'static, str>>) -> Self {
        OptionSpec::new(name, Kind::Bool, help)
    }

    /// With a letter for it.
    pub fn short(self, short: char) -> Self {
        OptionSpec { short: Some(short), ..self }
    }

    /// With a name for its value.
    pub fn value_name(self, value_name: impl Into<Cow<'static, str>>) -> Self {
        OptionSpec { value_name: value_name.into(), ..self }
    }

    /// With a value for when none is given.
    pub fn default(self, text: impl Into<Cow<'static, str>>) -> Self {
        OptionSpec { default: Some(text.into()), ..self }
    }

    /// To be given any number of times.
    pub fn repeatable(self) -> Self {
        OptionSpec { repeatable: true, ..self }
    }

    /// Reads a value for it.
    ///
    /// # Errors
    ///
    /// [`OptionError::Value`].
    pub fn parse(&self, text: &str) -> Result<Value<'static>, OptionError> {
        Value::parse(self.kind, text).ok_or_else(|| OptionError::Value {
            option: self.name.to_string(),
            text: text.to_owned(),
            kind: self.kind,
        })
    }

    /// Its default, read.
    fn default_value(&self) -> Result<Option<Value<'static>>, OptionError> {
        self.default.as_ref().map(|text| self.parse(text)).transpose()
    }

    fn check(&self) -> Result<(), OptionError> {
        let mut chars = self.name.chars();
        let begins = chars.next().is_some_and(|c| c.is_ascii_lowercase());
        if !begins || !chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
            return Err(OptionError::Name { name: self.name.to_string() });
        }
        if let Some(short) = self.short.filter(|short| !short.is_ascii_alphanumeric()) {
            return Err(OptionError::Name { name: short.to_string() });
        }
        // One that is set by default could not be unset, and what is given
        // beside a list's default leaves open whether it adds to it.
        let flag = self.kind == Kind::Bool;
        let no_default = flag || self.repeatable;
        if self.kind == Kind::Tree
            || flag && self.repeatable
            || no_default && self.default.is_some()
        {
            return Err(OptionError::Form { option: self.name.to_string() });
        }
        self.default_value().map(|_| ())
    }
}

/// Options of all modules, and their values.
///
/// Names are unique across modules: two modules that mean different things by
/// one name are refused, instead of one hiding the other.
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
    default: Option<Value<'static>>,
    given: Vec<Value<'static>>,
}

impl Options {
    /// No options.
    pub fn new() -> Self {
        Options::default()
    }

    /// Adds an option of a module.
    ///
    /// # Errors
    ///
    /// [`Name`](OptionError::Name), [`Form`](OptionError::Form) or
    /// [`Value`](OptionError::Value) if the specification is not sound;
    /// [`Taken`](OptionError::Taken) if there is one of that name or letter.
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
            return Err(OptionError::Taken { option, first, second: module });
        }
        let index = self.options.len();
        self.by_name.insert(spec.name.clone(), index);
        self.by_short.extend(spec.short.map(|short| (short, index)));
        let default = spec.default_value()?;
        self.options.push(Declared { module, spec, default, given: Vec::new() });
        Ok(())
    }

    /// The options, in the order in which they were declared.
    pub fn specs(&self) -> impl ExactSizeIterator<Item = &OptionSpec> {
        self.options.iter().map(|option| &option.spec)
    }

    /// The module that an option belongs to.
    pub fn module(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).map(|&index| self.options[index].module.as_str())
    }

    /// Gives an option a value: the only one, or one more if it is repeatable.
    ///
    /// # Errors
    ///
    /// [`Unknown`](OptionError::Unknown), [`Kind`](OptionError::Kind), or
    /// [`Again`](OptionError::Again) if it has one and is not repeatable.
    pub fn set<'v>(&mut self, name: &str, value: impl Into<Value<'v>>) -> Result<(), OptionError> {
        let value = value.into();
        let index = self.find(name, Some(value.kind()))?;
        let Declared { spec, given, .. } = &mut self.options[index];
        if !given.is_empty() && !spec.repeatable {
            return Err(OptionError::Again { option: name.to_owned() });
        }
        given.push(value.into_owned());
        Ok(())
    }

    /// Gives an option a value that a user wrote.
    ///
    /// # Errors
    ///
    /// Like [`set`](Options::set), and [`Value`](OptionError::Value).
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<(), OptionError> {
        let index = self.find(name, None)?;
        self.set(name, self.options[index].spec.parse(text)?)
    }

    /// Whether a flag was given.
    ///
    /// # Errors
    ///
    /// [`Unknown`](OptionError::Unknown), or [`Kind`](OptionError::Kind) if it is
    /// no flag.
    pub fn is_set(&self, name: &str) -> Result<bool, OptionError> {
        Ok(self.get::<bool>(name)?.copied().unwrap_or(false))
    }

    /// The value of an option, else its default, if it has one.
    ///
    /// # Errors
    ///
    /// [`Unknown`](OptionError::Unknown), or [`Kind`](OptionError::Kind) if it is
    /// of another kind.
    pub fn get<T: AttributeType>(&self, name: &str) -> Result<Option<&T>, OptionError> {
        let Declared { given, default, .. } = &self.options[self.find(name, Some(T::KIND))?];
        Ok(given.first().or(default.as_ref()).and_then(T::from_value))
    }

    /// All values that an option was given, in order.
    ///
    /// # Errors
    ///
    /// Like [`get`](Options::get).
    pub fn all<T: AttributeType>(&self, name: &str) -> Result<Vec<&T>, OptionError> {
        let Declared { given, .. } = &self.options[self.find(name, Some(T::KIND))?];
        Ok(given.iter().filter_map(T::from_value).collect())
    }

    fn find(&self, name: &str, wanted: Option<Kind>) -> Result<usize, OptionError> {
        let Some(&index) = self.by_name.get(name) else {
            return Err(OptionError::Unknown { option: name.to_owned() });
        };
        let kind = self.options[index].spec.kind;
        match wanted {
            Some(wanted) if wanted != kind => {
                Err(OptionError::Kind { option: name.to_owned(), kind, wanted })
            }
            _ => Ok(index),
        }
    }
}

/// Shows the options that have values, by name; lists by number below.
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

struct List<'a>(&'a [Value<'static>]);

impl Browse for List<'_> {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        (0..).zip(self.0).try_for_each(|(index, value)| out.value(index, value.borrowed()))
    }
}

/// Why an option was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// A name that would not do on a command line.
    #[error("`{name}` cannot be the name of an option")]
    Name {
        /// The name, or the letter.
        name: String,
    },
    /// A tree as value, a flag or a list with a default, or a list of flags.
    #[error("--{option} has a form that options cannot have")]
    Form {
        /// The option.
        option: String,
    },
    /// Two modules have an option of one name or one letter.
    #[error("option {option} of module {second} is one of module {first} already")]
    Taken {
        /// The name or the letter.
        option: String,
        /// The module that declared it first.
        first: String,
        /// The module that was refused.
        second: String,
    },
    /// No module has an option of this name.
    #[error("there is no option --{option}")]
    Unknown {
        /// The name.
        option: String,
    },
    /// The option is of another kind.
    #[error("option --{option} has kind {kind}, not {wanted}")]
    Kind {
        /// The option.
        option: String,
        /// What it is.
        kind: Kind,
        /// What was asked for or put in.
        wanted: Kind,
    },
    /// The text is no value of the option's kind.
    #[error("`{text}` is no value for --{option}, which has kind {kind}")]
    Value {
        /// The option.
        option: String,
        /// What was given.
        text: String,
        /// What it should be.
        kind: Kind,
    },
    /// The option has a value, and can have only one.
    #[error("option --{option} can be given only once")]
    Again {
        /// The option.
        option: String,
    },
}
