//! Named units of a program, started in the order of their dependencies.
//!
//! A [`Module`] is an analysis, an output, a source of data: something that a
//! driver runs without knowing it. It says what it needs, contributes options,
//! and when started puts its hooks and attributes where they belong, into the
//! *host*: a value of the application, of any type `S`, most often one with a
//! [`Session`](crate::session::Session).
//!
//! ```
//! use lttv_context::modules::{Failure, Module, ModuleInfo, Modules};
//!
//! struct Part(&'static str, &'static [&'static str]);
//!
//! impl Module<Vec<String>> for Part {
//!     fn info(&self) -> ModuleInfo {
//!         ModuleInfo { name: self.0, summary: "", description: "", requires: self.1 }
//!     }
//!
//!     fn init(&mut self, host: &mut Vec<String>) -> Result<(), Failure> {
//!         host.push(format!("{} starts", self.0));
//!         Ok(())
//!     }
//!
//!     fn destroy(&mut self, host: &mut Vec<String>) {
//!         host.push(format!("{} ends", self.0));
//!     }
//! }
//!
//! let mut modules = Modules::new();
//! modules.add(Part("statistics", &["state"]))?;
//! modules.add(Part("state", &[]))?;
//! modules.add(Part("unused", &[]))?;
//!
//! let mut host = Vec::new();
//! modules.init(["statistics"], &mut host)?;
//! modules.destroy(&mut host);
//! assert_eq!(host, ["state starts", "statistics starts", "statistics ends", "state ends"]);
//! # Ok::<(), lttv_context::modules::ModuleError>(())
//! ```

use std::fmt;

use hashbrown::HashMap;

use crate::options::{OptionError, OptionSpec, Options};

/// Why a module could not start.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a module is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleInfo {
    /// Its name, by which others require it.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it does, in full.
    pub description: &'static str,
    /// The names of the modules that have to be started before it.
    pub requires: &'static [&'static str],
}

/// A named unit of a program. See the [module](crate::modules) for an example.
pub trait Module<S: ?Sized> {
    /// What it is: the same whenever it is asked.
    fn info(&self) -> ModuleInfo;

    /// What it can be told. Asked once, before anything is started.
    fn options(&self) -> Vec<OptionSpec> {
        Vec::new()
    }

    /// Starts it, after all that it requires.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from starting. It must have left nothing behind in the
    /// host then: it will not be destroyed.
    fn init(&mut self, host: &mut S) -> Result<(), Failure>;

    /// Ends it, before anything that it requires. Only called after
    /// [`init`](Module::init), and once for each.
    fn destroy(&mut self, host: &mut S) {
        let _ = host;
    }
}

/// Modules by name.
pub struct Modules<S: ?Sized> {
    modules: Vec<Entry<S>>,
    by_name: HashMap<&'static str, usize>,
    /// Those that are started, in the order of their starts.
    started: Vec<usize>,
}

struct Entry<S: ?Sized> {
    module: Box<dyn Module<S>>,
    info: ModuleInfo,
    started: bool,
}

impl<S: ?Sized> Modules<S> {
    /// No modules.
    pub fn new() -> Self {
        Modules { modules: Vec::new(), by_name: HashMap::new(), started: Vec::new() }
    }

    /// Adds a module. What it requires may be added later.
    ///
    /// # Errors
    ///
    /// [`Twice`](ModuleError::Twice) if there is one of this name.
    pub fn add(&mut self, module: impl Module<S> + 'static) -> Result<(), ModuleError> {
        let info = module.info();
        let index = self.modules.len();
        if self.by_name.try_insert(info.name, index).is_err() {
            return Err(ModuleError::Twice { module: info.name.to_owned() });
        }
        self.modules.push(Entry { module: Box::new(module), info, started: false });
        Ok(())
    }

    /// All modules, in the order in which they were added.
    pub fn infos(&self) -> impl ExactSizeIterator<Item = ModuleInfo> {
        self.modules.iter().map(|entry| entry.info)
    }

    /// The modules that are started, in the order of their starts.
    pub fn started(&self) -> impl ExactSizeIterator<Item = ModuleInfo> {
        self.started.iter().map(|&index| self.modules[index].info)
    }

    /// The options of a module; `None` if there is no such module.
    pub fn options_of(&self, name: &str) -> Option<Vec<OptionSpec>> {
        let index = *self.by_name.get(name)?;
        Some(self.modules[index].module.options())
    }

    /// Declares the options of all modules.
    ///
    /// # Errors
    ///
    /// The first option that is refused.
    pub fn declare_options(&self, options: &mut Options) -> Result<(), OptionError> {
        for Entry { module, info, .. } in &self.modules {
            module.options().into_iter().try_for_each(|spec| options.declare(info.name, spec))?;
        }
        Ok(())
    }

    /// The named modules and all that they require, directly or not: each once,
    /// and after those that it requires. Otherwise in the order of the names
    /// given and required.
    ///
    /// # Errors
    ///
    /// [`Unknown`](ModuleError::Unknown), [`Missing`](ModuleError::Missing) or
    /// [`Cycle`](ModuleError::Cycle).
    pub fn order<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Vec<ModuleInfo>, ModuleError> {
        let order = self.order_indices(names)?;
        Ok(order.into_iter().map(|index| self.modules[index].info).collect())
    }

