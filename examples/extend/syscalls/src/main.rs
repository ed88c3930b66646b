//! The terminal frontend with one more viewer, a table of system calls: `syscalls TRACE`.
//!
//! `syscalls --check TRACE` needs no terminal: it presses keys, and checks what they do.

use std::error::Error;
use std::process::ExitCode;

use lttv_context::framework::{ModuleError, Modules};
use lttv_tui::app::App;
use lttv_tui::layout::LayoutFile;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use lttv_tui::terminal;

mod calls;
mod check;
mod viewer;

use viewer::{NAME, SyscallsModule};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_check = arguments.first().is_some_and(|first| first == "--check");
    if is_check {
        arguments.remove(0);
    }
    if arguments.is_empty() {
        return Err("usage: syscalls [--check] TRACE…".into());
    }
    let mut app = App::new(Session::open(&arguments)?, Look::True);
    let mut modules = start(&mut app)?;
    if is_check {
        check::check(&mut app, &mut modules)?;
        return Ok(ExitCode::SUCCESS);
    }
    // The layout may contain viewers of this kind, which is known by now.
    if let Some(file) = LayoutFile::of_user(|name| std::env::var_os(name)) {
        app.restore_layout(file);
    }
    if app.viewers().all(|(_, name)| name != NAME) {
        app.open_viewer(NAME)?;
    }
    let status = terminal::run(&mut app, true)?;
    app.save_layout()?;
    modules.destroy(&mut app);
    Ok(status.map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// Starts the modules of the program.
fn start(app: &mut App) -> Result<Modules<App>, ModuleError> {
    let mut modules = Modules::new();
    modules.add(SyscallsModule)?;
    modules.init([NAME], app)?;
    Ok(modules)
}
