//! The options of the cache.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use super::Cache;

/// The options of what is kept for the next start.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct CacheArgs {
    /// Keep what is computed from traces in this directory, for the next start
    ///
    /// By default it is lttv in $XDG_CACHE_HOME or ~/.cache. It may be deleted at any time.
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,

    /// Keep nothing
    #[arg(long, conflicts_with = "cache")]
    pub no_cache: bool,
}

impl CacheArgs {
    /// The size in MiB that the directory should not exceed, unless another one is chosen.
    pub const LIMIT: u64 = 4096;

    /// Returns the directory of computed data, with a limit in MiB; `None` if nothing is kept.
    pub fn cache(&self, limit: u64) -> Option<Cache> {
        let directory = self.directory(|name| env::var_os(name))?;
        Some(Cache::new(directory, limit.saturating_mul(1 << 20)))
    }

    /// Returns the directory, given the variables of the environment.
    fn directory(&self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let set = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let user = || set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        match &self.cache {
            _ if self.no_cache => None,
            Some(directory) => Some(directory.clone()),
            None => user().map(|user| user.join("lttv")),
        }
    }
}
