//! Drawing errors: the expression, its faults underlined.

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use ltt_read::metadata::Span;

use crate::diagnostic::{Diagnostic, FilterError};

/// Longer texts are not drawn whole: a terminal has no use for them.
const MAX_DRAWN: usize = 4096;

impl FilterError {
    /// The expression with each fault underlined, why it is one, and what may
    /// have been meant; with colours of a terminal if wanted.
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
        let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
        let mut drawn = String::new();
        for diagnostic in self.diagnostics() {
            if self.text().len() > MAX_DRAWN {
                drawn += &format!("error: {diagnostic}\n");
                continue;
            }
            drawn += &renderer.render(&self.report(diagnostic));
            drawn.push('\n');
        }
        drawn
    }

    fn report<'a>(&'a self, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
        let text = self.text();
        let place = AnnotationKind::Primary.span(range(text, diagnostic.span));
        let place = match &*diagnostic.label {
            "" => place,
            label => place.label(label),
        };
        let mut error = Level::ERROR
            .primary_title(&*diagnostic.message)
            .element(Snippet::source(text).annotation(place));
        if let Some(help) = &diagnostic.help {
            error = error.element(Level::HELP.message(&**help));
        }
        let mut groups = vec![error];
        if let Some((span, better)) = &diagnostic.replacement {
            let patch = Patch::new(range(text, *span), &**better);
            let title = Level::HELP.secondary_title("perhaps this was meant");
            groups.push(title.element(Snippet::source(text).patch(patch)));
        }
        groups
    }
}

/// A span as a range within the text.
fn range(text: &str, span: Span) -> std::ops::Range<usize> {
    let end = (span.end as usize).min(text.len());
    (span.start as usize).min(end)..end
}
