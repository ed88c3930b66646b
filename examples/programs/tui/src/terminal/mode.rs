//! The preparation of the terminal, and its restoration in any case.

use std::io::{self, Write, stdout};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::DefaultTerminal;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use signal_hook::consts::SIGTSTP;
use signal_hook::low_level::emulate_default_handler;

/// Reports clicks, movements while a button is pressed, and the wheel, with columns of any
/// number. [`EnableMouseCapture`](ratatui::crossterm::event::EnableMouseCapture) would also
/// report movements without a button, and each of them would wake up the program.
const CAPTURE: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const RELEASE: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";

/// `true` if the terminal reports the mouse.
static IS_CAPTURED: AtomicBool = AtomicBool::new(false);

/// Prepares the terminal, also for a panic. If `has_mouse` is false, the terminal keeps the
/// mouse.
pub(crate) fn prepare(has_mouse: bool) -> io::Result<DefaultTerminal> {
    let terminal = ratatui::try_init()?;
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        // There is no better place to report that this fails, too.
        _ = release_mouse();
        hook(info);
    }));
    if has_mouse {
        capture_mouse()?;
    }
    Ok(terminal)
}

/// Restores the terminal.
pub(crate) fn restore() -> io::Result<()> {
    let released = release_mouse();
    ratatui::try_restore()?;
    released
}

/// Restores the terminal, suspends the program, and prepares the terminal again.
pub(crate) fn suspend(terminal: &mut DefaultTerminal) -> io::Result<()> {
    let had_mouse = IS_CAPTURED.load(Ordering::Relaxed);
    restore()?;
    // Returns when the program is continued.
    emulate_default_handler(SIGTSTP)?;
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen)?;
    if had_mouse {
        capture_mouse()?;
    }
    clear(terminal)
}

/// Clears the screen, so that the next frame is drawn completely. [`DefaultTerminal::clear`]
/// would query the terminal for its cursor, and fail if the answer does not arrive among
/// the keys.
pub(crate) fn clear(terminal: &mut DefaultTerminal) -> io::Result<()> {
    let size = terminal.size()?;
    terminal.resize(size.into())
}

fn capture_mouse() -> io::Result<()> {
    // This is set first, since a part of the sequences may be written before an error.
    IS_CAPTURED.store(true, Ordering::Relaxed);
    write(CAPTURE)
}

/// Lets the terminal keep the mouse again, if it was captured.
fn release_mouse() -> io::Result<()> {
    match IS_CAPTURED.swap(false, Ordering::Relaxed) {
        true => write(RELEASE),
        false => Ok(()),
    }
}

/// Writes control sequences to the terminal.
pub(super) fn write(sequences: &[u8]) -> io::Result<()> {
    let mut stdout = stdout().lock();
    stdout.write_all(sequences)?;
    stdout.flush()
}
