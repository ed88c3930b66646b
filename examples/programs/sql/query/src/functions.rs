//! Functions for questions about traces.
//!
//! | function | result |
//! |---|---|
//! | `format_duration(ns)` | a text such as `1.5 ms` |
//! | `syscall_name(name)` | the system call of an event's name; null for other events |
//! | `bucket(n, width)` | the largest multiple of `width` up to `n` |
//! | `log2_bucket(n)` | the largest power of two up to `n`; 0 for 0 and less |

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, StringViewArray};
use arrow_schema::DataType;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

/// Returns the functions, to be registered where queries are planned or run.
pub fn all() -> Vec<ScalarUDF> {
    let mut functions = Vec::new();
    let mut add =
        |name: &str, input: &[DataType], output: DataType, of: fn(&[ArrayRef]) -> ArrayRef| {
            let function = move |arguments: &[ColumnarValue]| -> Result<ColumnarValue> {
                let is_scalar = arguments.iter().all(|of| matches!(of, ColumnarValue::Scalar(_)));
                let result = of(&ColumnarValue::values_to_arrays(arguments)?);
                if is_scalar && result.len() == 1 {
                    let value = datafusion::common::ScalarValue::try_from_array(&result, 0)?;
                    return Ok(ColumnarValue::Scalar(value));
                }
                Ok(ColumnarValue::Array(result))
            };
            let (input, function) = (input.to_vec(), Arc::new(function));
            functions.push(create_udf(name, input, output, Volatility::Immutable, function));
        };
    let (number, text) = (DataType::Int64, DataType::Utf8View);
    add("format_duration", std::slice::from_ref(&number), text.clone(), |arguments| {
        let numbers = arguments[0].as_primitive::<Int64Type>();
        let texts = numbers.iter().map(|ns| ns.map(duration_text));
        Arc::new(texts.collect::<StringViewArray>())
    });
    add("syscall_name", std::slice::from_ref(&text), text.clone(), |arguments| {
        let names = arguments[0].as_string_view().iter();
        Arc::new(names.map(|name| syscall_name(name?)).collect::<StringViewArray>())
    });
    add("bucket", &[number.clone(), number.clone()], number.clone(), |arguments| {
        let numbers = arguments[0].as_primitive::<Int64Type>().iter();
        let widths = arguments[1].as_primitive::<Int64Type>().iter();
        let buckets = numbers.zip(widths).map(|(number, width)| bucket(number?, width?));
        Arc::new(buckets.collect::<Int64Array>())
    });
    add("log2_bucket", std::slice::from_ref(&number), number.clone(), |arguments| {
        let numbers = arguments[0].as_primitive::<Int64Type>();
        Arc::new(numbers.iter().map(|number| number.map(log2_bucket)).collect::<Int64Array>())
    });
    functions
}

/// Returns a duration with three or four digits and a unit.
fn duration_text(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let size = ns.unsigned_abs();
    let (unit, name) = match size {
        0..1_000 => return format!("{sign}{size} ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let text = match size / unit {
        0..10 => format!("{}.{:02}", size / unit, size % unit * 100 / unit),
        10..100 => format!("{}.{}", size / unit, size % unit * 10 / unit),
        whole => whole.to_string(),
    };
    format!("{sign}{text} {name}")
}

/// Returns the name of the system call that an event begins or ends.
fn syscall_name(event: &str) -> Option<&str> {
    let event = event.strip_prefix("compat_").unwrap_or(event);
    let prefixes = ["syscall_entry_", "syscall_exit_", "sys_enter_", "sys_exit_"];
    prefixes.into_iter().find_map(|prefix| event.strip_prefix(prefix))
}

/// Returns the largest multiple of a width up to a number; `None` if there is none.
fn bucket(number: i64, width: i64) -> Option<i64> {
    if width <= 0 {
        return None;
    }
    number.checked_sub(number.rem_euclid(width))
}

fn log2_bucket(number: i64) -> i64 {
    if number <= 0 { 0 } else { 1 << number.ilog2() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.50 µs"),
            (-12_345_678, "-12.3 ms"),
            (123_456_789_000, "123 s"),
            (i64::MIN, "-9223372036 s"),
        ] {
            assert_eq!(duration_text(ns), text);
        }
    }

    #[test]
    fn names_of_system_calls() {
        assert_eq!(syscall_name("syscall_entry_openat"), Some("openat"));
        assert_eq!(syscall_name("compat_syscall_exit_read"), Some("read"));
        assert_eq!(syscall_name("sched_switch"), None);
    }

    #[test]
    fn buckets_are_lower_bounds() {
        assert_eq!((bucket(17, 5), bucket(-1, 5), bucket(3, 0)), (Some(15), Some(-5), None));
        assert_eq!(bucket(i64::MIN, 3), None);
        assert_eq!((log2_bucket(0), log2_bucket(1), log2_bucket(1023)), (0, 1, 512));
        assert_eq!(log2_bucket(i64::MAX), 1 << 62);
    }
}
