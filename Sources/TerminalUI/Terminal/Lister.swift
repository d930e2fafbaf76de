import System

internal import Glibc
internal import Media

/// Reads folders and themes for completion on its own thread, since a network folder can be slow, and asks
/// for the sound devices.
final class Lister: Sendable {
    /// The most candidates; more would not help.
    static let most = 1_000

    private let thread = WorkThread(name: "completion")
    private let found = Locked<[UIEvent]>([])
    private let themes: @Sendable () -> [ThemeChoice]
    private let devices: @Sendable () async -> [SoundDevice]
    private let wake: @Sendable () -> Void

    /// `themes` reads the themes, `devices` the sound devices. `wake` is called on any thread when `take` has
    /// a new result.
    init(
        themes: @escaping @Sendable () -> [ThemeChoice],
        devices: @escaping @Sendable () async -> [SoundDevice] = { [] },
        wake: @escaping @Sendable () -> Void
    ) {
        self.themes = themes
        self.devices = devices
        self.wake = wake
    }

    deinit { thread.stop() }

    func listPaths(_ word: String) {
        report { .listed(word: word, paths: Self.paths(beginningWith: word)) }
    }

    func listThemes(_ word: String) { report { [themes] in .themes(themes(), word: word) } }

    func listDevices(_ word: String) {
        Task { [devices, weak self] in
            let found = await devices()
            let names = (found.filter(\.isCurrent) + found.filter { !$0.isCurrent }).map(\.name)
            self?.add(.devices(names, word: word))
        }
    }

    private func report(_ read: @escaping @Sendable () -> UIEvent) {
        thread.submit { [weak self] in
            guard let self else { return }
            add(read())
        }
    }

    private func add(_ event: UIEvent) {
        found.withLock { $0.append(event) }
        wake()
    }

    /// The results since the last call.
    func take() -> [UIEvent] { found.withLock { exchange(&$0, with: []) } }

    /// The files and folders whose path begins with `word`, as they are typed; folders end with `/`.
    ///
    /// Leaves out names that a line cannot contain, and hidden ones unless their dot was typed.
    static func paths(beginningWith word: String) -> [String] {
        let slash = word.lastIndex(of: "/").map { word.index(after: $0) } ?? word.startIndex
        let folder = word[..<slash]
        let name = word[slash...]
        var place = folder.isEmpty ? "." : String(folder)
        if place.hasPrefix("~/"), let home = getenv("HOME") {
            place = FileName.text(home) + place.dropFirst()
        }
        guard let stream = opendir(FileName.cString(place)) else { return [] }
        defer { closedir(stream) }
        var paths: [String] = []
        while paths.count < most, let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let found = FileName.text(bytes)
            guard found.hasPrefix(name), found != ".", found != "..",
                !found.hasPrefix(".") || name.hasPrefix(".")
            else { continue }
            // Bytes that are not UTF-8 are shown escaped, and typed as they are.
            let shown = String(
                String.UnicodeScalarView(found.unicodeScalars.filter { FileName.escapedByte($0) == nil })
            )
            guard SafeText(shown).string == shown else { continue }
            var status = stat()
            let isFolder =
                stat(FileName.cString(place + "/" + found), &status) == 0
                && status.st_mode & S_IFMT == S_IFDIR
            paths.append(folder + found + (isFolder ? "/" : ""))
        }
        return paths
    }
}
