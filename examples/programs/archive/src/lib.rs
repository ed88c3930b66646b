//! Unpacking of archives with traces.
//!
//! Archives may come from strangers: names lead nowhere but into the folder, there are no links and no devices, and the
//! number of entries and their sizes have limits.
//!
//! ```
//! use lttv_archive::{Limits, kind, unpack};
//!
//! let folder = tempfile::tempdir()?;
//! let archive = folder.path().join("a.tar");
//! let mut tar = tar::Builder::new(std::fs::File::create(&archive)?);
//! tar.append_dir_all("my-session", concat!(env!("CARGO_MANIFEST_DIR"), "/src"))?;
//! tar.finish()?;
//! assert!(kind(&archive)?.is_some());
//! let into = folder.path().join("unpacked");
//! unpack(&archive, &into, &Limits::default())?;
//! assert!(into.join("my-session/lib.rs").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]

mod error;
mod folder;
mod kind;
mod limits;
mod names;
mod output;
mod tar_files;
mod unpack;
mod zip_files;
mod zstd;

pub use error::{ArchiveError, Refusal};
pub use folder::Folder;
pub use kind::{Kind, Packing, kind};
pub use limits::Limits;
pub use unpack::unpack;
