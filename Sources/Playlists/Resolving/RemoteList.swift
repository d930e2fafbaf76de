import Media

/// Reads a list of the web to its end.
enum RemoteList {
    private static let chunkLength = 256 * 1024

    /// All bytes of `source`, a list called `subject`, at most `limit`.
    ///
    /// Throws `.badPlaylist` when there are more, `.emptyResource` for none, and what the source throws.
    static func read(_ source: any ByteSource, subject: SafeText, limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            // Looked at anew each time: the length is known from the first answer on.
            if let length = source.length, length > Int64(limit) { throw LocalFile.tooLarge(subject) }
            let chunk = try await source.read(at: Int64(bytes.count), count: chunkLength)
            if chunk.isEmpty { break }
            guard chunk.count <= limit - bytes.count else { throw LocalFile.tooLarge(subject) }
            bytes += chunk
            if source.length == Int64(bytes.count) { break }
        }
        guard !bytes.isEmpty else { throw MediaError(.emptyResource, subject, "there are no bytes in it") }
        return bytes
    }
}
