import System

internal import Glibc
internal import Media

/// Reads folders for completion on a thread of its own: a network's folder may take its time.
final class PathLister: Sendable {
    /// More are no help to anybody who looks for one.
    static let most = 1_000

    private let thread = WorkThread(name: "completion")
    private let found = Locked<[(word: String, paths: [String])]>([])
    private let wake: @Sendable () -> Void

    /// `wake` is called from the thread when there is something to take.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    deinit { thread.stop() }

    func list(_ word: String) {
        thread.submit { [weak self] in
            guard let self else { return }
            let paths = Self.paths(beginningWith: word)
            found.withLock { $0.append((word, paths)) }
            wake()
        }
    }

    /// What was found since the last call.
    func take() -> [(word: String, paths: [String])] {
        found.withLock { found in
            defer { found = [] }
            return found
        }
    }

    /// The files and folders whose path begins with `word`, as it would be typed on; folders end with `/`.
    ///
    /// Names that hold what a line cannot are left out, and hidden ones unless their dot was typed.
    static func paths(beginningWith word: String) -> [String] {
        let slash = word.lastIndex(of: "/").map { word.index(after: $0) } ?? word.startIndex
        let (folder, name) = (word[..<slash], word[slash...])
        var place = folder.isEmpty ? "." : String(folder)
        if place.hasPrefix("~/"), let home = getenv("HOME") {
            place = String(cString: home) + place.dropFirst()
        }
        guard let stream = opendir(place) else { return [] }
        defer { closedir(stream) }
        var paths: [String] = []
        while paths.count < most, let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard let found = String(validating: bytes, as: UTF8.self), found.hasPrefix(name) else {
                continue
            }
            guard found != ".", found != "..", !found.hasPrefix(".") || name.hasPrefix(".") else { continue }
            guard SafeText(found).string == found else { continue }
            var status = stat()
            let isFolder = stat(place + "/" + found, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            paths.append(folder + found + (isFolder ? "/" : ""))
        }
        return paths
    }
}
