//! The owners of spans, by family.

use lttv_state::spans::Family;

/// Returns `true` if the spans of a family are those of a CPU, whatever thread they interrupt.
pub(super) fn is_of_cpu(family: Family) -> bool {
    matches!(family, Family::HardIrq | Family::Vector | Family::Softirq | Family::SoftirqRaise)
}

/// Returns `true` if the spans of a family are those of a thread.
pub(super) fn is_of_thread(family: Family) -> bool {
    !is_of_cpu(family) && !matches!(family, Family::DiskQueue | Family::DiskDevice)
}
