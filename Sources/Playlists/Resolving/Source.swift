import Media

/// What a listener's SOURCE means, before anything is looked at. Pure.
enum Source: Equatable {
    case standardInput
    /// Absolute.
    case path(String)
    /// One piece of music.
    case webTrack(WebURL)
    case webList(WebURL)

    /// Understands `text` as typed, a path being relative to `workingFolder`.
    ///
    /// A URL is a list only when its path has a list's extension: whatever else it is, opening it as
    /// music costs the one request of a cold start, and asking first would cost a second.
    /// Throws `.unsupportedScheme`, `.badURL` or `.notFound` (for no text at all).
    init(_ text: String, workingFolder: String) throws(MediaError) {
        guard text != "-" else {
            self = .standardInput
            return
        }
        switch Reference(text) {
        case .web:
            guard let url = WebURL(text) else { throw Reference.badURL(text) }
            self = SourceResolver.isList(url) ? .webList(url) : .webTrack(url)
        case .file:
            self = .path(try Reference.path(ofFileURL: text))
        case .other:
            throw Reference.unsupportedScheme(text)
        case .relative:
            guard !text.isEmpty, !text.utf8.contains(0) else {
                throw MediaError(.notFound, "the source", "it names nothing")
            }
            self = .path(PlaylistBase.absolute(text, in: workingFolder))
        }
    }
}
