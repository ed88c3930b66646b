//! Skip tables: the end of a region, computed without running its program.
//!
//! Most regions consist of fixed-size fields, null-terminated strings, and sequences of
//! fixed-size elements whose length field directly precedes them. There are three forms
//! of tables for them, each faster and less general than the previous one:
//!
//! * [`DynamicSkip`] notes all anchors and slots, as the program does;
//! * [`ByteAlignedSkip`] notes nothing, and requires that all fields start at byte
//!   boundaries;
//! * [`BranchlessSkip`] is for bodies with at most one dynamic part, and is evaluated
//!   without a branch. It notes the anchor and the slot of this part on demand.
//!
//! [`ByteAlignedSkip`] is for seeking and columns, which read no fields event by event.

mod branchless;
mod byte_aligned;
mod dynamic;

pub(crate) use branchless::BranchlessSkip;
pub(crate) use byte_aligned::ByteAlignedSkip;
pub(crate) use dynamic::DynamicSkip;
