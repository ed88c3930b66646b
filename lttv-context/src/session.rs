//! What the parts of a program share.

use std::fmt;

use lttv_hooks::{Flow, Hooks};

use crate::attributes::Attributes;
use crate::options::Options;

/// What the parts of a program share: attributes, options, and lists of what to
/// do. The application makes it, owns it and may have several: nothing here is
/// global.
///
/// `data` is whatever else they share, such as a [`Batch`](crate::batch::Batch).
///
/// [Modules](crate::modules) add to the lists when they are started; the
/// application then [runs](Session::run) them, without knowing what is in them.
///
/// ```
/// use lttv_context::session::Session;
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
#[non_exhaustive]
pub struct Session<'h, D = ()> {
    /// What is particular to this application.
    pub data: D,
    /// Values by path, for all to see and change.
    pub attributes: Attributes,
    /// Options of all modules, and their values.
    pub options: Options,
    /// What to do first: preparations.
    pub before: Hooks<'h, Session<'h, D>>,
    /// What to do then: the work.
    pub core: Hooks<'h, Session<'h, D>>,
    /// What to do last, whatever happened: results.
    pub after: Hooks<'h, Session<'h, D>>,
}

impl<'h, D> Session<'h, D> {
    /// A session with nothing else in it.
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

    /// Calls the hooks of `before`, `core` and `after`. If one of `before` stops,
    /// those of `core` are not called; those of `after` always are.
    ///
    /// A hook may change the lists that come after its own. Its own list it
    /// finds empty; what it adds there is called in the next run.
    pub fn run(&mut self) -> Flow {
        let mut flow = self.call(|session| &mut session.before);
        if flow.is_continue() {
            flow = self.call(|session| &mut session.core);
        }
        let last = self.call(|session| &mut session.after);
        if flow.is_break() { flow } else { last }
    }

    /// Calls a list with the session that holds it.
    fn call(&mut self, list: impl Fn(&mut Self) -> &mut Hooks<'h, Self>) -> Flow {
        let mut called = std::mem::take(list(self));
        let flow = called.call(self);
        let added = std::mem::replace(list(self), called);
        // What a hook adds again under an id that is there already keeps the
        // priority that it has.
        let _ = list(self).append(added);
        flow
    }
}

impl<D: Default> Default for Session<'_, D> {
    fn default() -> Self {
        Session::new(D::default())
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
