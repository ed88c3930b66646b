//! The log levels of LTTng.

/// A log level of LTTng, to which [`EventType::log_level`](super::EventType::log_level) refers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogLevel {
    /// The name in the attributes of CTF 2 metadata, such as `debug:function`.
    pub name: &'static str,
    /// The name of the constant in LTTng, such as `TRACE_DEBUG_FUNCTION`.
    pub constant: &'static str,
}

impl LogLevel {
    /// All log levels, by their numbers: from 0, emergency, to 14, debug.
    pub const ALL: [LogLevel; 15] = [
        level("emergency", "TRACE_EMERG"),
        level("alert", "TRACE_ALERT"),
        level("critical", "TRACE_CRIT"),
        level("error", "TRACE_ERR"),
        level("warning", "TRACE_WARNING"),
        level("notice", "TRACE_NOTICE"),
        level("info", "TRACE_INFO"),
        level("debug:system", "TRACE_DEBUG_SYSTEM"),
        level("debug:program", "TRACE_DEBUG_PROGRAM"),
        level("debug:process", "TRACE_DEBUG_PROCESS"),
        level("debug:module", "TRACE_DEBUG_MODULE"),
        level("debug:unit", "TRACE_DEBUG_UNIT"),
        level("debug:function", "TRACE_DEBUG_FUNCTION"),
        level("debug:line", "TRACE_DEBUG_LINE"),
        level("debug", "TRACE_DEBUG"),
    ];

    /// Returns the log level with a number; `None` if LTTng has none.
    ///
    /// ```
    /// use ltt_read::schema::LogLevel;
    ///
    /// assert_eq!(LogLevel::of(6).map(|level| level.name), Some("info"));
    /// assert_eq!(LogLevel::of(-1), None);
    /// ```
    pub fn of(number: i64) -> Option<LogLevel> {
        usize::try_from(number).ok().and_then(|number| Self::ALL.get(number)).copied()
    }
}

const fn level(name: &'static str, constant: &'static str) -> LogLevel {
    LogLevel { name, constant }
}
