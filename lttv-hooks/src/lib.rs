//! Lists of functions to call, ordered by priority and selected by event id.
//!
//! A *hook* is a function that takes `&mut` *call data* and may ask to stop. This crate
//! does not depend on traces: it is generic over the call data.
//!
//! | type | contains |
//! |---|---|
//! | [`Hooks<C>`](Hooks) | functions of `&mut C`, which may borrow from their surroundings |
//! | [`SendHooks<C>`](SendHooks) | functions of `&mut C` that may be sent to another thread |
//! | [`HooksById`] | a main list and a list for each id, merged before calls |
//!
//! # Order
//!
//! Hooks are called by [`Priority`], from 0 to 99. At equal priority, hooks of the main
//! list come before hooks by id, and earlier added hooks before later ones. *Every* hook
//! is called, even if one asks to stop; the result of the call is a stop if any of them
//! requested it.
//!
//! ```
//! use lttv_hooks::{Hooks, Priority};
//! use std::ops::ControlFlow;
//!
//! let mut seen = String::new();
//! let mut hooks: Hooks<Vec<u8>> = Hooks::new();
//! hooks.add(Priority::LAST, |bytes| bytes.push(b'!'));
//! hooks.add(Priority::FIRST, |bytes| {
//!     seen = String::from_utf8_lossy(bytes).into_owned();
//!     if bytes.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
//! });
//! let mut bytes = b"hello".to_vec();
//! assert!(hooks.call(&mut bytes).is_continue());
//! drop(hooks);
//! assert_eq!((seen.as_str(), bytes.as_slice()), ("hello", b"hello!".as_slice()));
//! ```
//!
//! # Identity
//!
//! Functions cannot be compared, so each hook has a [`HookId`]. A hook that is added
//! twice under one id is called once, and is removed from the list by the second removal.
//!
//! ```
//! use lttv_hooks::{HookId, Hooks, Priority};
//!
//! let id = HookId::unique();
//! let mut hooks: Hooks<u32> = Hooks::new();
//! for _ in 0..2 {
//!     hooks.add_as(id, Priority::DEFAULT, |calls| *calls += 1)?;
//! }
//! let mut calls = 0;
//! _ = hooks.call(&mut calls);
//! assert_eq!((hooks.len(), calls), (1, 1));
//! assert!(hooks.remove(id).hook().is_none()); // one reference remains
//! assert!(hooks.remove(id).hook().is_some());
//! # Ok::<(), lttv_hooks::PriorityConflict>(())
//! ```
//!
//! # Call data that borrows
//!
//! `Hooks<C>` has one type of call data. If the call data borrows something different at
//! each call, use [`HookList`] with the type of function instead.
//!
//! ```
//! use lttv_hooks::{Flow, HookList, Priority};
//! use std::ops::ControlFlow;
//!
//! struct Line<'a> {
//!     words: std::str::Split<'a, char>,
//! }
//!
//! let mut words = 0;
//! let mut hooks: HookList<dyn FnMut(&mut Line<'_>) -> Flow + '_> = HookList::new();
//! hooks.add_boxed(
//!     Priority::DEFAULT,
//!     Box::new(|line| {
//!         words += line.words.by_ref().count();
//!         ControlFlow::Continue(())
//!     }),
//! );
//! for text in ["a b".to_owned(), "c".to_owned()] {
//!     _ = hooks.call(&mut Line { words: text.split(' ') });
//! }
//! drop(hooks);
//! assert_eq!(words, 3);
//! ```
//!
//! # Changes by hooks
//!
//! A list is borrowed while it is called. A hook that changes its own list puts the change into
//! its call data, and the caller makes all changes before the next call:
//!
//! ```
//! use lttv_hooks::{Flow, HookList, Priority};
//! use std::ops::ControlFlow;
//!
//! type Hook = dyn FnMut(&mut Call) -> Flow;
//! #[derive(Default)]
//! struct Call {
//!     count: u32,
//!     changes: Vec<Box<dyn FnOnce(&mut HookList<Hook>)>>,
//! }
//!
//! let mut hooks: HookList<Hook> = HookList::new();
//! hooks.add(Priority::FIRST, |call: &mut Call| {
//!     call.count += 1;
//!     call.changes.push(Box::new(|hooks| {
//!         hooks.add(Priority::LAST, |call: &mut Call| call.count += 10);
//!     }));
//! });
//! let mut call = Call::default();
//! for expected in [1, 12, 33] {
//!     _ = hooks.call(&mut call);
//!     call.changes.drain(..).for_each(|change| change(&mut hooks));
//!     assert_eq!(call.count, expected);
//! }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![forbid(unsafe_code)]

/// The code of the README, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

mod by_id;
mod flow;
mod id;
mod list;
mod priority;

pub use by_id::{HookRun, HookTargets, HooksAt, HooksById, HooksFound, ReadyHooks};
pub use flow::{Flow, IntoFlow};
pub use id::{HookId, HookInfo, Removal};
pub use list::{HookList, Hooks, SendHooks};
pub use priority::{Priority, PriorityConflict, PriorityError};
