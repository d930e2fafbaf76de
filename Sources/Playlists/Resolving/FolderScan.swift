import Glibc
import Media
import System

/// Finds the music below a folder. Blocks; use an instance once, on one thread.
///
/// Counts the audio files that are left out because of their format. Skips hidden files and folders. Also
/// skips playlists: their tracks are in the folder anyway, or were not requested. A folder that is reached by
/// several symbolic links is scanned once.
struct FolderScan {
    private struct Identity: Hashable {
        var device: dev_t
        var node: ino_t
    }

    private let limits: PlaylistLimits
    private let isStopped: () -> Bool
    private var tracks: [Track] = []
    private var problems = PlaylistProblems()
    private var visited: Set<Identity> = []

    /// The scan ends early, with what it has found, once `isStopped` returns `true`.
    init(limits: PlaylistLimits, isStopped: @escaping () -> Bool = { false }) {
        self.limits = limits
        self.isStopped = isStopped
    }

    /// Finds the music below `folder`, at least one file, in natural order, component by component. Throws
    /// `.emptyFolder`, `.notFound` or `.unreadable`.
    consuming func tracks(in folder: String) throws(MediaError) -> ResolvedTracks {
        try scan(folder, depth: 0)
        let subject = SafeText(folder)
        guard !tracks.isEmpty else { throw problems.emptyFolder(subject) }
        return ResolvedTracks(tracks: tracks, problems: problems.all(of: subject))
    }

    private mutating func scan(_ folder: String, depth: Int) throws(MediaError) {
        guard depth < limits.folderDepth else {
            return problems.add(MediaError(.unreadable, SafeText(folder), "folders are nested too deeply"))
        }
        for key in try names(in: folder) where !isStopped() {
            let path = PlaylistBase.absolute(key.name, in: folder)
            var status = stat()
            // A dangling link, or a file that was deleted in the meantime.
            guard stat(FileName.cString(path), &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                guard visited.insert(Identity(device: status.st_dev, node: status.st_ino)).inserted else {
                    continue
                }
                do throws(MediaError) { try scan(path, depth: depth + 1) } catch { problems.add(error) }
            case S_IFREG where ResourceKind.of(name: key.name) == .music:
                guard tracks.count < limits.entries else {
                    let cause = SafeText("too many files (more than \(limits.entries))")
                    return problems.add(MediaError(.listTooLarge, SafeText(path), cause))
                }
                tracks.append(Track(id: TrackIDs.next(), location: .file(path)))
            case S_IFREG: problems.leaveOut(key.name)
            default: continue
            }
        }
    }

    /// The names in `folder` that are not hidden, in natural order.
    private mutating func names(in folder: String) throws(MediaError) -> [NaturalKey] {
        guard let stream = opendir(FileName.cString(folder)) else {
            throw LocalFile.failure(errno, folder)
        }
        defer { closedir(stream) }
        var status = stat()
        if fstat(dirfd(stream), &status) == 0 {
            visited.insert(Identity(device: status.st_dev, node: status.st_ino))
        }
        var keys: [NaturalKey] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                FileName.text(bytes.prefix { $0 != 0 })
            }
            if name.utf8.first != UInt8(ascii: ".") { keys.append(NaturalKey(name)) }
        }
        return keys.sorted()
    }
}

/// A file name that sorts in natural order: `2` before `10`, ignoring case and accents.
///
/// Names that differ only in these or in leading zeros are ordered by their bytes, so that the order is
/// always the same.
struct NaturalKey: Comparable {
    let name: String
    private let folded: FoldedText

    init(_ name: String) {
        self.name = name
        folded = FoldedText(name)
    }

    static func < (left: NaturalKey, right: NaturalKey) -> Bool {
        if left.folded < right.folded { return true }
        if right.folded < left.folded { return false }
        return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
}
