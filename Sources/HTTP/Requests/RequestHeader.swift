/// One header field that the listener adds to every request to the origins of their sources.
///
/// Its value may be a secret: it has no description and is sent to no other origin.
package struct RequestHeader: Sendable, Equatable {
    package let name: String
    package let value: String

    /// Parses `Name: value`; nil when the name is no token, the value holds a control character, or the
    /// field is one that the transport has to set itself.
    package init?(parsing text: some StringProtocol) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon]
        let value = HeaderFields.trimmed(text[text.index(after: colon)...])
        guard HeaderFields.isName(name), HeaderFields.isValue(value),
            !Self.reserved.contains(name.lowercased())
        else { return nil }
        self.name = String(name)
        self.value = String(value)
    }

    /// Fields that say what is asked for or how the message is framed: with another value the answer
    /// would not be what the loader takes it for.
    private static let reserved: Set<String> = [
        "accept-encoding", "connection", "content-length", "host", "icy-metadata", "if-match",
        "if-modified-since",
        "if-none-match", "if-range", "if-unmodified-since", "range", "te", "transfer-encoding", "upgrade",
    ]
}
