package import Media

/// The input of a decoder: a resource, and the first bytes of it that were read to determine its kind.
package struct ProbedStream {
    package var source: any ByteSource
    /// The bytes read from the start of the source; a decoder uses them instead of reading them again.
    package var head: [UInt8]
    /// Names the resource in errors.
    package var subject: SafeText
    /// The seek table of an earlier decoder of the resource; empty if there is none. It is untrusted: a
    /// decoder checks it.
    package var seekTable: [UInt8]

    package init(source: any ByteSource, head: [UInt8] = [], subject: SafeText, seekTable: [UInt8] = []) {
        self.source = source
        self.head = head
        self.subject = subject
        self.seekTable = seekTable
    }
}

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
        let kind = AudioKind.probe(
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
}
