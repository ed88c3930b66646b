//! Promises that only the type system can keep: it is the build that fails.

use std::fmt::Debug;

use lttv_filter::model::{Columns, Problem, RecordFilter};
use lttv_filter::{Diagnostic, Environment, Expr, Expression, Filter, FilterError, Filters};

fn shared<T: Send + Sync + Debug>() {}

#[test]
fn everything_may_cross_threads() {
    shared::<Expression>();
    shared::<Expr>();
    shared::<Environment>();
    shared::<Filter>();
    shared::<Filters>();
    shared::<Diagnostic>();
    shared::<Columns<u32>>();
    shared::<RecordFilter<u32>>();
    shared::<Problem>();
}

#[test]
fn errors_can_be_passed_on() {
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    error::<FilterError>();
}
