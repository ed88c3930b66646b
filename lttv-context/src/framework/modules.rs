//! Named units of a program, started in the order of their dependencies.

use std::fmt;

use hashbrown::HashMap;

use super::options::{OptionError, OptionSpec, Options};

/// The reason why a module could not start.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The description of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleInfo {
    /// The name, by which other modules require it.
    pub name: &'static str,
    /// The purpose in one line.
    pub summary: &'static str,
    /// The purpose in full.
    pub description: &'static str,
    /// The names of the modules that have to be started before this one.
    pub requires: &'static [&'static str],
}

/// A named unit of a program: an analysis, an output or a data source.
///
/// A driver runs modules without special knowledge of them. A module declares its dependencies
/// and options. On its start it adds its hooks and attributes to the *host*: a value of any
/// type `S` that the application chooses, usually one with a [`Session`](super::Session).
///
/// ```
/// use lttv_context::framework::{Failure, Module, ModuleInfo, Modules};
///
/// struct Part(&'static str, &'static [&'static str]);
///
/// impl Module<Vec<String>> for Part {
///     fn info(&self) -> ModuleInfo {
///         ModuleInfo { name: self.0, summary: "", description: "", requires: self.1 }
///     }
///
///     fn init(&mut self, host: &mut Vec<String>) -> Result<(), Failure> {
///         host.push(format!("{} starts", self.0));
///         Ok(())
///     }
///
///     fn destroy(&mut self, host: &mut Vec<String>) {
///         host.push(format!("{} ends", self.0));
///     }
/// }
///
/// let mut modules = Modules::new();
/// modules.add(Part("statistics", &["state"]))?;
/// modules.add(Part("state", &[]))?;
/// modules.add(Part("unused", &[]))?;
///
/// let mut host = Vec::new();
/// modules.init(["statistics"], &mut host)?;
/// modules.destroy(&mut host);
/// assert_eq!(host, ["state starts", "statistics starts", "statistics ends", "state ends"]);
/// # Ok::<(), lttv_context::framework::ModuleError>(())
/// ```
pub trait Module<S: ?Sized> {
    /// Returns the description of the module. Every call returns the same one.
    fn info(&self) -> ModuleInfo;

    /// Returns the options of the module. The default is no options.
    fn options(&self) -> Vec<OptionSpec> {
        Vec::new()
    }

    /// Starts the module, after the modules that it requires.
    ///
    /// # Errors
    ///
    /// Returns the reason why the module could not start. It must have undone its changes to the
    /// host then, since [`destroy`](Module::destroy) will not be called.
    fn init(&mut self, host: &mut S) -> Result<(), Failure>;

    /// Stops the module, before the modules that it requires. It is called only after a successful
    /// [`init`](Module::init), once for each.
    fn destroy(&mut self, host: &mut S) {
        let _ = host;
    }
}

/// A registry of modules by name.
pub struct Modules<S: ?Sized> {
    modules: Vec<Entry<S>>,
    by_name: HashMap<&'static str, usize>,
    /// The indices of the started modules, in the order of their starts.
    started: Vec<usize>,
}

struct Entry<S: ?Sized> {
    module: Box<dyn Module<S>>,
    info: ModuleInfo,
    started: bool,
    /// The number of uses: starts by its name that have not been released.
    uses: u64,
}

