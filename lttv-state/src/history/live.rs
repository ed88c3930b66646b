//! A history that is being built, seen by others.

use std::sync::{Arc, PoisonError, RwLock};

use super::builder::Builder;
use super::error::Error;
use super::reader::History;

impl Builder {
    /// Lets other threads query what is in blocks while this one goes on.
    ///
    /// Of a growing file, blocks are read when they are first asked for, and kept in
    /// memory until it is finished and mapped. It is not mapped before: so nothing that
    /// other processes do to it ends this one.
    ///
    /// # Errors
    ///
    /// If writing has failed.
    pub fn live(&mut self) -> Result<Live, Error> {
        let shared = match &self.live {
            Some(shared) => shared.clone(),
            None => Arc::new(RwLock::new(self.snapshot(self.horizon)?)),
        };
        self.live = Some(shared.clone());
        Ok(Live { shared })
    }
}

/// A history that is being built, seen from other threads.
///
/// ```
/// # use lttv_state::history::Builder;
/// let mut builder = Builder::in_memory(0);
/// let quark = builder.add("a")?;
/// let live = builder.live()?;
/// builder.set(quark, 10, 1)?;
/// builder.flush()?;
/// std::thread::spawn(move || {
///     let history = live.latest();
///     assert_eq!(history.end(), 10);
///     assert_eq!(history.at(quark, 10).unwrap().value, 1.into());
/// })
/// .join()
/// .unwrap();
/// # Ok::<(), lttv_state::history::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Live {
    shared: Arc<RwLock<History>>,
}

impl Live {
    /// What was built up to the last block. It is a history like any other, and
    /// does not change any more: it ends where the last block does, and has all
    /// changes up to there and none after. When the builder has closed the
    /// history, it is the whole of it.
    pub fn latest(&self) -> History {
        self.shared.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
