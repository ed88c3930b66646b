//! The names of spans.

use super::family::Family;
use super::machine::{kind_of_subject, priority_of_subject};
use super::span::{Span, SpanThread};
use super::subjects::{Group, Subjects};
use crate::kernel::{NameId, RequestOperation};

/// The names that spans refer to.
#[derive(Debug, Clone, Copy)]
pub struct SpanNames<'n>(&'n [Subjects]);

impl<'n> SpanNames<'n> {
    pub(crate) fn new(subjects: &'n [Subjects]) -> Self {
        SpanNames(subjects)
    }

    fn text(&self, span: &Span, name: NameId) -> &'n str {
        self.0.get(span.trace.0).map_or("", |subjects| subjects.name(name))
    }

    /// Returns the name of the thread of a span, or of its waker; empty if it is unknown.
    pub fn comm(&self, span: &Span, thread: &SpanThread) -> &'n str {
        self.text(span, thread.comm)
    }

    /// Returns the name of the file of a system call; empty if there is none, or if it is unknown.
    pub fn file(&self, span: &Span) -> &'n str {
        self.text(span, span.file)
    }

    /// Returns the name of a system call; `None` of other spans.
    pub fn call(&self, span: &Span) -> Option<&'n str> {
        let is_call = matches!(span.family, Family::Syscall);
        is_call.then(|| self.text(span, NameId::at(span.subject)))
    }

    /// Returns the name of a span: of a system call, `NUMBER NAME` of an interrupt, `DISK KIND` of a request, the
    /// file of a file operation, `PID ADDRESS` of a futex, a period with its values. Empty if the family says all.
    pub fn label(&self, span: &Span) -> String {
        match span.family {
            Family::WakeUp | Family::Preemption | Family::Run | Family::Blocked => String::new(),
            family => {
                let subjects = self.0.get(span.trace.0);
                subjects.map_or(String::new(), |subjects| subjects.label(family, span.subject))
            }
        }
    }

    /// Returns the group of a period.
    pub(super) fn group(&self, span: &Span) -> Option<Group<'n>> {
        let subjects = self.0.get(span.trace.0).filter(|_| span.family == Family::Period)?;
        subjects.group(span.subject)
    }

    /// Returns the priority with which a thread waited for a CPU; `None` of other spans, or if it is unknown.
    pub fn priority(&self, span: &Span) -> Option<i64> {
        let waits = matches!(span.family, Family::WakeUp | Family::Preemption);
        priority_of_subject(span.subject).filter(|_| waits)
    }

    /// Returns the number of an interrupt, a vector or a softirq; `None` of other spans.
    pub fn number(&self, span: &Span) -> Option<u32> {
        let handlers = [Family::HardIrq, Family::Vector, Family::Softirq, Family::SoftirqRaise];
        let subjects = self.0.get(span.trace.0).filter(|_| handlers.contains(&span.family))?;
        subjects.handler_number(span.subject)
    }

    /// Returns the operation of a request to a disk; `None` of other spans.
    pub fn operation(&self, span: &Span) -> Option<RequestOperation> {
        let is_request = matches!(span.family, Family::DiskQueue | Family::DiskDevice);
        is_request.then(|| kind_of_subject(span.subject).1)
    }
}
