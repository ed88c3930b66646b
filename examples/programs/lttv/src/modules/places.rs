//! Attributes of results.

use lttv_context::attributes::{AttributeError, AttributeId, Attributes, Name};
use lttv_context::{TraceContext, TracefileContext};

/// Returns the subtree of results about a trace, `traces/[0]`. Sets its `path`.
pub(super) fn of_trace(
    attributes: &mut Attributes,
    trace: &TraceContext,
) -> Result<AttributeId, AttributeError> {
    let traces = attributes.subtree(AttributeId::ROOT, "traces")?;
    let place = attributes.subtree(traces, trace.index().0 as u64)?;
    let paths = trace.trace().paths().iter().map(|path| path.to_string_lossy());
    let paths: Vec<_> = paths.collect();
    attributes.set(place, "path", paths.join(", "))?;
    Ok(place)
}

/// Returns the subtree of results about a CPU of a trace: `traces/[0]/cpus/[3]`.
pub(super) fn of_cpu(
    attributes: &mut Attributes,
    trace: &TraceContext,
    cpu: Option<u32>,
) -> Result<AttributeId, AttributeError> {
    let trace = of_trace(attributes, trace)?;
    let cpus = attributes.subtree(trace, "cpus")?;
    let name = cpu.map_or(Name::Text("unknown"), |cpu| Name::Index(cpu.into()));
    attributes.subtree(cpus, name)
}

/// Returns the number of the CPU that recorded a tracefile.
pub(super) fn cpu(tracefile: &TracefileContext) -> Option<u32> {
    tracefile.tracefile().cpu()
}
