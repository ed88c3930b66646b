//! Selection of the modules that a command line loads.
//!
//! A module declares options, so the meaning of a word (an option, or the value of the
//! previous option) can depend on the modules named before it. As in LTTV, words are
//! processed from left to right, and the options of a module are known from its name on.
//! The option that lists fields loads the module that prints.

use lttv_context::attributes::Kind;
use lttv_context::framework::{ModuleError, Modules, OptionError, OptionSpec, Options};

/// The option that lists fields, its letter, and the module that it loads.
const LIST_FIELDS: (&str, char, &str) = ("list-fields", 'l', "print");

/// An error from loading modules.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A module, or a module that it requires, does not exist.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// Another module has declared an option of the same name.
    #[error(transparent)]
    Option(#[from] OptionError),
}

/// Returns the names of the modules that the words load by `-m NAME` or `--module NAME`.
/// Declares the options of these modules and of those that they require.
///
/// Other faults of the words are ignored: the parser of the command line reports them.
///
/// # Errors
///
/// If a module or a module that it requires does not exist, or if two modules declare the
/// same option.
pub fn load<S: ?Sized>(
    words: impl IntoIterator<Item = String>,
    modules: &Modules<S>,
    options: &mut Options,
) -> Result<Vec<String>, LoadError> {
    let (mut loaded, mut declared) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        match meaning(&word, options) {
            Meaning::Other => {}
            Meaning::TakesNext => drop(words.next()),
            Meaning::Module(name) => {
                let Some(name) = name.or_else(|| words.next()) else { break };
                for info in modules.order([&*name])? {
                    if !declared.contains(&info.name) {
                        declared.push(info.name);
                        let specs = modules.options_of(info.name).into_iter().flatten();
                        for spec in specs {
                            options.declare(info.name, spec)?;
                        }
                    }
                }
                loaded.push(name);
            }
        }
    }
    Ok(loaded)
}

/// The meaning of a word for the next words.
enum Meaning {
    /// An option that loads a module: the one named in the same word, or in the next
    /// word if `None`.
    Module(Option<String>),
    /// An option with the next word as its value.
    TakesNext,
    /// A word without influence on the next words.
    Other,
}

/// Returns `true` if the option has this name, with hyphens or with underscores.
fn has_name(spec: &OptionSpec, name: &str) -> bool {
    spec.name == name || spec.name.replace('-', "_") == name
}

/// Determines the meaning of a word.
fn meaning(word: &str, options: &Options) -> Meaning {
    let takes = |spec: &&OptionSpec| spec.kind != Kind::Bool;
    if let Some(long) = word.strip_prefix("--") {
        return match long.split_once('=') {
            Some(("module", name)) => Meaning::Module(Some(name.to_owned())),
            Some(_) => Meaning::Other,
            None if long == "module" => Meaning::Module(None),
            None if long.replace('_', "-") == LIST_FIELDS.0 => {
                Meaning::Module(Some(LIST_FIELDS.2.to_owned()))
            }
            None if options.specs().filter(takes).any(|spec| has_name(spec, long)) => {
                Meaning::TakesNext
            }
            None => Meaning::Other,
        };
    }
    // The letters of flags may be joined, and an option with a value may follow them.
    let letters = word.strip_prefix('-').unwrap_or_default();
    for (at, letter) in letters.char_indices() {
        let rest = &letters[at + letter.len_utf8()..];
        if letter == 'm' {
            let name = rest.strip_prefix('=').unwrap_or(rest);
            return Meaning::Module((!name.is_empty()).then(|| name.to_owned()));
        }
        match options.specs().find(|spec| spec.short == Some(letter)) {
            None if letter == LIST_FIELDS.1 => {
                return Meaning::Module(Some(LIST_FIELDS.2.to_owned()));
            }
            Some(spec) if spec.kind == Kind::Bool => {}
            Some(_) if rest.is_empty() => return Meaning::TakesNext,
            _ => return Meaning::Other,
        }
    }
    Meaning::Other
}

#[cfg(test)]
mod tests {
    use lttv_context::framework::{Failure, Module, ModuleInfo};

    use super::*;

    struct Part(&'static str, &'static [&'static str], OptionSpec);

    impl Module<()> for Part {
        fn info(&self) -> ModuleInfo {
            ModuleInfo { name: self.0, summary: "", description: "", requires: self.1 }
        }
        fn options(&self) -> Vec<OptionSpec> {
            vec![self.2.clone()]
        }
        fn init(&mut self, (): &mut ()) -> Result<(), Failure> {
            Ok(())
        }
    }

    fn loaded(words: &str) -> Result<(Vec<String>, usize), LoadError> {
        let mut modules = Modules::new();
        let text = OptionSpec::new("text", Kind::Text, "").short('t');
        modules.add(Part("a", &[], text)).unwrap();
        modules.add(Part("b", &["a"], OptionSpec::flag("quick", "").short('q'))).unwrap();
        modules.add(Part("c", &[], OptionSpec::flag("slow", "").short('m'))).unwrap();
        let mut options = Options::new();
        let words = words.split_whitespace().map(str::to_owned);
        Ok((load(words, &modules, &mut options)?, options.specs().len()))
    }

    #[test]
    fn words_load_modules() {
        let names = |words| {
            let (names, options) = loaded(words).unwrap();
            (names.join(" "), options)
        };
        assert_eq!(names(""), (String::new(), 0));
        assert_eq!(names("-m a -mb --module=b --module c"), ("a b b c".into(), 3));
        assert_eq!(names("-m b -qm a"), ("b a".into(), 2), "b requires a");
        assert_eq!(names("-m a -t -m --text -m -t=-m -tm"), ("a".into(), 1), "values");
        assert_eq!(names("-t -m a"), ("a".into(), 1), "no option yet");
        assert_eq!(names("-m a -- -m b"), ("a".into(), 1));
        assert_eq!(names("-m"), (String::new(), 0));
        // The list of fields needs the module that prints, which these modules lack.
        for words in ["-l", "-m b -ql", "--list-fields", "--list_fields", "-m b -lt x"] {
            assert!(matches!(loaded(words), Err(LoadError::Module(ModuleError::Unknown { .. }))));
        }
        assert_eq!(names("-m a -t -l"), ("a".into(), 1), "a value");
        assert!(matches!(loaded("-m d"), Err(LoadError::Module(ModuleError::Unknown { .. }))));
    }
}
