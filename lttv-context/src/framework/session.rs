//! The state that the parts of a program share.

use std::fmt;

use lttv_hooks::{Flow, Hooks};

use super::options::Options;
use crate::attributes::Attributes;

/// The state that the parts of a program share: attributes, options, and lists of hooks. The
/// application creates and owns it. There may be several: nothing here is global.
///
/// `data` holds anything else that the parts share, such as a [`Batch`](super::Batch).
///
/// [Modules](super::Module) add hooks to the lists when they start. The application then
/// [runs](Session::run) the lists without depending on their content.
///
/// ```
/// use lttv_context::framework::Session;
/// use lttv_hooks::Priority;
///
/// let mut session = Session::new(());
/// session.core.add(Priority::DEFAULT, |session: &mut Session| {
///     session.attributes.set_at("answer", 42_u64).expect("nothing else is called so");
/// });
/// session.after.add(Priority::DEFAULT, |session: &mut Session| {
///     assert_eq!(session.attributes.to_string(), "answer: 42\n");
/// });
/// assert!(session.run().is_continue());
/// ```
#[derive(Default)]
#[non_exhaustive]
pub struct Session<'h, D = ()> {
    /// The data of this application.
    pub data: D,
    /// Values by path, which all parts may read and change.
    pub attributes: Attributes,
    /// The options of all modules, and their values.
    pub options: Options,
    /// The hooks called first, for preparations.
    pub before: Hooks<'h, Session<'h, D>>,
    /// The hooks called second, for the work.
    pub core: Hooks<'h, Session<'h, D>>,
    /// The hooks called last in every case, for results.
    pub after: Hooks<'h, Session<'h, D>>,
}

impl<'h, D> Session<'h, D> {
    /// Creates a session with empty lists, no attributes and no options.
    pub fn new(data: D) -> Self {
        Session {
            data,
            attributes: Attributes::new(),
            options: Options::new(),
            before: Hooks::new(),
            core: Hooks::new(),
            after: Hooks::new(),
        }
    }

    /// Calls the hooks of `before`, `core` and `after`. If a hook of `before` returns `Break`,
    /// those of `core` are skipped. The hooks of `after` are always called.
    ///
    /// Returns `Break` if any list did. A hook may change the lists that come after its own. Its
    /// own list is empty while it is called, and hooks that it adds there are first called in the
    /// next run.
    pub fn run(&mut self) -> Flow {
        let mut flow = self.call(|session| &mut session.before);
        if flow.is_continue() {
            flow = self.call(|session| &mut session.core);
        }
        let last = self.call(|session| &mut session.after);
        if flow.is_break() { flow } else { last }
    }

    /// Calls a list of hooks with the session that contains it.
    fn call(&mut self, list: impl Fn(&mut Self) -> &mut Hooks<'h, Self>) -> Flow {
        let mut called = std::mem::take(list(self));
        let flow = called.call(self);
        let added = std::mem::replace(list(self), called);
        // A hook that is added again under an existing id keeps its first priority.
        let _ = list(self).append(added);
        flow
    }
}

impl<D: fmt::Debug> fmt::Debug for Session<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("data", &self.data)
            .field("attributes", &self.attributes.len())
            .field("options", &self.options.specs().len())
            .field("before", &self.before)
            .field("core", &self.core)
            .field("after", &self.after)
            .finish()
    }
}
