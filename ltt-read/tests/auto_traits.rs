//! Promises that only the type system can keep.

use ltt_read::{Cursor, Error, Merge, Trace};

fn shared<T: Send + Sync + std::fmt::Debug>() {}

#[test]
fn everything_may_cross_threads() {
    shared::<Trace>();
    shared::<Cursor>();
    shared::<Merge>();
    shared::<Error>();
}