impl<S: ?Sized> Modules<S> {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Modules { modules: Vec::new(), by_name: HashMap::new(), started: Vec::new() }
    }

    /// Adds a module. The modules that it requires may be added later.
    ///
    /// # Errors
    ///
    /// Returns [`Duplicate`](ModuleError::Duplicate) if there is already a module of this name.
    pub fn add(&mut self, module: impl Module<S> + 'static) -> Result<(), ModuleError> {
        let info = module.info();
        let index = self.modules.len();
        if self.by_name.try_insert(info.name, index).is_err() {
            return Err(ModuleError::Duplicate(info.name.to_owned()));
        }
        self.modules.push(Entry { module: Box::new(module), info, started: false, uses: 0 });
        Ok(())
    }

    /// Iterates over the descriptions of all modules, in the order in which they were added.
    pub fn infos(&self) -> impl ExactSizeIterator<Item = ModuleInfo> {
        self.modules.iter().map(|entry| entry.info)
    }

    /// Iterates over the descriptions of the started modules, in the order of their starts.
    pub fn started(&self) -> impl ExactSizeIterator<Item = ModuleInfo> {
        self.started.iter().map(|&index| self.modules[index].info)
    }

    /// Returns the options of a module, or `None` if there is no such module.
    pub fn options_of(&self, name: &str) -> Option<Vec<OptionSpec>> {
        let index = *self.by_name.get(name)?;
        Some(self.modules[index].module.options())
    }

    /// Adds the options of all modules to `options`.
    ///
    /// # Errors
    ///
    /// Returns the error for the first option that is refused.
    pub fn declare_options(&self, options: &mut Options) -> Result<(), OptionError> {
        for Entry { module, info, .. } in &self.modules {
            module.options().into_iter().try_for_each(|spec| options.declare(info.name, spec))?;
        }
        Ok(())
    }

    /// Computes the order in which the named modules and all their direct and indirect dependencies
    /// start. Each is listed once, after its dependencies, and otherwise in the order of the names
    /// given and required.
    ///
    /// # Errors
    ///
    /// Returns [`Unknown`](ModuleError::Unknown) if there is no module of a given name,
    /// [`Missing`](ModuleError::Missing) if there is none of a required name, and
    /// [`Cycle`](ModuleError::Cycle) if modules require each other.
    pub fn order<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Vec<ModuleInfo>, ModuleError> {
        let order = self.order_indices(names)?;
        Ok(order.into_iter().map(|index| self.modules[index].info).collect())
    }

    /// Starts the named modules, after all modules that they require. Modules that are already
    /// started are left alone. Each named module is used once more, and stays started until it is
    /// [released](Modules::release) as often.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`order`](Modules::order), in which case nothing was started. Returns
    /// [`Init`](ModuleError::Init) if a module fails to start. The modules started by this call
    /// have been stopped again then.
    pub fn init<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n str>,
        host: &mut S,
    ) -> Result<(), ModuleError> {
        let before = self.started.len();
        let names: Vec<&str> = names.into_iter().collect();
        for index in self.order_indices(names.iter().copied())? {
            let Entry { module, info, started, .. } = &mut self.modules[index];
            if *started {
                continue;
            }
            if let Err(error) = module.init(host) {
                let module = info.name.to_owned();
                self.destroy_down_to(before, host);
                return Err(ModuleError::Init { module, error });
            }
            *started = true;
            self.started.push(index);
        }
        for name in names {
            if let Some(index) = self.by_name.get(name) {
                self.modules[*index].uses += 1;
            }
        }
        Ok(())
    }

    /// Ends one use of a module that was started by its name. Modules without a remaining use that
    /// no started module requires are stopped: this module and those that it required. Of these,
    /// the one that was started last is stopped first. They can be started again.
    ///
    /// # Errors
    ///
    /// Returns [`Unknown`](ModuleError::Unknown) if there is no module of this name, and
    /// [`NotInUse`](ModuleError::NotInUse) if it was not started by its name, or has been released
    /// as often. Nothing is stopped then.
    ///
    /// ```
    /// # use lttv_context::framework::{Failure, Module, ModuleError, ModuleInfo, Modules};
    /// # struct Part(&'static str, &'static [&'static str]);
    /// # impl Module<()> for Part {
    /// #     fn info(&self) -> ModuleInfo {
    /// #         ModuleInfo { name: self.0, summary: "", description: "", requires: self.1 }
    /// #     }
    /// #     fn init(&mut self, (): &mut ()) -> Result<(), Failure> { Ok(()) }
    /// # }
    /// # let mut modules = Modules::new();
    /// # modules.add(Part("statistics", &["state"]))?;
    /// # modules.add(Part("charts", &["state"]))?;
    /// # modules.add(Part("state", &[]))?;
    /// modules.init(["statistics", "charts"], &mut ())?; // both require "state"
    /// modules.release("charts", &mut ())?;
    /// let started: Vec<_> = modules.started().map(|info| info.name).collect();
    /// assert_eq!(started, ["state", "statistics"]);
    /// modules.release("statistics", &mut ())?;
    /// assert_eq!(modules.started().len(), 0);
    /// assert!(matches!(modules.release("state", &mut ()), Err(ModuleError::NotInUse(_))));
    /// # Ok::<(), ModuleError>(())
    /// ```
    pub fn release(&mut self, name: &str, host: &mut S) -> Result<(), ModuleError> {
        let index = self.by_name.get(name);
        let index = *index.ok_or_else(|| ModuleError::Unknown(name.to_owned()))?;
        let uses = &mut self.modules[index].uses;
        *uses = uses.checked_sub(1).ok_or_else(|| ModuleError::NotInUse(name.to_owned()))?;
        let used = self.modules.iter().filter(|entry| entry.uses > 0).map(|entry| entry.info.name);
        let mut needed = vec![false; self.modules.len()];
        self.order_indices(used)?.into_iter().for_each(|index| needed[index] = true);
        for at in (0..self.started.len()).rev() {
            if needed[self.started[at]] {
                continue;
            }
            let index = self.started.remove(at);
            let Entry { module, started, .. } = &mut self.modules[index];
            *started = false;
            module.destroy(host);
        }
        Ok(())
    }

    /// Stops all started modules, the last one first, however often they are used. They can be
    /// started again.
    ///
    /// Dropping the registry does not stop them, since modules need the host for that.
    pub fn destroy(&mut self, host: &mut S) {
        self.modules.iter_mut().for_each(|entry| entry.uses = 0);
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
            let index = *index.ok_or_else(|| ModuleError::Unknown(name.to_owned()))?;
            visit.visit(index)?;
        }
        Ok(visit.order)
    }
}

