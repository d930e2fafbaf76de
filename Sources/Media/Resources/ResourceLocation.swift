/// Where a resource is.
package enum ResourceLocation: Sendable, Hashable {
    /// An absolute path of the local file system.
    case file(String)
    case web(WebURL)

    /// The location without secrets, for the screen, events, logs and errors.
    package var safeText: SafeText {
        switch self {
        case .file(let path): SafeText(path)
        case .web(let url): url.safeText
        }
    }

    /// The last part of the path, unescaped: what to call a track without a title.
    package var name: SafeText {
        switch self {
        case .file(let path):
            SafeText(path.split(separator: "/").last.map(String.init) ?? path)
        case .web(let url):
            SafeText(url.fileName ?? url.host)
        }
    }
}
