//! `lttv run` with a module of its own: `text_module -m switches -m statistics -t TRACE`.

mod switches;

use std::process::ExitCode;

use lttv::commands::run::run_modules;
use lttv::modules::{Registry, Results};
use lttv_common::report;

fn main() -> ExitCode {
    report::main_with_status("text_module", |report| {
        let mut modules = Registry::new()?;
        modules.add(switches::module(), Results::CountedEvents)?;
        let words: Vec<_> = std::env::args_os().skip(1).collect();
        run_modules("text_module", modules, &words, report)?;
        Ok(None)
    })
}
