package import Media

/// Chooses the decoder of a resource by its kind.
package struct DecoderTable: Sendable {
    package typealias Factory = @Sendable (ProbedStream) -> any AudioDecoder

    /// They create the decoder of each kind that is played.
    package let factories: [AudioKind: Factory]

    /// The decoders of all kinds that are played (`AudioKind.played`).
    package static let all = DecoderTable([
        .mpeg: { MPEGDecoder($0) }, .flac: { FLACDecoder($0) }, .ogg: { OggDecoder($0) },
        .adts: { ADTSDecoder($0) }, .mp4: { MP4Decoder($0) }, .wave: { PCMDecoder($0) },
        .aiff: { PCMDecoder($0) },
    ])

    package init(_ factories: [AudioKind: Factory]) { self.factories = factories }

    /// Reads the first bytes of `reader`, with the one request that a cold start needs, and creates a decoder
    /// for them. A playlist or feed states that the music lasts `duration`, if any does.
    ///
    /// Throws `MediaError` with `.notAudio`, which names the kind, if there is no decoder for it, and with
    /// `.emptyResource` if there are no bytes.
    package func decoder(
        for reader: any ResourceReader,
        at location: ResourceLocation,
        lasting duration: Duration? = nil
    ) async throws -> any AudioDecoder {
        let subject = location.safeText
        var stream = ProbedStream(source: reader, subject: subject, seekTable: reader.stored(.seekTable))
        stream.statedDuration = duration
        try await stream.start.skipTags(of: subject)
        guard let kind = try await stream.start.kind(), let factory = factories[kind] else {
            throw stream.start.notAudio(subject)
        }
        return factory(stream)
    }
}
