/// Content types by file name.
enum ContentType {
    /// The type for a file called `name`; `application/octet-stream` for an ending not known.
    static func of(_ name: some StringProtocol) -> String {
        guard let dot = name.lastIndex(of: ".") else { return fallback }
        return byEnding[name[name.index(after: dot)...].lowercased()] ?? fallback
    }

    private static let fallback = "application/octet-stream"

    private static let byEnding = [
        "mp3": "audio/mpeg", "flac": "audio/flac", "ogg": "audio/ogg", "wav": "audio/wav",
        "m3u": "audio/x-mpegurl", "m3u8": "application/vnd.apple.mpegurl", "pls": "audio/x-scpls",
        "xspf": "application/xspf+xml", "html": "text/html", "htm": "text/html",
        "txt": "text/plain", "json": "application/json", "jpg": "image/jpeg", "png": "image/png",
    ]
}
