package import System

/// A failure that is reported to the user: what failed, why, and what to do.
package struct MediaError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure. The raw value is the `code` of events and part of the events contract.
    package enum Code: String, Sendable, CaseIterable {
        case notFound = "not-found"
        case unreadable = "unreadable"
        case emptyFolder = "empty-folder"
        case emptyResource = "empty"
        case notAudio = "not-audio"
        case leftOut = "left-out"
        case badPlaylist = "bad-playlist"
        case listTooLarge = "list-too-large"
        case unsupportedScheme = "unsupported-scheme"
        case badURL = "bad-url"
        case refusedLocalFile = "local-file-refused"
        case unknownHost = "unknown-host"
        case connectionRefused = "connection-refused"
        case networkUnreachable = "network-unreachable"
        case connectionFailed = "connection-failed"
        case badAnswer = "bad-answer"
        case tlsFailed = "tls-failed"
        case timedOut = "timed-out"
        case cut = "cut"
        case httpStatus = "http-status"
        case tooManyRedirects = "too-many-redirects"
        case resourceChanged = "resource-changed"
        case offline = "offline"
        case notCached = "not-cached"
        case damaged = "damaged"
        case damagedExtent = "damaged-extent"
        case damagedIndex = "damaged-index"
        case badState = "bad-state"
        case cacheSecret = "cache-secret"
        case decodingFailed = "decoding-failed"
        case audioServer = "audio-server"
        case audioLost = "audio-lost"
        case sinkFailed = "sink-failed"
        case sinkFormat = "sink-format"
        case missingLibrary = "missing-library"
        case internalError = "internal"
    }

    package var code: Code
    /// The thing that failed: a location without secrets, a folder, the audio server.
    package var subject: SafeText
    /// The cause and, if it helps, what to do, after `; ` or ` – `; no full stop at the end.
    package var cause: SafeText
    /// `true` if retrying cannot help, although failures of this kind are often temporary.
    package var isLasting = false
    /// The origin (see `WebURL.origin`) of a server that is at fault itself, while this machine's network
    /// works: its name does not exist, it refuses connections, or it cannot be reached. `nil` for every other
    /// failure.
    package var deadOrigin: String?
    /// `true` if no request was sent.
    package var isUnsent = false
    /// The HTTP status of a final refusal; `nil` for other failures.
    package var status: Int?
    /// `true` if the user was not asked for the log-in that the server wants, because they did not wait for
    /// the resource.
    package var mayAskLater = false

    package init(_ code: Code, _ subject: SafeText, _ cause: SafeText) {
        self.code = code
        self.subject = subject
        self.cause = cause
    }

    /// `true` if the server has the resource no longer, or not for this user: its URL may have expired.
    package var isGone: Bool { status.map { [401, 403, 404, 410].contains($0) } ?? false }

    /// The cause without the advice, for places with little room.
    package var reason: SafeText {
        let ends = ["; ", " – "].compactMap { cause.string.firstRange(of: $0)?.lowerBound }
        return ends.min().map { SafeText(cause.string[..<$0]) } ?? cause
    }

    /// One sentence, `subject: cause`, safe for a terminal.
    package var description: String { "\(subject): \(cause)" }

    /// The same sentence as safe text.
    package var safeText: SafeText { subject + ": " + cause }
}

extension OptionalLibrary {
    /// Opens the library if it is not open yet. Throws `.missingLibrary` with the advice to `install` if it
    /// cannot be used.
    package func load(_ name: SafeText, install: SafeText) async throws {
        guard let reason = await open() else { return }
        let cause = "can't be loaded (" + SafeText(reason) + "); install " + install
        throw MediaError(.missingLibrary, name, cause)
    }
}
