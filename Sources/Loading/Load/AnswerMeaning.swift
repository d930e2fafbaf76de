import Media

/// The meaning of a response for its fetch. It describes what the server sent, which may differ from what was
/// requested.
enum AnswerMeaning: Equatable, Sendable {
    /// The body is this part of the resource, which includes the wanted bytes.
    case part(ByteRange)
    /// The body is the resource from its first byte on.
    case whole
    /// The body is a live stream: it has no end and no offsets.
    case live
    /// The resource has nothing at the wanted offset. `end` is its length; `nil` if the response does not
    /// state it.
    case nothingThere(end: Int64?)
    /// The resource is no longer the stored one.
    case changed
    /// The resource is longer than before, and the request had no overlap with stored bytes to compare. It is
    /// repeated with one.
    case grown
    /// The server sent the whole of an unchanged file: it does not support the condition, so the next one is
    /// tried.
    case weakerCondition(IfRangeStep)
    /// The server does not support ranges, or not correctly; the text is the reason.
    case withoutRange(SafeText)
    /// Refused for now.
    case later(status: Int)
    /// Refused; a retry would not help.
    case refused(MediaError.Code, SafeText)
}

extension AnswerMeaning {
    /// `true` if the bytes of `answer` may be played but not cached: a response with `no-store` (RFC 9111
    /// §5.2.2.5), one in a content coding, or a live stream.
    func forbidsStoring(of answer: RangeAnswer) -> Bool {
        switch self {
        case .part, .whole: answer.forbidsStoring || answer.isEncoded
        case .live: true
        case .nothingThere, .changed, .grown, .weakerCondition, .withoutRange, .later, .refused: false
        }
    }

    /// The cause of a 401 if the password is in a playlist and was not sent.
    static let withheldUserInfo: SafeText =
        """
        the server asks for a user name and password (401), and those in a playlist are not sent; put them \
        into ~/.netrc, or add this URL with them
        """

    /// The cause of a 401 to a request with a user name and a password.
    static let refusedUserInfo: SafeText = "the server refuses this user name or password (401)"

    /// The cause of a refusal with `status`, for messages.
    static func cause(status: Int) -> SafeText {
        switch status {
        case 200: "the server states a length that no file has"
        case 206: "got a part of the file at an unknown position (206); the server is at fault"
        case 400: "the server can't read the request (400); check the URL, and if it needs https"
        case 401: "the server asks for a user name and password (401); put them into ~/.netrc or the URL"
        case 403: "the server denies access (403); check the URL or the login"
        case 404: "the server has no such file (404)"
        case 407: "the proxy asks for a user name and password (407); put them into the proxy's URL"
        case 408: "the server gave up waiting for the request (408); try again later"
        case 410: "the server no longer has this file (410)"
        case 429: "too many requests for this server (429); try again later"
        case 451: "the server may not hand it out for legal reasons (451)"
        case 500...599: SafeText("server error \(status); try again later")
        default: SafeText("the server answers \(status)")
        }
    }
}

extension RangeAnswer {
    /// `true` if the body is content of the resource; `false` for a 304 or a refusal.
    var isContent: Bool {
        switch kind {
        case .part, .whole: true
        case .unsatisfiable, .notModified, .refused: false
        }
    }

    /// `true` if this is another representation than the one that `known` describes: another length, or
    /// another validator (RFC 9110 §8.8). A value that one of them lacks is no contradiction.
    func contradicts(_ known: EntryDescription) -> Bool {
        differ(statedLength, known.length) || contradictsValidators(of: known)
    }

    /// `true` if this may be what `known` describes, grown since then, as a recording in progress is: longer,
    /// and without another validator.
    func isGrown(_ known: EntryDescription) -> Bool {
        guard let statedLength, let length = known.length else { return false }
        return statedLength > length && !contradictsValidators(of: known)
    }

    /// `true` if this may be the response to a request beyond the end of a resource of `length` bytes: a
    /// refusal, or, from a server that ignores the range, the whole resource.
    func bringsNothing(beyond length: Int64) -> Bool {
        switch kind {
        case .refused: true
        case .whole: statedLength == length
        case .part, .unsatisfiable, .notModified: false
        }
    }

    /// The length of the whole resource; `nil` if it is not stated. That of a 416 depends on the request, so
    /// it is left out.
    private var statedLength: Int64? {
        switch kind {
        case .part(_, let total): total
        case .whole(let length): isEncoded ? nil : length
        case .unsatisfiable, .notModified, .refused: nil
        }
    }

    private func contradictsValidators(of known: EntryDescription) -> Bool {
        switch kind {
        case .notModified, .refused: false
        case .part, .whole, .unsatisfiable:
            differ(validators.etag.map(opaque), known.validators.etag.map(opaque))
                || differ(validators.lastModified, known.validators.lastModified)
        }
    }

    /// The tag without the prefix `W/`, for the weak comparison of RFC 9110 §8.8.3.2: a server that
    /// compresses its responses may send the tag of one file as strong in one response and as weak in the
    /// next.
    private func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    private func differ<Value: Equatable>(_ new: Value?, _ old: Value?) -> Bool {
        guard let new, let old else { return false }
        return new != old
    }

    /// `true` if the server sent an HTML page instead of the resource, as captive portals do.
    ///
    /// Such a page says nothing about the resource. If it counted as a change, the cached bytes would be
    /// discarded.
    func isForeignPage(for known: EntryDescription) -> Bool {
        guard case .whole = kind else { return false }
        return contentType == "text/html" && known.contentType != "text/html"
    }
}
