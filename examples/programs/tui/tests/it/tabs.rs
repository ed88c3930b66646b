//! Tabs of one traceset: what they share, and how they are served.

use std::time::Duration;

use crate::support::Screen;
use lttv_tui::look::Look;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

fn press(screen: &mut Screen, c: char) {
    screen.app.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
}

fn pending(screen: &Screen) -> usize {
    let session = screen.app.session();
    session.scheduler.pending().len() + session.reader.pending().len()
}

#[test]
fn tabs_of_the_same_traces_share_the_background() {
    let mut screen = Screen::open(140, 44, Look::True);
    assert_eq!(screen.app.session().background_progress(), 1.0);
    let (number, statistics) = screen.app.session().statistics();
    press(&mut screen, 'c');
    // Nothing has been read for the new tab.
    assert_eq!(screen.app.session().background_progress(), 1.0);
    let (other_number, other_statistics) = screen.app.session().statistics();
    assert_eq!((number, other_number), (1, 1));
    let both = statistics.zip(other_statistics).expect("statistics");
    assert!(std::sync::Arc::ptr_eq(&both.0, &both.1));
    // Closing the first tab leaves them to the second one.
    screen.type_text("<x");
    assert_eq!(screen.app.session().background_progress(), 1.0);
    // A tab whose traces change has a background of its own again.
    screen.type_text("c");
    let ust = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust");
    screen.app.add_traces(ust).expect("a trace");
    assert!(screen.app.session().background_progress() < 1.0);
    screen.settle();
    assert_eq!(screen.app.session().background_progress(), 1.0);
    let (_, both) = screen.app.session().statistics();
    assert_eq!(both.map(|all| all.traces().len()), Some(2));
    screen.type_text("<");
    let (_, one) = screen.app.session().statistics();
    assert_eq!(one.map(|all| all.traces().len()), Some(1));
}

#[test]
fn other_tabs_are_served_when_the_current_one_is_idle() {
    let mut screen = Screen::open(140, 44, Look::True);
    screen.type_text("c");
    // Requests of the second tab, which the user leaves at once.
    press(&mut screen, '0');
    screen.draw();
    assert!(pending(&screen) > 0);
    press(&mut screen, '<');
    // The current tab comes first.
    press(&mut screen, '0');
    screen.draw();
    while pending(&screen) > 0 {
        assert!(screen.app.service(Duration::ZERO));
        press(&mut screen, '>');
        assert!(pending(&screen) > 0, "the other tab waits");
        press(&mut screen, '<');
    }
    while screen.app.service(Duration::from_millis(50)) {}
    press(&mut screen, '>');
    assert_eq!(pending(&screen), 0);
    screen.draw();
    assert!(screen.line_with("6087 in all").is_some(), "{}", screen.text());
}
