//! Scopes: the six roots of the fields of an event.

/// A root of the field tree of an event, in decoding order (CTF 1.8 "dynamic scope", CTF
/// 2 field location origin).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Scope {
    /// The packet header: `trace.packet.header`.
    #[default]
    PacketHeader,
    /// The packet context: `stream.packet.context`.
    PacketContext,
    /// The event record header: `stream.event.header`.
    EventHeader,
    /// The event record common context: `stream.event.context`.
    CommonContext,
    /// The event record specific context: `event.context`.
    SpecificContext,
    /// The event record payload: `event.fields`.
    Payload,
}

impl Scope {
    /// All scopes, in decoding order.
    pub const ALL: [Scope; 6] = [
        Scope::PacketHeader,
        Scope::PacketContext,
        Scope::EventHeader,
        Scope::CommonContext,
        Scope::SpecificContext,
        Scope::Payload,
    ];

    /// Returns the name of the scope in TSDL (CTF 1.8.3, section 7.3.2).
    pub fn tsdl_name(self) -> &'static str {
        match self {
            Scope::PacketHeader => "trace.packet.header",
            Scope::PacketContext => "stream.packet.context",
            Scope::EventHeader => "stream.event.header",
            Scope::CommonContext => "stream.event.context",
            Scope::SpecificContext => "event.context",
            Scope::Payload => "event.fields",
        }
    }

    /// Returns the value of `origin` for the scope in CTF 2.
    pub(crate) fn ctf2_name(self) -> &'static str {
        match self {
            Scope::PacketHeader => "packet-header",
            Scope::PacketContext => "packet-context",
            Scope::EventHeader => "event-record-header",
            Scope::CommonContext => "event-record-common-context",
            Scope::SpecificContext => "event-record-specific-context",
            Scope::Payload => "event-record-payload",
        }
    }
}
