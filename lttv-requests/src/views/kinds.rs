//! Which viewers can be opened.

use std::fmt;

/// What an application says of a kind of viewer to who may want one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewerKind {
    /// By which it is known, unique.
    pub name: String,
    /// Where it is in menus, the outermost first; its own title is the last.
    pub menu: Vec<String>,
    /// What it is good for, in a sentence.
    pub description: String,
}

/// The kinds of viewers that an application can open: modules register theirs,
/// menus are made of all.
///
/// `C` is what a viewer is opened with (the tab, a scheduler), `V` what an
/// application knows of a viewer.
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

/// There is a kind of this name already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is a viewer `{name}` already")]
#[non_exhaustive]
pub struct DuplicateKind {
    /// The name.
    pub name: String,
}

impl<'k, C: ?Sized, V> ViewerKinds<'k, C, V> {
    /// None.
    pub fn new() -> Self {
        ViewerKinds { kinds: Vec::new() }
    }

    /// Adds a kind, and how to open one.
    ///
    /// # Errors
    ///
    /// If there is one of this name.
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

    /// Takes a kind out, as when its module goes. Whether it was there; viewers of
    /// it stay.
    pub fn unregister(&mut self, name: &str) -> bool {
        let before = self.kinds.len();
        self.kinds.retain(|(kind, _)| kind.name != name);
        self.kinds.len() < before
    }

    /// The kind of a name.
    pub fn find(&self, name: &str) -> Option<&ViewerKind> {
        self.kinds.iter().map(|(kind, _)| kind).find(|kind| kind.name == name)
    }

    /// All kinds in the order of their places in menus.
    pub fn by_menu(&self) -> impl Iterator<Item = &ViewerKind> {
        let mut kinds: Vec<_> = self.kinds.iter().map(|(kind, _)| kind).collect();
        kinds.sort_by(|a, b| a.menu.cmp(&b.menu));
        kinds.into_iter()
    }

    /// Opens a viewer; `None` if there is no kind of this name.
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
