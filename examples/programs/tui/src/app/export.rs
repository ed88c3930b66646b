//! Writing the contents of a viewer to a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::Trace;
use lttv_common::escape::xml;
use lttv_common::inputs;
use lttv_common::table::{self, Table, TextStyle};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::App;
use super::question::{Subject, path_of};
use crate::look::Look;
use crate::model::event_export::{EventFormat, write_file};
use crate::view::svg::{Theme, svg};
use crate::viewer::{Contents, Fault};

/// The format of a file, by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileFormat {
    Text,
    Csv,
    Json,
    Svg,
    Html,
}

/// The extensions of files, and their formats.
const EXTENSIONS: [(&str, FileFormat); 7] = [
    ("txt", FileFormat::Text),
    ("text", FileFormat::Text),
    ("csv", FileFormat::Csv),
    ("json", FileFormat::Json),
    ("jsonl", FileFormat::Json),
    ("svg", FileFormat::Svg),
    ("html", FileFormat::Html),
];

impl App {
    /// Asks for the file to write the contents of the viewer with the focus to.
    pub(super) fn ask_export(&mut self) {
        let page = &self.tabs[self.current];
        let Some(instance) = page.focused() else {
            self.message = Some("there is no viewer to export".to_owned());
            return;
        };
        let extension = match instance.viewer.contents(&page.session) {
            Contents::Picture => "svg",
            Contents::Table(_) | Contents::Events(_) => "csv",
        };
        let name = format!("{}.{extension}", instance.kind().name());
        self.ask(Subject::Export, &name);
    }

    /// Returns the files of exports that are not complete.
    pub fn unfinished_exports(&self) -> Vec<PathBuf> {
        let exports = self.tabs.iter().filter_map(|page| page.session.export_path());
        exports.map(Path::to_path_buf).collect()
    }

    /// Writes the contents of the viewer with the focus to a file. `replaces` is the file that
    /// the user has agreed to replace.
    pub(super) fn export(
        &mut self,
        text: &str,
        replaces: &mut Option<PathBuf>,
    ) -> Result<(), Fault> {
        let path = path_of(text);
        let format = format_of(&path)?;
        self.check(&path, replaces)?;
        let page = &mut self.tabs[self.current];
        let Some(instance) = page.viewers.get(page.focus) else { return Ok(()) };
        let contents = instance.viewer.contents(&page.session);
        let events = match format {
            FileFormat::Text => Some(EventFormat::Text),
            FileFormat::Csv => Some(EventFormat::Csv),
            FileFormat::Json => Some(EventFormat::Json),
            FileFormat::Svg | FileFormat::Html => None,
        };
        let written = match (contents, events) {
            (Contents::Events(filters), Some(format)) => {
                let started = page.session.export_events(filters, format, path);
                return started
                    .map_err(|error| Fault::new(ltt_read::ErrorChain(&error).to_string()));
            }
            (Contents::Table(table), Some(format)) => tabular(&table, format),
            (_, Some(EventFormat::Csv | EventFormat::Json)) => {
                return Err(Fault::new("this viewer has no table: write to .svg, .html or .txt"));
            }
            (_, Some(EventFormat::Text)) => lines(&self.picture(self.look)).into_bytes(),
            (_, None) => {
                let title = format!("{}: {}", page.session.name, instance.kind().title());
                // A picture can have all colours, even if the terminal has only some.
                let look = if self.look == Look::Mono { Look::Mono } else { Look::True };
                let picture = svg(&self.picture(look), Theme::Dark, &title);
                match format {
                    FileFormat::Html => html(&title, &picture).into_bytes(),
                    _ => picture.into_bytes(),
                }
            }
        };
        let failed = |error| Fault::new(format!("{}: {error}", path.display()));
        write_file(&path, &written).map_err(failed)?;
        self.message = Some(format!("written: {} ({} bytes)", path.display(), written.len()));
        Ok(())
    }

    /// Checks that a file can be replaced without a loss.
    fn check(&self, path: &Path, replaces: &mut Option<PathBuf>) -> Result<(), Fault> {
        let traces = self.tabs.iter().flat_map(|page| page.session.traceset().traces());
        let traces: Vec<Arc<Trace>> = traces.cloned().collect();
        let others = self.tabs.iter().filter_map(|page| page.session.notes.all());
        let others: Vec<PathBuf> = others.map(|notes| notes.path().to_path_buf()).collect();
        inputs::refuse(path, &traces, &others)
            .map_err(|error| Fault::new(ltt_read::ErrorChain(&error).to_string()))?;
        let Ok(found) = fs::metadata(path) else { return Ok(()) };
        if !found.is_file() {
            return Err(Fault::new(format!("{}: this is not a file", path.display())));
        }
        if replaces.as_deref() != Some(path) {
            *replaces = Some(path.to_owned());
            return Err(Fault::new("the file exists: Enter replaces it, Esc leaves it"));
        }
        Ok(())
    }

    /// Draws the viewer with the focus as it is on the screen, in the colours of a look.
    fn picture(&self, look: Look) -> Buffer {
        let page = &self.tabs[self.current];
        let viewers = super::draw::Lines::of(self.area).viewers;
        let areas = page.areas(viewers);
        let area = areas.into_iter().find(|(at, _)| *at == page.focus).map(|(_, area)| area);
        let area = area.unwrap_or(Rect::ZERO);
        let mut screen = Buffer::empty(self.area);
        page.draw(look, viewers, &mut screen);
        let mut part = Buffer::empty(Rect { x: 0, y: 0, ..area });
        for y in 0..area.height {
            for x in 0..area.width {
                part[(x, y)] = screen[(area.x + x, area.y + y)].clone();
            }
        }
        part
    }
}

/// Returns the format of a file.
fn format_of(path: &Path) -> Result<FileFormat, Fault> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let lower = extension.unwrap_or_default().to_ascii_lowercase();
    let found = EXTENSIONS.iter().find(|(of, _)| *of == lower);
    found.map(|(_, format)| *format).ok_or_else(|| {
        Fault::new("the extension selects the format: .txt, .csv, .json, .svg or .html")
    })
}

/// Returns a table in a format.
fn tabular(table: &Table, format: EventFormat) -> Vec<u8> {
    let format = match format {
        EventFormat::Text => table::Format::Text,
        EventFormat::Csv => table::Format::Csv,
        EventFormat::Json => table::Format::Json,
    };
    let mut written = Vec::new();
    let style = TextStyle { is_exact: true, ..TextStyle::default() };
    // Writing to memory does not fail.
    _ = table::write(&mut written, format, &style, std::slice::from_ref(table));
    written
}

/// Returns the text of a screen.
fn lines(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let line: String = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Returns a page with a picture.
fn html(title: &str, picture: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title>\
         </head>\n<body style=\"margin: 0\">\n{picture}</body>\n</html>\n",
        xml(title)
    )
}
