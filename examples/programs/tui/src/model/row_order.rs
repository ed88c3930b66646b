//! The order of rows in charts and tables.

/// An order of rows, chosen by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// By number: TID, CPU, number of an interrupt.
    #[default]
    Number,
    /// Children below their parents.
    Tree,
    /// By name.
    Name,
    /// Most time, or the most events, in the time window first.
    Busiest,
}

impl RowOrder {
    /// The orders of tables.
    pub const OF_TABLES: [RowOrder; 3] = [RowOrder::Number, RowOrder::Name, RowOrder::Busiest];
    /// The orders of processes.
    pub const OF_PROCESSES: [RowOrder; 4] =
        [RowOrder::Number, RowOrder::Tree, RowOrder::Name, RowOrder::Busiest];

    /// Returns the order after this one among some, the first one after the last.
    #[must_use]
    pub fn next_of(self, all: &[RowOrder]) -> Self {
        let at = all.iter().position(|order| *order == self);
        let next = at.map_or(0, |at| at + 1) % all.len().max(1);
        all.get(next).copied().unwrap_or(self)
    }

    /// Returns the name in layouts.
    pub fn name(self) -> &'static str {
        match self {
            RowOrder::Number => "number",
            RowOrder::Tree => "tree",
            RowOrder::Name => "name",
            RowOrder::Busiest => "busiest",
        }
    }

    /// Returns the order of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::OF_PROCESSES.into_iter().find(|order| order.name() == name)
    }

    /// Returns the text in titles.
    pub fn title(self) -> &'static str {
        match self {
            RowOrder::Number => "by number",
            RowOrder::Tree => "as a tree",
            RowOrder::Name => "by name",
            RowOrder::Busiest => "busiest first",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reaches_all_orders() {
        for all in [&RowOrder::OF_TABLES[..], &RowOrder::OF_PROCESSES] {
            let mut order = all[0];
            for expected in all.iter().cycle().skip(1).take(2 * all.len()) {
                order = order.next_of(all);
                assert_eq!(order, *expected);
                assert_eq!(RowOrder::of_name(order.name()), Some(order));
            }
        }
        assert_eq!(RowOrder::Tree.next_of(&RowOrder::OF_TABLES), RowOrder::Number);
    }
}
