//! Kinds of viewers that programs add, and their keys.

use std::cell::RefCell;
use std::rc::Rc;

use crate::support::Screen;
use lttv_requests::{Condition, EventsRequest, Notification, Owner, SubmitError};
use lttv_tui::keys::{self, Key};
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use lttv_tui::traceset_change::TracesetChange;
use lttv_tui::view::put;
use lttv_tui::viewer::{
    Fault, KindError, Pane, Reply, Setup, Viewer, ViewerAction, ViewerKind, ViewerKinds,
};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;

/// The actions that viewers have performed.
type Log = Rc<RefCell<Vec<String>>>;

/// A viewer that records its actions, and reads all events again and again.
#[derive(Debug)]
struct Recorder {
    log: Log,
    answer: String,
}

impl Recorder {
    fn kind(name: &'static str, log: &Log, actions: Vec<ViewerAction>) -> ViewerKind {
        let log = log.clone();
        let construct = move |setup: &mut Setup<'_>| {
            let owner = setup.owner();
            let request = EventsRequest::new(owner).on_every_event(|_, _| ());
            setup.session.scheduler.submit(request).expect("no position");
            Box::new(Recorder { log: log.clone(), answer: String::new() }) as Box<dyn Viewer>
        };
        let kind = ViewerKind::new(name, "Recorder", construct).summary("records its actions");
        actions.into_iter().fold(kind, ViewerKind::action)
    }
}

impl Viewer for Recorder {
    fn height(&self) -> (u16, u16) {
        (2, 0)
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {}

    fn draw(&self, _: &Session, pane: Pane, buffer: &mut Buffer) {
        let text = format!("answer: {}", self.answer);
        put(buffer, pane.area, pane.area.x, pane.area.y, &text, pane.look.heading());
    }

    fn act(&mut self, action: &str, _: &mut Session) -> Result<Reply, SubmitError> {
        self.log.borrow_mut().push(action.to_owned());
        Ok(match action {
            "ask" => Reply::Ask { title: "even: ", text: "1".to_owned(), is_filter: false },
            _ => Reply::Done,
        })
    }

    fn answer(&mut self, action: &str, text: &str, _: &mut Session) -> Result<(), Fault> {
        let number: u32 = text.parse().map_err(|_| Fault::new("not a number"))?;
        if number % 2 == 1 {
            return Err(Fault::new("odd"));
        }
        self.answer = format!("{action} {number}");
        Ok(())
    }
}

fn screen() -> Screen {
    Screen::open(120, 40, Look::True)
}

fn action(name: &'static str, keys: &[Key]) -> ViewerAction {
    ViewerAction::new(name, "an action of the recorder", keys.iter().copied())
}

#[test]
fn a_key_is_looked_up_first_in_the_viewer_with_the_focus() {
    let (mut screen, log) = (screen(), Log::default());
    let actions = vec![
        // `n` has a general action, `A` one of other viewers, `Q` has none.
        action("own", &[Key::char('n'), Key::char('A'), Key::char('Q')]),
        action("anywhere", &[Key::char('i'), Key::char('+'), Key::char('\\')]).without_focus(),
    ];
    screen.app.register(Recorder::kind("recorder", &log, actions)).expect("no conflict");
    screen.app.open_viewer("recorder").expect("it is registered");
    screen.settle();
    screen.type_text("nAQ");
    assert_eq!(log.take(), ["own", "own", "own"]);
    screen.type_text("i+");
    assert_eq!(log.take(), ["anywhere", "anywhere"]);
    assert_eq!(screen.status("width"), "964.9 ms", "the focus has precedence over zooming");
    // Without the focus, general keys have precedence, and most keys of viewers do not work.
    screen.press(KeyCode::Tab);
    screen.type_text("AQ");
    assert_eq!(log.take(), [""; 0]);
    screen.type_text("i+");
    assert_eq!(log.take(), ["anywhere"]);
    assert_eq!(screen.status("width"), "482.4 ms");
    // If several viewers without the focus have the key, the topmost visible one performs it.
    screen.type_text("\\");
    assert!(screen.line_with("filter of the list:").is_some(), "{}", screen.text());
    screen.press(KeyCode::Esc);
    screen.type_text("1\\");
    assert_eq!(log.take(), ["anywhere"], "the list is hidden");
}

#[test]
fn reserved_keys_cannot_be_taken() {
    let mut kinds = ViewerKinds::new();
    let log = Log::default();
    let reserved = [
        Key::char('q'),
        Key::char('?'),
        Key::char('1'),
        Key::control('c'),
        Key::new(KeyCode::Tab),
        Key::new(KeyCode::Esc),
        Key::new(KeyCode::Down),
    ];
    for key in reserved {
        assert!(keys::is_reserved(key), "{key}");
        let kind = Recorder::kind("recorder", &log, vec![action("own", &[key])]);
        let expected = KindError::ReservedKey { kind: "recorder".to_owned(), key };
        assert_eq!(kinds.register(kind), Err(expected));
    }
    assert_eq!(kinds.iter().len(), 0);
}

#[test]
fn a_kind_with_ambiguous_names_or_keys_is_refused() {
    let (mut kinds, log) = (ViewerKinds::new(), Log::default());
    let kind = |name, actions| Recorder::kind(name, &log, actions);
    for name in ["", "two words", "ä", "a\n"] {
        assert_eq!(kinds.register(kind(name, vec![])), Err(KindError::Name(name.to_owned())));
    }
    let y = Key::char('y');
    let twice = vec![action("one", &[y]), action("two", &[y])];
    let expected = KindError::DuplicateKey { kind: "a".to_owned(), key: y };
    assert_eq!(kinds.register(kind("a", twice)), Err(expected));
    let twice = vec![action("one", &[]), action("one", &[])];
    let expected = KindError::DuplicateAction { kind: "a".to_owned(), action: "one".to_owned() };
    assert_eq!(kinds.register(kind("a", twice)), Err(expected));
    assert_eq!(kinds.register(kind("a", vec![])), Ok(()));
    assert_eq!(kinds.register(kind("a", vec![])), Err(KindError::Duplicate("a".to_owned())));
    // Kinds may share a key: the focus decides.
    for name in ["b", "c"] {
        assert_eq!(kinds.register(kind(name, vec![action("one", &[y])])), Ok(()));
    }
}

#[test]
fn the_help_lists_the_keys_of_each_viewer() {
    let mut screen = Screen::open(120, 90, Look::True);
    let own = action("own", &[Key::char('y'), Key::control('y')]);
    let kind = Recorder::kind("recorder", &Log::default(), vec![own]);
    screen.app.register(kind).expect("no conflict");
    screen.type_text("?");
    let line = |title: &str| {
        let line = screen.line_with(title).expect("a title");
        let words: Vec<_> = line.split_once(title).expect("it").1.split_whitespace().collect();
        words.join(" ")
    };
    assert_eq!(line("Recorder"), "y Ctrl-Y an action of the recorder");
    assert!(line("Interrupts").starts_with("Enter go to the longest"));
    assert!(line("Statistics").starts_with("Enter Space expand"));
    screen.app.unregister("recorder");
    screen.settle();
    assert!(screen.line_with("Recorder").is_none());
}

#[test]
fn a_viewer_asks_for_a_line_and_may_refuse_it() {
    let (mut screen, log) = (screen(), Log::default());
    let ask = action("ask", &[Key::char('y')]);
    screen.app.register(Recorder::kind("recorder", &log, vec![ask])).expect("no conflict");
    screen.app.open_viewer("recorder").expect("it is registered");
    screen.settle();
    screen.press(KeyCode::Char('y'));
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("even: 1  odd").is_some(), "{}", screen.text());
    screen.type_text("2");
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("answer: ask 12").is_some(), "{}", screen.text());
}

