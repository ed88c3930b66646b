//! Attributes: typed values in a named tree.
//!
//! [`Attributes`] is a tree that programs fill and change: options, counters, results of
//! analyses. It has these properties:
//!
//! * **typed**: a value keeps its [`Kind`], and requesting another kind is an error that names
//!   both;
//! * **addressable** by [`Path`] (`cpu/[3]/events`), by [`Name`] within a tree, or by handle ([`AttributeId`], [`Key`]): a number that stays valid while
//!   the tree grows, for counting at each event;
//! * **enumerable** without knowledge of the code that filled it.
//!
//! Data may also stay in other structures. Any structure that implements [`Browse`] can be
//! printed ([`Indented`], [`Paths`]) and summed ([`Attributes::merge`]) by the same code as the
//! tree, which implements it, too.
//!
//! Attributes can belong to any part of a program: to a context, as below, to a
//! [`Session`](crate::framework::Session), and, as [`SharedAttributes`], to a
//! [`Traceset`](crate::Traceset::attributes) or a [trace](crate::TraceContext::attributes) in it,
//! where all contexts of the traceset find them.
//!
//! # Counting events
//!
//! A tree that is attached to a context is shared by all hooks:
//!
//! ```
//! use lttv_context::attributes::Attributes;
//! use lttv_context::{Bounds, TracesetContext, Traceset};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let mut attributes = Attributes::new();
//! let switches = attributes.entry_at::<u64>("scheduler/switches")?;
//!
//! let mut context = TracesetContext::new(Traceset::open(path)?);
//! let attributes = context.attach_data(attributes);
//! context.on_event("sched_switch", move |call| call.extensions[attributes][switches] += 1);
//! assert_eq!(context.read(&Bounds::all())?.errors, 0);
//! assert_eq!(context.extensions()[attributes].to_string(), "scheduler\n  switches: 497\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod browse;
mod error;
mod key;
mod merge;
mod name;
mod path;
mod print;
mod seconds;
mod shared;
mod tree;
mod value;

pub use self::browse::{Browse, Entries, Item};
pub use self::error::AttributeError;
pub use self::key::{AttributeId, AttributeType, Key};
pub use self::merge::MergeRule;
pub use self::name::Name;
pub use self::path::{MAX_DEPTH, Path, PathError, PathFault};
pub use self::print::{Indented, Paths};
pub use self::shared::SharedAttributes;
pub use self::tree::Attributes;
pub use self::value::{AttributeValue, Kind, Text};
