//! Draws a screen of the bundled kernel trace as SVG, after some keys: docs/tui.svg. The last
//! argument selects the colours of the terminal: dark, light or none. With `follow` in place of the
//! keys, follows the trace as if it were still being recorded: docs/tui-live.svg.
//!
//! ```text
//! cargo run -p lttv-tui --example screenshot -- [KEYS [COLUMNS LINES [dark|light|mono]]] > docs/tui.svg
//! cargo run -p lttv-tui --example screenshot -- follow > docs/tui-live.svg
//! ```

use std::time::{Duration, Instant};

use lttv_common::follow::{FollowArgs, Place};
use lttv_tui::app::App;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use lttv_tui::view::svg::{Theme, svg};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

const TITLE: &str = "Viewers of a kernel trace in a terminal";
const LIVE: &str = "Viewers of a recording in a terminal";

/// The time after which a recording is drawn.
const RECORDED: Duration = Duration::from_secs(3);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let keys = arguments.next().unwrap_or_else(|| "g+297ms\n+jjjjjjjnnn[[[[.}].".to_owned());
    let columns = arguments.next().map_or(Ok(150), |text| text.parse())?;
    let lines = arguments.next().map_or(Ok(46), |text| text.parse())?;
    let (look, theme) = match arguments.next().as_deref() {
        None | Some("dark") => (Look::True, Theme::Dark),
        Some("light") => (Look::True, Theme::Light),
        Some("mono") => (Look::Mono, Theme::Dark),
        Some(other) => return Err(format!("there is no terminal `{other}`").into()),
    };
    let mut terminal = Terminal::new(TestBackend::new(columns, lines))?;
    let trace = lttv_common::bundled::bundled_trace()?;
    if keys == "follow" {
        let args = FollowArgs { follow: true, silence: 0.5, from_start: false };
        let recording = Place::Growing.recording(&[trace], args, None)?;
        let recording = recording.ok_or("no recording")?;
        let session = Session::follow("kernel".to_owned(), recording, || false)?;
        let mut app = App::new(session.ok_or("no events")?, look);
        let start = Instant::now();
        while start.elapsed() < RECORDED {
            app.service(Duration::from_millis(5));
            terminal.draw(|frame| app.draw(frame))?;
        }
        println!("{}", svg(terminal.backend().buffer(), theme, LIVE));
        return Ok(());
    }
    let mut app = App::new(Session::open(&[trace])?, look);
    settle(&mut app, &mut terminal)?;
    for key in keys.chars() {
        let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        let code = if key == '\t' { KeyCode::Tab } else { code };
        app.key(KeyEvent::new(code, KeyModifiers::NONE));
        settle(&mut app, &mut terminal)?;
    }
    println!("{}", svg(terminal.backend().buffer(), theme, TITLE));
    Ok(())
}

fn settle(
    app: &mut App,
    terminal: &mut Terminal<TestBackend>,
) -> Result<(), std::convert::Infallible> {
    loop {
        terminal.draw(|frame| app.draw(frame))?;
        if !app.service(Duration::from_millis(50)) {
            return terminal.draw(|frame| app.draw(frame)).map(|_| ());
        }
    }
}
