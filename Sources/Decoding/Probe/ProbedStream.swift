package import Media

/// The input of a decoder: a resource, and its first bytes, which were read to determine its kind.
package struct ProbedStream {
    package var source: any ByteSource
    /// The tags in front of the music, and the first bytes after them; a decoder does not read them again.
    package var start: StreamStart
    /// Names the resource in errors.
    package var subject: SafeText
    /// The seek table of an earlier decoder of the resource; empty if there is none. It is untrusted: a
    /// decoder checks it.
    package var seekTable: [UInt8]
    /// The duration that a playlist or feed states; `nil` if none does. It may be wrong.
    package var statedDuration: Duration?

    /// Creates the input for `source`, of which `head`, its first bytes, were already read.
    package init(source: any ByteSource, head: [UInt8] = [], subject: SafeText, seekTable: [UInt8] = []) {
        self.source = source
        start = StreamStart(of: source, holding: head)
        self.subject = subject
        self.seekTable = seekTable
    }

    /// The start of the music, after the tags in front of it. Throws `MediaError` with `.notAudio` unless the
    /// music is of one of `kinds`, and with `.emptyResource` if there are no bytes.
    func begun(as kinds: AudioKind...) async throws -> StreamStart {
        var start = start
        try await start.skipTags(of: subject)
        guard let kind = try await start.kind(), kinds.contains(kind) else { throw start.notAudio(subject) }
        return start
    }

    /// The result of `body`. If that refuses the stream, the error names the resource; `isOpen` states that
    /// some of its music is played.
    func reporting<Result>(isOpen: Bool = false, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let refusal as Refusal {
            throw refusal.error(of: subject, isOpen: isOpen)
        }
    }

    /// The error for music that breaks off although it goes on in the bytes. A decoder reports `.end` only if
    /// no music follows: it looks for more up to the last byte.
    func brokenOff(because cause: SafeText) -> MediaError {
        MediaError(.decodingFailed, subject, cause + " – get another copy of the file")
    }

    /// Releases the bytes of `start`, which are not needed once a decoder is open.
    mutating func forgetStart() { start = StreamStart(of: source) }
}

extension StreamInfo {
    /// The facts before `open`: the commonest format at the commonest rate.
    static let unopened = StreamInfo(
        format: AudioFormat(sampleRate: 44_100, channelCount: 2),
        bytesPerSecond: 16_000
    )
}
