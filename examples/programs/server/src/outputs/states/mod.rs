//! Charts of states: what threads, resources and attributes have in common.
//!
//! | module | purpose |
//! |---|---|
//! | [`lane`] | the states of one row, read from a history |
//! | [`filter`] | the filters of clients, which mark states |
//! | [`answer`] | answers with states and tooltips |
//! | [`columns`] | answers with the shares of states in columns |
//! | [`styles`] | colours |

pub(super) mod answer;
mod columns;
mod filter;
pub(super) mod lane;
pub(super) mod styles;
