//! Compile-time checks of the auto traits of public types.

use std::fmt::Debug;

use lttv_filter::model::SelectorError;
use lttv_filter::{
    Columns, Diagnostic, Environment, Expr, Expression, Filter, FilterError, Filters, RecordFilter,
};

fn shared<T: Send + Sync + Debug>() {}

#[test]
fn all_types_are_send_and_sync() {
    shared::<Expression>();
    shared::<Expr>();
    shared::<Environment>();
    shared::<Filter>();
    shared::<Filters>();
    shared::<Diagnostic>();
    shared::<Columns<u32>>();
    shared::<RecordFilter<Columns<u32>>>();
    shared::<SelectorError>();
}

#[test]
fn errors_are_send_sync_and_static() {
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    error::<FilterError>();
}
