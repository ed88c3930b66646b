//! The tests of archives: those that are unpacked, and those that are refused.

mod support;

mod folders;
mod hostile;
mod kinds;
