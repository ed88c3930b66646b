//! The tests of this crate, in one program, since each program is linked on its own.

#[allow(dead_code, reason = "other crates use the rest")]
#[path = "../../../ltt-read/tests/support"]
mod support {
    pub(crate) mod case;
    pub(crate) mod config;
    pub(crate) mod keys;
    pub(crate) mod layout;
    pub(crate) mod read_back;
    pub(crate) mod shape;
    pub(crate) mod timeline;
    pub(crate) mod values;
}

mod auto_traits;
mod babeltrace;
mod bits;
mod categories;
mod completion;
#[cfg(feature = "render")]
mod errors;
mod oracle;
mod own_records;
mod printing;
mod several_traces;
mod short_words;
mod times;
mod windows;
