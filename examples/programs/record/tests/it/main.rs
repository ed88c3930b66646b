//! The tests of recordings. The machine that runs them is never recorded: a tree of files imitates tracefs, and scripts
//! imitate the programs of tracers.

mod support;

mod ends;
mod ftrace;
mod kills;
mod programs;
mod rights;
