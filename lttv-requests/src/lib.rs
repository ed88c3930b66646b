//! A UI-agnostic scheduler of events requests.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

/// The code in the README, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

mod background;
mod budget;
mod chunk;
mod control;
mod cut;
mod error;
mod filter;
mod finish;
mod gate;
mod identity;
mod request;
mod resume;
mod scheduler;
mod served;
mod service;
mod start;
mod tab;
mod urgency;
pub mod views;
mod window;

pub use background::{Background, ModuleId, Notice, Stage, When};
pub use budget::Budget;
pub use chunk::{Chunk, Replay, Status};
pub use control::Control;
pub use error::SubmitError;
pub use filter::EventFilter;
pub use finish::{FinishReason, Finished};
pub use identity::{Owner, RequestId};
pub use request::EventsRequest;
pub use scheduler::{Pending, Scheduler};
pub use start::Start;
pub use tab::{Changes, Tab, ViewerId};
pub use urgency::Urgency;
pub use window::TimeWindow;