    /// Starts the named modules, and before them all that they require. What
    /// is started already stays as it is.
    ///
    /// # Errors
    ///
    /// Those of [`order`](Modules::order): nothing was started then.
    /// [`Init`](ModuleError::Init) if a module fails: those that were started
    /// for this call have been destroyed again.
    pub fn init<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n str>,
        host: &mut S,
    ) -> Result<(), ModuleError> {
        let before = self.started.len();
        for index in self.order_indices(names)? {
            let Entry { module, info, started } = &mut self.modules[index];
            if *started {
                continue;
            }
            if let Err(source) = module.init(host) {
                let module = info.name.to_owned();
                self.destroy_down_to(before, host);
                return Err(ModuleError::Init { module, source });
            }
            *started = true;
            self.started.push(index);
        }
        Ok(())
    }

    /// Ends all modules that are started, the last one first. They can be
    /// started again.
    ///
    /// Dropping the registry does not: modules need the host for it.
    pub fn destroy(&mut self, host: &mut S) {
        self.destroy_down_to(0, host);
    }

    fn destroy_down_to(&mut self, remaining: usize, host: &mut S) {
        while self.started.len() > remaining
            && let Some(index) = self.started.pop()
        {
            let Entry { module, started, .. } = &mut self.modules[index];
            *started = false;
            module.destroy(host);
        }
    }

    fn order_indices<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Vec<usize>, ModuleError> {
        let mut visit = Visit {
            modules: self,
            marks: vec![Mark::Unseen; self.modules.len()],
            order: Vec::new(),
        };
        for name in names {
            let index = self.by_name.get(name);
            let index = *index.ok_or_else(|| ModuleError::Unknown { module: name.to_owned() })?;
            visit.visit(index)?;
        }
        Ok(visit.order)
    }
}

/// Whether a module was met while ordering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unseen,
    /// What it requires is being ordered.
    Open,
    Ordered,
}

/// A walk through what modules require, depth first.
struct Visit<'m, S: ?Sized> {
    modules: &'m Modules<S>,
    marks: Vec<Mark>,
    order: Vec<usize>,
}

impl<S: ?Sized> Visit<'_, S> {
    /// Orders a module after all that it requires. With a stack of its own:
    /// chains may be long.
    fn visit(&mut self, index: usize) -> Result<(), ModuleError> {
        let mut open = Vec::new();
        self.open(index, &mut open);
        while let Some((index, next)) = open.last_mut() {
            let info = self.modules.modules[*index].info;
            let Some(required) = info.requires.get(*next) else {
                self.marks[*index] = Mark::Ordered;
                self.order.push(*index);
                open.pop();
                continue;
            };
            *next += 1;
            let Some(&required) = self.modules.by_name.get(required) else {
                let (module, required) = (info.name.to_owned(), (*required).to_owned());
                return Err(ModuleError::Missing { module, required });
            };
            match self.marks[required] {
                Mark::Unseen => self.open(required, &mut open),
                Mark::Open => {
                    let names = open.iter().map(|&(index, _)| index).chain([required]);
                    let cycle = names.skip_while(|&index| index != required);
                    let name = |index: usize| self.modules.modules[index].info.name.to_owned();
                    return Err(ModuleError::Cycle { modules: cycle.map(name).collect() });
                }
                Mark::Ordered => {}
            }
        }
        Ok(())
    }

    fn open(&mut self, index: usize, open: &mut Vec<(usize, usize)>) {
        if self.marks[index] == Mark::Unseen {
            self.marks[index] = Mark::Open;
            open.push((index, 0));
        }
    }
}

impl<S: ?Sized> Default for Modules<S> {
    fn default() -> Self {
        Modules::new()
    }
}

impl<S: ?Sized> fmt::Debug for Modules<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modules = self.modules.iter().map(|entry| (entry.info.name, entry.started));
        f.debug_map().entries(modules).finish()
    }
}

/// Why modules were refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// Two modules have one name.
    #[error("there is a module `{module}` already")]
    Twice {
        /// The name.
        module: String,
    },
    /// A module was asked for that is not there.
    #[error("there is no module `{module}`")]
    Unknown {
        /// Its name.
        module: String,
    },
    /// A module requires one that is not there.
    #[error("module `{module}` requires `{required}`, which is not there")]
    Missing {
        /// The one that requires it.
        module: String,
        /// The one that is not there.
        required: String,
    },
    /// Modules require each other in a circle.
    #[error("modules require each other in a circle: {}", modules.join(" → "))]
    Cycle {
        /// The names on the circle, each requiring the next; the last is the
        /// first again.
        modules: Vec<String>,
    },
    /// A module could not start.
    #[error("module `{module}` could not start: {source}")]
    Init {
        /// Its name.
        module: String,
        /// Why.
        source: Failure,
    },
}