/// The state of a module in the depth-first search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unseen,
    /// The modules that it requires are being ordered.
    Open,
    Ordered,
}

/// A depth-first search through the dependencies of modules.
struct Visit<'m, S: ?Sized> {
    modules: &'m Modules<S>,
    marks: Vec<Mark>,
    order: Vec<usize>,
}

impl<S: ?Sized> Visit<'_, S> {
    /// Orders a module after all that it requires. An explicit stack is used since chains of
    /// dependencies may be long.
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
                    return Err(ModuleError::Cycle(cycle.map(name).collect()));
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

/// An error from registering, ordering or starting modules.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// Two modules have this name.
    #[error("duplicate module `{0}`")]
    Duplicate(String),
    /// There is no module of this requested name.
    #[error("unknown module `{0}`")]
    Unknown(String),
    /// A module to be released was not started by its name, or has been released as often.
    #[error("module `{0}` is not in use by its name")]
    NotInUse(String),
    /// There is no module of a required name.
    #[error("module `{module}` requires unknown module `{required}`")]
    Missing {
        /// The name of the module that has the requirement.
        module: String,
        /// The name of the missing module.
        required: String,
    },
    /// Modules require each other in a cycle: each of these the next. The last name repeats the
    /// first.
    #[error("modules require each other in a cycle: {}", .0.join(" → "))]
    Cycle(Vec<String>),
    /// A module could not start.
    #[error("module `{module}` could not start")]
    Init {
        /// The name of the module.
        module: String,
        /// The error from the module.
        #[source]
        error: Failure,
    },
}

ltt_read::debug_as_chain!(ModuleError);
