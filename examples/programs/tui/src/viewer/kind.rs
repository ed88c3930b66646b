//! Kinds of viewers, and the actions that they add.

use std::fmt;

use super::{Setup, Viewer};
use crate::keys::Key;

/// A kind of viewers: how to construct one, and its own actions and keys.
pub struct ViewerKind {
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    actions: Vec<ViewerAction>,
    construct: Box<Construct>,
}

type Construct = dyn Fn(&mut Setup<'_>) -> Box<dyn Viewer>;

/// An action of a kind of viewers, and its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewerAction {
    name: &'static str,
    text: &'static str,
    keys: Vec<Key>,
    needs_focus: bool,
}

impl ViewerKind {
    /// Creates a kind without actions from its unique name, the title of its viewers, and the
    /// function that constructs one.
    pub fn new(
        name: &'static str,
        title: &'static str,
        construct: impl Fn(&mut Setup<'_>) -> Box<dyn Viewer> + 'static,
    ) -> Self {
        ViewerKind { name, title, summary: "", actions: Vec::new(), construct: Box::new(construct) }
    }

    /// Sets the purpose, in one line.
    #[must_use]
    pub fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// Adds an action. Its name is unique among those of the kind.
    #[must_use]
    pub fn action(mut self, action: ViewerAction) -> Self {
        self.actions.push(action);
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the title of the viewers.
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// Returns the purpose, in one line.
    pub fn purpose(&self) -> &'static str {
        self.summary
    }

    /// Returns the actions.
    pub fn actions(&self) -> &[ViewerAction] {
        &self.actions
    }

    /// Finds the action of a key.
    pub fn action_of(&self, key: Key) -> Option<&ViewerAction> {
        self.actions.iter().find(|action| action.keys.contains(&key))
    }

    /// Constructs a viewer.
    pub(super) fn construct(&self, setup: &mut Setup<'_>) -> Box<dyn Viewer> {
        (self.construct)(setup)
    }
}

impl ViewerAction {
    /// Creates an action from its name, its line in the help, and its keys.
    pub fn new(
        name: &'static str,
        text: &'static str,
        keys: impl IntoIterator<Item = Key>,
    ) -> Self {
        ViewerAction { name, text, keys: keys.into_iter().collect(), needs_focus: true }
    }

    /// Lets the keys work without the focus, too. A key that has no meaning in the viewer with the
    /// focus, or in all viewers, then goes to the first visible viewer with such an action.
    #[must_use]
    pub fn without_focus(mut self) -> Self {
        self.needs_focus = false;
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the line in the help.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// Returns the keys.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Returns `true` if the keys only work while the viewer has the focus.
    pub fn needs_focus(&self) -> bool {
        self.needs_focus
    }
}

impl fmt::Debug for ViewerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewerKind")
            .field("name", &self.name)
            .field("actions", &self.actions)
            .finish_non_exhaustive()
    }
}
