//! Copying texts to the clipboard of the terminal.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::App;

/// The greatest length of a text that terminals accept, in bytes of base64.
const MOST: usize = 74_994;

impl App {
    /// Copies the selected row of the viewer with the focus.
    pub(super) fn copy_row(&mut self) {
        let page = &self.tabs[self.current];
        let text = page.focused().and_then(|of| of.viewer.selected_text(&page.session));
        match text {
            Some(text) => self.copy(text),
            None => self.message = Some("there is no row to copy".to_owned()),
        }
    }

    /// Copies a text.
    pub(super) fn copy(&mut self, text: String) {
        let coded = STANDARD.encode(&text);
        if coded.len() > MOST {
            let most = MOST / 4 * 3;
            self.message = Some(format!(
                "not copied: {} bytes, and terminals accept {most}; W writes to a file",
                text.len()
            ));
            return;
        }
        let lines = match text.trim_end().lines().count() {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        self.message = Some(format!("copied {lines}, if the terminal allows it (OSC 52)"));
        self.copied = Some(format!("\x1b]52;c;{coded}\x07"));
    }

    /// Returns the sequence that copies a text to the clipboard of the terminal, as the user has
    /// requested. Resets the request.
    pub fn take_copied(&mut self) -> Option<String> {
        self.copied.take()
    }
}
