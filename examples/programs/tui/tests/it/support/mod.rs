//! A terminal in memory, and simulated keys.
#![allow(dead_code, unreachable_pub, reason = "each test is a crate, and needs a part of it")]

pub mod tmux;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_tui::app::App;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

/// The bundled kernel trace.
pub const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

/// The width of labels on a screen of 150 columns.
pub const LABELS: u16 = 50;

/// The application with a terminal in memory.
pub struct Screen {
    pub app: App,
    terminal: Terminal<TestBackend>,
}

impl Screen {
    /// Opens the bundled kernel trace.
    pub fn open(width: u16, height: u16, look: Look) -> Self {
        Screen::of(Session::open(&[KERNEL]).expect("a trace"), width, height, look)
    }

    /// Opens a session.
    pub fn of(mut session: Session, width: u16, height: u16, look: Look) -> Self {
        session.set_zone(lttv_filter::Zone::UTC);
        let app = App::new(session, look);
        let terminal = Terminal::new(TestBackend::new(width, height)).expect("no real terminal");
        let mut screen = Screen { app, terminal };
        screen.settle();
        screen
    }

    /// Draws a frame.
    pub fn draw(&mut self) {
        let drawn = self.terminal.draw(|frame| self.app.draw(frame));
        drawn.expect("no real terminal");
    }

    /// Draws and serves requests until there is nothing more to do.
    pub fn settle(&mut self) {
        for _ in 0..10_000 {
            self.draw();
            if !self.app.service(Duration::from_millis(50)) {
                self.draw();
                return;
            }
        }
        panic!("the application does not settle");
    }

    /// Presses a key, and waits for its effects.
    pub fn press(&mut self, code: KeyCode) {
        self.app.key(KeyEvent::new(code, KeyModifiers::NONE));
        if !self.app.is_over() {
            self.settle();
        }
    }

    /// Presses a key without waiting for its effects.
    pub fn press_only(&mut self, code: KeyCode) {
        self.app.key(KeyEvent::new(code, KeyModifiers::NONE));
        self.draw();
    }

    /// Presses a key with Ctrl, which only changes an edited line.
    pub fn control(&mut self, c: char) {
        self.app.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
    }

    /// Presses the keys of characters.
    pub fn type_text(&mut self, text: &str) {
        text.chars().for_each(|c| self.press(KeyCode::Char(c)));
    }

    /// Types the answer to a question.
    pub fn answer(&mut self, text: &str) {
        self.type_text(text);
        self.press(KeyCode::Enter);
    }

    /// Goes to a time, or shows a range.
    pub fn go_to(&mut self, place: &str) {
        self.type_text("g");
        self.answer(place);
    }

    /// Returns the number of requests of the current tab that have not ended.
    pub fn pending(&self) -> usize {
        let session = self.app.session();
        session.scheduler.pending().len() + session.reader.pending().len()
    }

    /// Returns the time window, in ns.
    pub fn window(&self) -> (i64, i64) {
        let window = self.app.session().tab.window();
        (window.start().as_ns(), window.end().as_ns())
    }

    /// Passes an event of the mouse, and waits for its effects.
    pub fn mouse_with(&mut self, kind: MouseEventKind, modifiers: KeyModifiers, at: (u16, u16)) {
        self.app.mouse(MouseEvent { kind, column: at.0, row: at.1, modifiers });
        self.settle();
    }

    pub fn mouse(&mut self, kind: MouseEventKind, at: (u16, u16)) {
        self.mouse_with(kind, KeyModifiers::NONE, at);
    }

    pub fn click(&mut self, at: (u16, u16)) {
        self.mouse(MouseEventKind::Down(MouseButton::Left), at);
        self.mouse(MouseEventKind::Up(MouseButton::Left), at);
    }

    pub fn drag(&mut self, button: MouseButton, from: (u16, u16), to: (u16, u16)) {
        self.mouse(MouseEventKind::Down(button), from);
        self.mouse(MouseEventKind::Drag(button), ((from.0 + to.0) / 2, to.1));
        self.mouse(MouseEventKind::Drag(button), to);
        self.mouse(MouseEventKind::Up(button), to);
    }

    /// Returns the place of a text on the screen.
    pub fn find(&self, text: &str) -> (u16, u16) {
        let lines = self.lines();
        let found = lines.iter().zip(0u16..).find_map(|(line, y)| {
            let before = line.split_once(text)?.0;
            Some((before.chars().count() as u16, y))
        });
        found.unwrap_or_else(|| panic!("no {text:?} in\n{}", self.text()))
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.settle();
    }

    pub fn buffer(&self) -> &Buffer {
        self.terminal.backend().buffer()
    }

    /// Returns the lines of the screen, without trailing blanks.
    pub fn lines(&self) -> Vec<String> {
        let buffer = self.buffer();
        let line = |y| {
            let cells = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
            cells.collect::<String>().trim_end().to_owned()
        };
        (0..buffer.area.height).map(line).collect()
    }

    pub fn text(&self) -> String {
        self.lines().join("\n")
    }

    /// Returns the first line that contains a text.
    pub fn line_with(&self, text: &str) -> Option<String> {
        self.lines().into_iter().find(|line| line.contains(text))
    }

    /// Returns the value of a name in the status line.
    pub fn status(&self, name: &str) -> String {
        let line = self.line_with("window ").expect("a status line");
        let (_, rest) = line.split_once(&format!("{name} ")).expect("a value of that name");
        rest.split("  ").next().unwrap_or_default().to_owned()
    }
}

/// Returns the times of the events of a name that a condition selects, in ns, read from the
/// bundled kernel trace independently of the viewers.
pub fn event_times(name: &str, is_wanted: impl Fn(Timestamp) -> bool + 'static) -> Vec<i64> {
    let mut context = TracesetContext::new(Traceset::open(KERNEL).expect("a trace"));
    let found = Rc::new(RefCell::new(Vec::new()));
    let to = found.clone();
    context.on_event(name, move |call| {
        if is_wanted(call.event_time()) {
            to.borrow_mut().push(call.event_time().as_ns());
        }
    });
    let read = context.read(&Bounds::all()).expect("no position");
    assert_eq!(read.errors, 0);
    drop(context);
    found.take()
}
