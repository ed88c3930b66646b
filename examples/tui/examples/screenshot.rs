//! Draws a screen of the bundled kernel trace as SVG, after some keys: docs/tui.svg. The last
//! argument selects the colours of the terminal: dark, light or none.
//!
//! ```text
//! cargo run -p lttv-tui --example screenshot -- [KEYS [COLUMNS LINES [dark|light|mono]]] > docs/tui.svg
//! ```

use std::time::Duration;

use lttv_tui::app::App;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use lttv_tui::view::svg::{Theme, svg};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

const TITLE: &str = "Viewers of a kernel trace in a terminal";

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
    let trace = lttv_examples::bundled::bundled_trace()?;
    let mut app = App::new(Session::open(&[trace])?, look);
    let mut terminal = Terminal::new(TestBackend::new(columns, lines))?;
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
