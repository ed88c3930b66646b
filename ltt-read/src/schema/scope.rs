//! The six roots under which fields are found.

/// A root of the field tree of an event (CTF 1.8 "dynamic scope",
/// CTF 2 field location origin), in decoding order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Scope {
    /// `trace.packet.header`
    #[default]
    PacketHeader,
    /// `stream.packet.context`
    PacketContext,
    /// `stream.event.header`
    EventHeader,
    /// `stream.event.context`
    CommonContext,
    /// `event.context`
    SpecificContext,
    /// `event.fields`
    Payload,
}

impl Scope {
    /// All scopes in decoding order.
    pub const ALL: [Scope; 6] = [
        Scope::PacketHeader,
        Scope::PacketContext,
        Scope::EventHeader,
        Scope::CommonContext,
        Scope::SpecificContext,
        Scope::Payload,
    ];

    /// The name that TSDL (CTF 1.8.3, section 7.3.2) gives it.
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

    /// The `origin` value that CTF 2 gives it.
    pub fn ctf2_name(self) -> &'static str {
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