/// A viewer that counts events in the background, once for all viewers of its kind.
#[derive(Debug)]
struct Counter {
    owner: Owner,
    is_registered: bool,
    log: Log,
}

/// The name of the computation.
const COUNT: &str = "count";

impl Viewer for Counter {
    fn height(&self) -> (u16, u16) {
        (1, 0)
    }

    fn update(&mut self, session: &mut Session, _: Rect) -> Result<(), SubmitError> {
        let background = session.scheduler.background().expect("each tab has one");
        if !std::mem::replace(&mut self.is_registered, true) {
            let log = self.log.clone();
            let register = || {
                background.register(COUNT, move |request| {
                    let (log, count) = (log.clone(), Rc::new(RefCell::new(0)));
                    let counted = count.clone();
                    request.on_every_event(move |_, _| *count.borrow_mut() += 1).after_request(
                        move |_, _, _| {
                            log.borrow_mut().push(format!("{} events", counted.borrow()));
                        },
                    )
                })
            };
            let count = background.find(COUNT).unwrap_or_else(register);
            background.compute(count, self.owner);
            background.notify(count, self.owner, Condition::Done);
        }
        Ok(())
    }

    fn notified(&mut self, notification: Notification, _: &mut Session) {
        assert_eq!(notification.owner, self.owner);
        self.log.borrow_mut().push(format!("{:?}", notification.outcome));
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        self.is_registered = false;
    }

    fn draw(&self, _: &Session, _: Pane, _: &mut Buffer) {}
}

#[test]
fn viewers_are_notified_when_the_background_is_ready() {
    let (mut screen, log) = (screen(), Log::default());
    let of_kind = log.clone();
    let kind = ViewerKind::new("counter", "Counter", move |setup| {
        Box::new(Counter { owner: setup.owner(), is_registered: false, log: of_kind.clone() })
    });
    screen.app.register(kind).expect("a new kind");
    for _ in 0..2 {
        screen.app.open_viewer("counter").expect("it is registered");
    }
    screen.settle();
    // Computed once, for both.
    assert_eq!(log.take(), ["6087 events", "Reached", "Reached"]);
    // Another tab of the same traces has the result at once.
    screen.type_text("c");
    screen.app.open_viewer("counter").expect("it is registered");
    screen.settle();
    assert_eq!(log.take(), ["Reached"]);
    // A change of the traces leads to another computation.
    screen.type_text("o");
    screen.type_text(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel"));
    screen.press(KeyCode::Enter);
    let opened = screen.app.open_viewer("counter").expect("it is registered");
    screen.draw();
    let ust = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust");
    screen.app.add_traces(ust).expect("a trace");
    screen.settle();
    let told = log.take();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].ends_with(" events") && told[0] != "6087 events", "{told:?}");
    assert_eq!(told[1], "Reached");
    // Closing a viewer cancels its notification.
    screen.app.add_traces(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/legacy")).expect("it");
    screen.draw();
    assert!(screen.app.close_viewer(opened));
    screen.settle();
    assert_eq!(log.take(), [""; 0]);
}
