//! Conditions of queries that a read evaluates: spans of time, and comparisons of fields.
//!
//! A condition is taken over only if the read gives the same rows. In SQL a comparison with null
//! is null and drops the row, in filters one with an absent field is false: the same, as long as no
//! negation is around it.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use lttv_arrow::EventTable;
use lttv_filter::{ExactNumber, Expr as Condition, Literal, LiteralKind, Relation, Selector};

/// The part of a query that a read evaluates.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pushed {
    /// The first and the last time, in ns.
    pub(crate) window: (Option<i64>, Option<i64>),
    pub(crate) condition: Option<Condition>,
}

/// Returns what a read evaluates in place of an expression; `None` if it cannot.
pub(crate) fn pushed(table: &EventTable, expr: &Expr) -> Option<Pushed> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            let (a, b) = (pushed(table, left)?, pushed(table, right)?);
            let conditions: Vec<_> = a.condition.into_iter().chain(b.condition).collect();
            Some(Pushed {
                window: (
                    a.window.0.into_iter().chain(b.window.0).max(),
                    a.window.1.into_iter().chain(b.window.1).min(),
                ),
                condition: (!conditions.is_empty()).then(|| Condition::all(conditions)),
            })
        }
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let (column, low, high) = (column(expr)?, literal(low)?, literal(high)?);
            let ge = comparison(table, column, Operator::GtEq, low)?;
            let le = comparison(table, column, Operator::LtEq, high)?;
            let conditions: Vec<_> = ge.condition.into_iter().chain(le.condition).collect();
            Some(Pushed {
                window: (ge.window.0, le.window.1),
                condition: (!conditions.is_empty()).then(|| Condition::all(conditions)),
            })
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if *op != Operator::Or => {
            match (column(left), literal(right), literal(left), column(right)) {
                (Some(column), Some(value), ..) => comparison(table, column, *op, value),
                (.., Some(value), Some(column)) => comparison(table, column, op.swap()?, value),
                _ => None,
            }
        }
        other => {
            let condition = Some(condition(table, other)?);
            Some(Pushed { condition, ..Pushed::default() })
        }
    }
}

/// Returns the condition for alternatives and sets, which contain no times.
fn condition(table: &EventTable, expr: &Expr) -> Option<Condition> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            Some(Condition::any([condition(table, left)?, condition(table, right)?]))
        }
        Expr::InList(list) if !list.negated => {
            let name = column(&list.expr)?;
            let each = list
                .list
                .iter()
                .map(|item| comparison(table, name, Operator::Eq, literal(item)?)?.condition);
            Some(Condition::any(each.collect::<Option<Vec<_>>>()?))
        }
        Expr::BinaryExpr(_) | Expr::Between(_) => {
            let Pushed { window: (None, None), condition } = pushed(table, expr)? else {
                return None;
            };
            condition
        }
        _ => None,
    }
}

fn column(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Column(column) => Some(&column.name),
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<&ScalarValue> {
    match expr {
        Expr::Literal(value, _) if !value.is_null() => Some(value),
        _ => None,
    }
}

/// Returns what a read evaluates in place of a comparison.
fn comparison(table: &EventTable, name: &str, op: Operator, value: &ScalarValue) -> Option<Pushed> {
    let at = table.column(name)?;
    // A null `timestamp` may belong to an event with a time, whose clock has an unknown origin.
    if name == "ts" || name == "timestamp" && !table.schema().field(at).is_nullable() {
        return time(op, value).map(|window| Pushed { window, condition: None });
    }
    let selector = table.filter_selector(at)?;
    let field = table.schema().field(at);
    let condition = match field.data_type().is_integer() {
        true => number(&selector, op, value)?,
        false => text(&selector, op, value, name == "name")?,
    };
    Some(Pushed { condition: Some(condition), ..Pushed::default() })
}

/// Returns the span of a comparison of times.
fn time(op: Operator, value: &ScalarValue) -> Option<(Option<i64>, Option<i64>)> {
    let ns = match value {
        ScalarValue::TimestampNanosecond(Some(ns), None) | ScalarValue::Int64(Some(ns)) => *ns,
        _ => return None,
    };
    // No time is before the first or after the last one, which an empty span expresses.
    const NEVER: (Option<i64>, Option<i64>) = (Some(i64::MAX), Some(i64::MIN));
    Some(match op {
        Operator::Eq => (Some(ns), Some(ns)),
        Operator::GtEq => (Some(ns), None),
        Operator::LtEq => (None, Some(ns)),
        Operator::Gt => ns.checked_add(1).map_or(NEVER, |after| (Some(after), None)),
        Operator::Lt => ns.checked_sub(1).map_or(NEVER, |before| (None, Some(before))),
        _ => return None,
    })
}

fn number(selector: &Selector, op: Operator, value: &ScalarValue) -> Option<Condition> {
    let value: i128 = match value {
        ScalarValue::Int8(Some(value)) => (*value).into(),
        ScalarValue::Int16(Some(value)) => (*value).into(),
        ScalarValue::Int32(Some(value)) => (*value).into(),
        ScalarValue::Int64(Some(value)) => (*value).into(),
        ScalarValue::UInt8(Some(value)) => (*value).into(),
        ScalarValue::UInt16(Some(value)) => (*value).into(),
        ScalarValue::UInt32(Some(value)) => (*value).into(),
        ScalarValue::UInt64(Some(value)) => (*value).into(),
        _ => return None,
    };
    let literal = Literal::from(LiteralKind::Integer(ExactNumber::new(value, 0)));
    Some(selector.compare(relation(op)?, literal))
}

fn text(
    selector: &Selector,
    op: Operator,
    value: &ScalarValue,
    is_name: bool,
) -> Option<Condition> {
    let (ScalarValue::Utf8(Some(text))
    | ScalarValue::Utf8View(Some(text))
    | ScalarValue::LargeUtf8(Some(text))) = value
    else {
        return None;
    };
    let relation = relation(op).filter(|of| matches!(of, Relation::Eq | Relation::Ne))?;
    // A text that is not UTF-8 is escaped in the column, and a filter compares its bytes. The name
    // of an event in a filter may begin with that of its channel.
    if text.contains("\\x") || is_name && text.contains('.') {
        return None;
    }
    Some(selector.compare(relation, text.as_str()))
}

fn relation(op: Operator) -> Option<Relation> {
    Some(match op {
        Operator::Eq => Relation::Eq,
        Operator::NotEq => Relation::Ne,
        Operator::Lt => Relation::Lt,
        Operator::LtEq => Relation::Le,
        Operator::Gt => Relation::Gt,
        Operator::GtEq => Relation::Ge,
        _ => return None,
    })
}
