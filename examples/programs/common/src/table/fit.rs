//! The choice of the columns that fit into a line, and of their widths.

/// The number of blanks before each column.
pub(super) const GAP: usize = 2;

/// The number of characters of a text that are always shown.
const SHORTEST: usize = 8;

/// The number of characters of a text that are shown as long as another column can be left out.
const SHORT: usize = 24;

/// The number of columns at the start that are never left out, beside minor ones: they say what a
/// row is about.
const FIRST: usize = 2;

/// A column that may be left out or be narrower.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// The number of characters of the widest entry, and of the title.
    pub width: usize,
    /// The number of characters of the title.
    pub title: usize,
    /// `true` if the entries can be abbreviated.
    pub is_text: bool,
    /// `true` if long entries are divided into lines, so that narrow columns lose nothing.
    pub wraps: bool,
    /// `true` if the column is left out before others.
    pub is_minor: bool,
}

/// Returns the width of each column in a line of a number of characters; `None` for those that are
/// left out. Minor columns are left out first, then long texts are abbreviated, then
/// other columns are left out, from the last to the first. A line may be longer if its first columns
/// are.
pub(super) fn fit(columns: &[Extent], line: Option<usize>) -> Vec<Option<usize>> {
    let mut widths: Vec<_> = columns.iter().map(|column| Some(column.width)).collect();
    let Some(line) = line else { return widths };
    let of =
        |is_minor: bool| (0..columns.len()).filter(move |&at| columns[at].is_minor == is_minor);
    leave_out(&mut widths, of(true).collect(), line);
    let short = |column: &Extent| if column.wraps { SHORT / 2 } else { SHORT };
    abbreviate(&mut widths, columns, short, line);
    leave_out(&mut widths, of(false).skip(FIRST).collect(), line);
    abbreviate(&mut widths, columns, |_| SHORTEST, line);
    widths
}

/// Returns the number of characters of a line.
fn length(widths: &[Option<usize>]) -> usize {
    widths.iter().flatten().map(|width| width + GAP).sum()
}

/// Leaves out columns, the last ones first, until the line fits.
fn leave_out(widths: &mut [Option<usize>], columns: Vec<usize>, line: usize) {
    for at in columns.into_iter().rev() {
        if length(widths) <= line {
            return;
        }
        widths[at] = None;
    }
}

/// Makes texts narrower until the line fits, the widest ones first, but none narrower than its title
/// and than `least` characters.
fn abbreviate(
    widths: &mut [Option<usize>],
    columns: &[Extent],
    least: impl Fn(&Extent) -> usize,
    line: usize,
) {
    let least_of = |at: usize| least(&columns[at]).max(columns[at].title);
    loop {
        let excess = length(widths).saturating_sub(line);
        let can = |at: &usize| columns[*at].is_text && widths[*at] > Some(least_of(*at));
        let widest = (0..columns.len()).filter(can).max_by_key(|&at| widths[at]);
        let (Some(at), true) = (widest, excess > 0) else { return };
        let width = widths[at].unwrap_or(0);
        // Down to the next widest text, so that several ones share the abbreviation.
        let next = (0..columns.len()).filter(|&other| other != at && can(&other));
        let next = next.filter_map(|other| widths[other]).max().unwrap_or(0);
        let target = width.saturating_sub(excess).max(next.saturating_sub(1)).max(least_of(at));
        widths[at] = Some(target.min(width - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(width: usize) -> Extent {
        Extent { width, title: 4, is_text: true, wraps: false, is_minor: false }
    }

    fn number(width: usize) -> Extent {
        Extent { width, title: 4, is_text: false, wraps: false, is_minor: false }
    }

    fn minor(width: usize) -> Extent {
        Extent { is_minor: true, ..number(width) }
    }

    #[test]
    fn what_fits_is_unchanged() {
        let columns = [number(5), text(10), minor(20)];
        let all = vec![Some(5), Some(10), Some(20)];
        assert_eq!(fit(&columns, None), all);
        assert_eq!(fit(&columns, Some(41)), all);
        assert_eq!(fit(&columns, Some(40)), [Some(5), Some(10), None]);
    }

    #[test]
    fn minor_columns_go_first_then_texts_shrink_then_others_go() {
        let columns = [number(5), text(60), minor(10), number(10), number(10)];
        assert_eq!(fit(&columns, Some(93)), [Some(5), Some(60), None, Some(10), Some(10)]);
        assert_eq!(fit(&columns, Some(60)), [Some(5), Some(27), None, Some(10), Some(10)]);
        assert_eq!(fit(&columns, Some(50)), [Some(5), Some(24), None, Some(10), None]);
        assert_eq!(fit(&columns, Some(20)), [Some(5), Some(11), None, None, None]);
        assert_eq!(fit(&columns, Some(1)), [Some(5), Some(8), None, None, None]);
    }

    #[test]
    fn long_texts_share_the_abbreviation() {
        let columns = [number(5), text(60), text(50), text(10)];
        let widths = fit(&columns, Some(99));
        assert_eq!(widths[3], Some(10));
        assert_eq!(length(&widths), 99);
        assert!(widths[1].unwrap().abs_diff(widths[2].unwrap()) <= 1, "{widths:?}");
    }

    #[test]
    fn lines_fit_unless_the_first_columns_are_too_wide() {
        for line in 30..200 {
            for seed in 0..50_usize {
                let column = |at: usize| match (seed + at) % 3 {
                    0 => text(seed % 70 + at),
                    1 => number(seed % 9 + at),
                    _ => minor(seed % 5 + at),
                };
                let columns: Vec<_> = (0..12).map(column).collect();
                let widths = fit(&columns, Some(line));
                assert!(length(&widths) <= line, "{line} {seed} {widths:?}");
                let all: usize = columns.iter().map(|column| column.width + GAP).sum();
                assert_eq!(
                    all <= line,
                    widths.iter().zip(&columns).all(|(w, c)| *w == Some(c.width))
                );
            }
        }
    }
}
