//! Where results stand among the attributes.

use lttv_context::TracefileContext;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes, Name};

/// Where results about a trace stand: `traces/[0]`.
pub(super) fn of_trace(
    attributes: &mut Attributes,
    trace: usize,
) -> Result<AttributeId, AttributeError> {
    let traces = attributes.subtree(AttributeId::ROOT, "traces")?;
    attributes.subtree(traces, trace as u64)
}

/// Where those about a CPU of a trace stand: `traces/[0]/cpus/[3]`.
pub(super) fn of_cpu(
    attributes: &mut Attributes,
    trace: usize,
    cpu: Option<u32>,
) -> Result<AttributeId, AttributeError> {
    let trace = of_trace(attributes, trace)?;
    let cpus = attributes.subtree(trace, "cpus")?;
    let name = cpu.map_or(Name::Text("unknown"), |cpu| Name::Index(cpu.into()));
    attributes.subtree(cpus, name)
}

/// The CPU whose events are in a tracefile.
pub(super) fn cpu(tracefile: &TracefileContext) -> Option<u32> {
    tracefile.tracefile().cpu()
}
