//! The data of viewers beyond the models of [`lttv_requests::views`], independent of drawing.
//! Requests fill it in.

pub mod attribute_tree;
pub mod axis;
pub mod cells;
pub mod collected;
mod conjunction;
pub mod disks;
pub mod event_detail;
pub mod event_export;
pub mod event_list;
pub mod interrupts;
mod natural_order;
pub mod picture;
pub mod search;
pub mod time_format;
pub mod who_ran;
