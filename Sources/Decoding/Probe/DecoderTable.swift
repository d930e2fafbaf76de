package import Media

/// Chooses the decoder of a resource by its kind.
package struct DecoderTable: Sendable {
    package typealias Factory = @Sendable (ProbedStream) -> any AudioDecoder

    private let factories: [AudioKind: Factory]
    private let mpeg: Factory

    /// `mpeg` handles kinds without a factory of their own: it finds MP3 in RIFF files, and its errors name
    /// any other format.
    package init(mpeg: @escaping Factory, others: [AudioKind: Factory] = [:]) {
        self.mpeg = mpeg
        factories = others
    }

    /// Reads the first bytes of `reader`, with the one request that a cold start needs, and creates a decoder
    /// for them.
    package func decoder(
        for reader: any ResourceReader,
        at location: ResourceLocation
    ) async throws -> any AudioDecoder {
        var window = ByteWindow(reader, at: 0)
        try await window.fill(AudioKind.headByteCount, askingUpTo: ByteWindow.requestByteCount)
        let kind = Self.kind(
            head: window.bytes,
            contentType: reader.report.contentType,
            name: location.name.string
        )
        let stream = ProbedStream(
            source: reader,
            head: window.bytes,
            subject: location.safeText,
            seekTable: reader.storedSeekTable
        )
        return (factories[kind] ?? mpeg)(stream)
    }

    /// The kind of a resource that begins with `head`. Pure.
    ///
    /// A magic number takes precedence, since servers and file names are often wrong: content type and name
    /// count only without one. Everything else is taken for MPEG audio, which has no reliable magic number.
    package static func kind(head: [UInt8], contentType: String?, name: String) -> AudioKind {
        if let kind = AudioKind.byMagicNumber(head) { return kind }
        if head.starts(with: "ID3".utf8) || FrameHeader(head, at: 0) != nil { return .mpeg }
        return contentType.flatMap(AudioKind.byContentType) ?? AudioKind.byName(name) ?? .mpeg
    }
}
