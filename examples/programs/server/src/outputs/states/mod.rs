//! Charts of states: what threads, resources and attributes have in common.
//!
//! | module | purpose |
//! |---|---|
//! | [`lane`] | the states of one row, read from a history |
//! | [`filter`] | the filters of clients, which mark states |
//! | [`answer`] | answers with states and tooltips |
//! | [`styles`] | colours |

pub(super) mod answer;
mod filter;
pub(super) mod lane;
pub(super) mod styles;
