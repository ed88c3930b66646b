//! A registry of kinds of viewers.

use std::fmt;

/// The description of a kind of viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewerKind {
    /// The unique name of the kind.
    pub name: String,
    /// The path in menus, outermost first; the last element is the title of the kind.
    pub menu: Vec<String>,
    /// A description of its purpose, in one sentence.
    pub description: String,
}

/// The kinds of viewers that an application can open. Modules register their kinds, and
/// menus list all of them.
///
/// The type `C` is the context in which a viewer is opened (a tab and a scheduler, for
/// example), and `V` is the application's type of viewers.
///
/// ```
/// use lttv_requests::views::{ViewerKind, ViewerKinds};
///
/// let mut kinds: ViewerKinds<'_, u32, String> = ViewerKinds::new();
/// let kind = |name: &str, menu: [&str; 2]| ViewerKind {
///     name: name.to_owned(),
///     menu: menu.map(str::to_owned).to_vec(),
///     description: format!("Shows {name}"),
/// };
/// kinds.register(kind("histogram", ["View", "Histogram"]), |tab| format!("histogram of {tab}"))?;
/// kinds.register(kind("list", ["View", "Events"]), |tab| format!("list of {tab}"))?;
///
/// let menu: Vec<_> = kinds.by_menu().map(|kind| kind.menu.join("/")).collect();
/// assert_eq!(menu, ["View/Events", "View/Histogram"]);
/// assert_eq!(kinds.open("list", &mut 7).as_deref(), Some("list of 7"));
/// assert!(kinds.open("map", &mut 7).is_none());
/// # Ok::<(), lttv_requests::views::DuplicateKind>(())
/// ```
pub struct ViewerKinds<'k, C: ?Sized, V> {
    kinds: Vec<(ViewerKind, Box<Constructor<'k, C, V>>)>,
}

type Constructor<'k, C, V> = dyn FnMut(&mut C) -> V + 'k;

/// An error from registering a kind with a name that is in use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("viewer kind `{name}` is already registered")]
#[non_exhaustive]
pub struct DuplicateKind {
    /// The name that is in use.
    pub name: String,
}

impl<'k, C: ?Sized, V> ViewerKinds<'k, C, V> {
    /// Creates an empty registry.
    pub fn new() -> Self {
        ViewerKinds { kinds: Vec::new() }
    }

    /// Registers a kind with the function that opens its viewers.
    ///
    /// # Errors
    ///
    /// Returns an error if a kind with this name is registered already.
    pub fn register(
        &mut self,
        kind: ViewerKind,
        open: impl FnMut(&mut C) -> V + 'k,
    ) -> Result<(), DuplicateKind> {
        if self.find(&kind.name).is_some() {
            return Err(DuplicateKind { name: kind.name });
        }
        self.kinds.push((kind, Box::new(open)));
        Ok(())
    }

    /// Removes a kind, for example when its module is unloaded. Open viewers are not
    /// affected. Returns whether the kind was registered.
    pub fn unregister(&mut self, name: &str) -> bool {
        let before = self.kinds.len();
        self.kinds.retain(|(kind, _)| kind.name != name);
        self.kinds.len() < before
    }

    /// Finds the kind with a name.
    pub fn find(&self, name: &str) -> Option<&ViewerKind> {
        self.kinds.iter().map(|(kind, _)| kind).find(|kind| kind.name == name)
    }

    /// Iterates over all kinds, ordered by their paths in menus.
    pub fn by_menu(&self) -> impl Iterator<Item = &ViewerKind> {
        let mut kinds: Vec<_> = self.kinds.iter().map(|(kind, _)| kind).collect();
        kinds.sort_by(|a, b| a.menu.cmp(&b.menu));
        kinds.into_iter()
    }

    /// Opens a viewer. Returns `None` if no kind has this name.
    pub fn open(&mut self, name: &str, with: &mut C) -> Option<V> {
        let (_, open) = self.kinds.iter_mut().find(|(kind, _)| kind.name == name)?;
        Some(open(with))
    }
}

impl<C: ?Sized, V> Default for ViewerKinds<'_, C, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: ?Sized, V> fmt::Debug for ViewerKinds<'_, C, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds.iter().map(|(kind, _)| kind)).finish()
    }
}
