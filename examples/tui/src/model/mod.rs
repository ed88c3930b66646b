//! What viewers show, apart from how it is drawn. Requests fill it in.

pub mod axis;
pub mod chart;
pub mod control_flow;
pub mod disks;
pub mod event_table;
pub mod histogram;
pub mod interrupts;
pub mod resources;
pub mod search;
pub mod stretch;
pub mod strip;
