//! A session calls its lists in order, and hooks can change them.

use std::cell::RefCell;
use std::ops::ControlFlow;

use lttv_context::framework::Session;
use lttv_hooks::Priority;

#[test]
fn lists_are_called_in_order_and_after_always() {
    for stop_at in [None, Some("before"), Some("core"), Some("after")] {
        let seen = RefCell::new(Vec::new());
        let mut session = Session::new(());
        let hook = |name: &'static str| {
            let seen = &seen;
            move |_: &mut Session<'_>| {
                seen.borrow_mut().push(name);
                if stop_at == Some(name) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            }
        };
        session.after.add(Priority::DEFAULT, hook("after"));
        session.core.add(Priority::DEFAULT, hook("core"));
        session.before.add(Priority::DEFAULT, hook("before"));
        assert_eq!(session.run().is_break(), stop_at.is_some());
        drop(session);
        let expected: &[&str] = match stop_at {
            Some("before") => &["before", "after"],
            _ => &["before", "core", "after"],
        };
        assert_eq!(*seen.borrow(), expected);
    }
}

#[test]
fn hooks_can_change_lists() {
    let seen = RefCell::new(String::new());
    let note = |c: char| {
        let seen = &seen;
        move |_: &mut Session<'_>| seen.borrow_mut().push(c)
    };
    let mut session = Session::new(());
    session.before.add(Priority::DEFAULT, |session: &mut Session<'_>| {
        session.core.add(Priority::DEFAULT, note('c'));
        session.before.add(Priority::FIRST, note('b'));
        seen.borrow_mut().push('.');
    });
    for expected in [".c", ".cb.cc", ".cb.ccbb.ccc"] {
        assert!(session.run().is_continue());
        assert_eq!(*seen.borrow(), expected);
    }
}
