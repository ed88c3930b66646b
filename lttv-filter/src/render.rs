//! Rendering of errors and notes.

use crate::span::Span;
use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, FilterError, FilterNotes};

/// The maximum length of a text that is drawn, in bytes. For longer ones, only messages
/// are written.
const MAX_DRAWN: usize = 4096;

impl FilterError {
    /// Returns a drawing of the expression with each fault underlined, labelled, and with
    /// suggestions. Uses terminal colours if `colored` is set.
    ///
    /// ```
    /// let error = lttv_filter::Expression::parse("cpu < < 2").unwrap_err();
    /// assert_eq!(error.render(false), "\
    /// error: expected a value, found `<`
    ///   |
    /// 1 | cpu < < 2
    ///   |       ^ a number, time, label or text
    /// ");
    /// ```
    pub fn render(&self, colored: bool) -> String {
        draw(&Level::ERROR, self.text(), self.diagnostics(), colored)
    }
}

impl FilterNotes {
    /// Returns a drawing of the expression with each noted part underlined; empty if
    /// there are no notes. Uses terminal colours if `colored` is set.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// # let traces = ltt_read::open_all(path)?;
    /// use lttv_filter::{Expression, Filters};
    ///
    /// let expression = Expression::parse("tracefile.cpu == 99")?;
    /// let filters = Filters::new(&expression, &traces)?;
    /// assert_eq!(filters.notes().render(false), "\
    /// note: nothing passes this filter
    ///   |
    /// 1 | tracefile.cpu == 99
    ///   | ^^^^^^^^^^^^^^^^^^^ `tracefile.cpu` is between 0 and 7 everywhere
    /// ");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn render(&self, colored: bool) -> String {
        draw(&Level::NOTE, self.text(), self.diagnostics(), colored)
    }
}

fn draw(level: &Level<'_>, text: &str, diagnostics: &[Diagnostic], colored: bool) -> String {
    let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
    let mut drawn = String::new();
    for diagnostic in diagnostics {
        if text.len() > MAX_DRAWN {
            let level = if *level == Level::ERROR { "error" } else { "note" };
            drawn += &format!("{level}: {diagnostic}\n");
            continue;
        }
        drawn += &renderer.render(&report(level, text, diagnostic));
        drawn.push('\n');
    }
    drawn
}

fn report<'a>(level: &Level<'a>, text: &'a str, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
    let place = AnnotationKind::Primary.span(range(text, diagnostic.span));
    let place = match &*diagnostic.label {
        "" => place,
        label => place.label(label),
    };
    let mut said = level
        .clone()
        .primary_title(&*diagnostic.message)
        .element(Snippet::source(text).annotation(place));
    if let Some(help) = &diagnostic.help {
        said = said.element(Level::HELP.message(&**help));
    }
    let mut groups = vec![said];
    if let Some((span, better)) = &diagnostic.replacement {
        let patch = Patch::new(range(text, *span), &**better);
        let title = Level::HELP.secondary_title("perhaps this was meant");
        groups.push(title.element(Snippet::source(text).patch(patch)));
    }
    groups
}

/// Converts a span to a range within the text.
fn range(text: &str, span: Span) -> std::ops::Range<usize> {
    let end = (span.end as usize).min(text.len());
    (span.start as usize).min(end)..end
}
