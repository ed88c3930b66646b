//! The data of viewers beyond the models of [`lttv_requests::views`], independent of drawing.
//! Requests fill it in.

pub mod arrows;
pub mod attribute_tree;
pub mod axis;
pub mod cells;
pub mod collected;
mod conjunction;
pub mod critical_path;
pub mod disks;
pub mod event_detail;
pub mod event_export;
pub mod event_list;
pub mod fault;
pub mod interrupts;
pub(crate) mod natural_order;
pub mod picture;
pub mod process_rows;
pub mod row_order;
pub mod row_search;
pub mod search;
pub mod state_at;
pub mod thread_ids;
pub mod threads;
pub mod time_format;
pub mod who_ran;
