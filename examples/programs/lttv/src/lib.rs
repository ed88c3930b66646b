//! The commands of the Linux Trace Toolkit Viewer, and the modules of `lttv run`.

#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]

pub mod clap_options;
pub mod commands;
pub mod loading;
mod models;
pub mod modules;
pub mod prefetch;
mod tables;

/// The examples in the README of the repository, compiled as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../README.md")]
pub struct Readme;

/// The examples in the guide, one item per chapter, run as doc tests.
#[cfg(doctest)]
pub mod guide {
    #[doc = include_str!("../../../../docs/guide/1-read.md")]
    pub struct Read;
    #[doc = include_str!("../../../../docs/guide/2-context.md")]
    pub struct Context;
    #[doc = include_str!("../../../../docs/guide/3-filter.md")]
    pub struct Filter;
    #[doc = include_str!("../../../../docs/guide/4-state.md")]
    pub struct State;
    #[doc = include_str!("../../../../docs/guide/5-requests.md")]
    pub struct Requests;
    #[doc = include_str!("../../../../docs/guide/6-test.md")]
    pub struct Test;
    #[doc = include_str!("../../../../docs/guide/7-convert.md")]
    pub struct Convert;
    #[doc = include_str!("../../../../docs/guide/8-server.md")]
    pub struct Server;
    #[doc = include_str!("../../../../docs/guide/9-record.md")]
    pub struct Record;
    #[doc = include_str!("../../../../docs/guide/10-module.md")]
    pub struct Module;
}
