//! A check of the program without a terminal.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::error::Error;
use std::time::Duration;

use lttv_context::framework::Modules;
use lttv_context::{Bounds, EventCall, TracesetContext};
use lttv_tui::app::App;
use lttv_tui::keys::Action;
use lttv_tui::ratatui::Terminal;
use lttv_tui::ratatui::backend::TestBackend;
use lttv_tui::ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::viewer::NAME;

/// A terminal in memory.
struct Screen<'a> {
    app: &'a mut App,
    terminal: Terminal<TestBackend>,
}

impl Screen<'_> {
    /// Draws, and serves requests until there is nothing more to do.
    fn settle(&mut self) -> Result<(), Box<dyn Error>> {
        let mut is_busy = true;
        while is_busy {
            self.terminal.draw(|frame| self.app.draw(frame))?;
            is_busy = self.app.service(Duration::from_millis(50));
        }
        self.terminal.draw(|frame| self.app.draw(frame))?;
        Ok(())
    }

    fn press(&mut self, keys: &str) -> Result<(), Box<dyn Error>> {
        for key in keys.chars() {
            let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
            self.app.key(KeyEvent::new(code, KeyModifiers::NONE));
            self.settle()?;
        }
        Ok(())
    }

    /// Returns the lines that contain a text.
    fn lines_with(&self, text: &str) -> Vec<String> {
        let buffer = self.terminal.backend().buffer();
        let line = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..buffer.area.height).map(line).filter(|line| line.contains(text)).collect()
    }
}

/// Opens the viewer twice, uses its keys, and releases its module.
pub(crate) fn check(app: &mut App, modules: &mut Modules<App>) -> Result<(), Box<dyn Error>> {
    let mut screen = Screen { app, terminal: Terminal::new(TestBackend::new(120, 100))? };
    screen.settle()?;
    let offered = screen.app.kinds().iter().position(|kind| kind.name() == NAME);
    let down = "j".repeat(offered.ok_or("the kind is not registered")?);
    screen.press(&format!("v{down}\nv{down}\n0"))?;
    let titles = screen.lines_with(" System calls ");
    expect(titles.len() == 2, "the viewer is visible twice")?;
    // The whole traceset is visible: both count all calls.
    let rows = screen.lines_with("ioctl ");
    let calls = calls_of_ioctl(screen.app)?.to_string();
    println!("opened: {}", rows.first().ok_or("no call of ioctl")?.trim_end());
    let is_correct = |row: &String| row.split_whitespace().nth(1) == Some(&*calls);
    expect(rows.len() == 2 && rows.iter().all(is_correct), &format!("{calls} calls"))?;
    // Each of the two has its own order. The key `f` of event lists is another one here.
    screen.press("sf")?;
    let notes = screen.lines_with(" System calls ");
    expect(notes[0].contains("by total time"), "the first is sorted by total time")?;
    expect(notes[1].contains("with failures, by longest time"), "the second by longest time")?;
    let before = screen.lines_with("current ");
    screen.press("\n")?;
    expect(screen.lines_with("current ") != before, "Enter goes to the longest call")?;
    screen.press("?")?;
    expect(!screen.lines_with("go to the longest call").is_empty(), "the help lists its keys")?;
    screen.press("?")?;

    // Releasing the module closes both, and cancels what they have requested.
    screen.app.action(Action::Zoom(0.5));
    screen.terminal.draw(|frame| screen.app.draw(frame))?;
    let pending = |app: &App| app.session().scheduler.pending().len();
    let before = pending(screen.app);
    modules.release(NAME, screen.app)?;
    let after = pending(screen.app);
    println!("released: {} requests fewer", before - after);
    expect(before == after + 2, "the requests of both were cancelled")?;
    screen.settle()?;
    expect(screen.lines_with("System calls").is_empty(), "the viewers have gone")?;
    screen.press("?")?;
    expect(screen.lines_with("go to the longest call").is_empty(), "so have its keys")
}

fn tid(call: &EventCall<'_, '_>) -> Option<i64> {
    call.event.field("tid").and_then(|tid| tid.as_i64())
}

/// Counts the calls of `ioctl` with both ends, by thread and without the state of the kernel.
fn calls_of_ioctl(app: &App) -> Result<u64, Box<dyn Error>> {
    let (count, inside) = (Cell::new(0), RefCell::new(BTreeSet::new()));
    let mut context = TracesetContext::new(app.session().traceset());
    context.on_event("syscall_entry_ioctl", |call| _ = inside.borrow_mut().insert(tid(call)));
    context.on_event("syscall_exit_ioctl", |call| {
        count.set(count.get() + u64::from(inside.borrow_mut().remove(&tid(call))));
    });
    let read = context.read(&Bounds::all())?;
    expect(read.errors == 0, "the trace is sound")?;
    drop(context);
    Ok(count.get())
}

fn expect(is_true: bool, what: &str) -> Result<(), Box<dyn Error>> {
    if is_true { Ok(()) } else { Err(format!("expected: {what}").into()) }
}
