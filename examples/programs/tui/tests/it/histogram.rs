//! The vertical scale of the histogram.

use crate::support::Screen;
use lttv_tui::look::Look;
use ratatui::crossterm::event::MouseEventKind;

/// Opens the histogram alone.
fn screen(look: Look) -> Screen {
    let mut screen = Screen::open(120, 30, look);
    screen.press(ratatui::crossterm::event::KeyCode::Tab);
    screen.press(ratatui::crossterm::event::KeyCode::Tab);
    screen.type_text("m");
    screen
}

/// Returns the heights of columns in lines, and the number of columns in the colour of those
/// above the scale.
fn columns(screen: &Screen) -> (Vec<usize>, usize) {
    let buffer = screen.buffer();
    let white = Look::True.overflow(true).1.fg;
    let is_bar = |x, y| buffer[(x, y)].symbol() != " ";
    let lines = 2..27;
    let height = |x| lines.clone().filter(|y| is_bar(x, *y)).count();
    let above = |x: &u16| Some(buffer[(*x, 2)].fg) == white && is_bar(*x, 2);
    ((44..120).map(height).collect(), (44..120).filter(above).count())
}

#[test]
fn keys_change_the_vertical_scale_of_the_histogram() {
    let mut screen = screen(Look::True);
    assert!(screen.line_with("     730 at most").is_some(), "{}", screen.text());
    let (fitted, above) = columns(&screen);
    assert_eq!((fitted.iter().max(), above), (Some(&25), 0));
    screen.type_text("e");
    assert!(screen.line_with("scale 0–365, ").is_some(), "{}", screen.text());
    assert!(screen.line_with("     365 at the top, 730 at most").is_some(), "{}", screen.text());
    let (higher, above) = columns(&screen);
    assert!(above > 0 && higher.iter().zip(&fitted).all(|(now, then)| now >= then));
    // Exactly the columns that were more than half as high are above the scale.
    let expected = fitted.iter().filter(|height| **height > 12).count();
    assert!(above.abs_diff(expected) <= 1, "{above} {expected}");
    screen.type_text("EE");
    assert!(screen.line_with("scale 0–1460").is_some(), "{}", screen.text());
    let (lower, above) = columns(&screen);
    assert_eq!((lower.iter().max(), above), (Some(&13), 0));
    screen.type_text("f");
    assert_eq!(columns(&screen).0, fitted);
    // The scale cannot become 0.
    screen.type_text("eeeeeeeeeeeeeeee");
    assert!(screen.line_with("scale 0–1, ").is_some(), "{}", screen.text());
    screen.type_text("f");
    // The wheel over the labels does the same.
    screen.mouse(MouseEventKind::ScrollUp, (5, 10));
    assert!(screen.line_with("scale 0–365, ").is_some(), "{}", screen.text());
    screen.mouse(MouseEventKind::ScrollDown, (5, 10));
    assert!(screen.line_with("scale 0–730").is_some(), "{}", screen.text());
}

#[test]
fn columns_above_the_scale_have_a_sign_where_there_are_no_colours() {
    let mut screen = screen(Look::Mono);
    assert!(!screen.text().contains('^'));
    screen.type_text("e");
    let line = screen.lines()[2].clone();
    assert!(line.contains('^'), "{line}");
    assert!(!screen.lines()[3].contains('^'));
}
