import Glibc
import Media

/// Finds the music below a folder. Blocks; use an instance once, on one thread.
///
/// Counts the audio files that are left out because of their format. Skips hidden files and folders. Also skips playlists: their tracks are in the folder anyway, or were not
/// requested. A folder that is reached by several symbolic links is scanned once.
struct FolderScan {
    private struct Identity: Hashable {
        var device: dev_t
        var node: ino_t
    }

    private let limits: PlaylistLimits
    private var tracks: [Track] = []
    private var problems = PlaylistProblems()
    private var visited: Set<Identity> = []
    /// How many files were left out, by their kind.
    private var leftOut: [AudioKind: Int] = [:]

    init(limits: PlaylistLimits) {
        self.limits = limits
    }

    /// Finds the music below `folder`, at least one file, in natural order, component by component. Throws
    /// `.emptyFolder`, `.notFound` or `.unreadable`.
    consuming func tracks(in folder: String) throws(MediaError) -> ResolvedTracks {
        try scan(folder, depth: 0)
        let subject = SafeText(folder)
        guard !tracks.isEmpty else {
            let cause = leftOutText.map { "no music that Reprise plays (left out " + $0 + ")" }
            throw MediaError(.emptyFolder, subject, cause ?? "no music in this folder")
        }
        let notice = leftOutText.map {
            MediaError(.leftOut, subject, "Left out " + $0 + " – Reprise plays " + AudioKind.played + " only")
        }
        return ResolvedTracks(
            tracks: tracks,
            problems: problems.all(of: subject) + (notice.map { [$0] } ?? [])
        )
    }

    /// `12 files: 9 FLAC, 3 MP4/M4A`, the most frequent kind first; `nil` if no audio was left out.
    ///
    /// Pictures, texts and playlists are not counted, because nobody expects a music player to play them.
    private var leftOutText: SafeText? {
        guard !leftOut.isEmpty else { return nil }
        let kinds = leftOut.sorted { ($1.value, $0.key.name) < ($0.value, $1.key.name) }
        let count = kinds.reduce(0) { $0 + $1.value }
        let list = kinds.map { "\($0.value) \($0.key.name)" }.joined(separator: ", ")
        return SafeText("\(count) \(count == 1 ? "file" : "files"): \(list)")
    }

    private mutating func scan(_ folder: String, depth: Int) throws(MediaError) {
        guard depth < limits.folderDepth else {
            return problems.add(MediaError(.unreadable, SafeText(folder), "folders are nested too deeply"))
        }
        for key in try names(in: folder) {
            let path = PlaylistBase.absolute(key.name, in: folder)
            var status = stat()
            // A dangling link, or a file that was deleted in the meantime.
            guard stat(path, &status) == 0 else { continue }
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
                tracks.append(Track(id: TrackIDs.take(), location: .file(path)))
            case S_IFREG:
                if let kind = AudioKind.byName(key.name) { leftOut[kind, default: 0] += 1 }
            default: continue
            }
        }
    }

    /// The names in `folder` that are not hidden, in natural order.
    private mutating func names(in folder: String) throws(MediaError) -> [NaturalKey] {
        guard let stream = opendir(folder) else { throw LocalFile.failure(errno, folder) }
        defer { closedir(stream) }
        var status = stat()
        if fstat(dirfd(stream), &status) == 0 {
            visited.insert(Identity(device: status.st_dev, node: status.st_ino))
        }
        var keys: [NaturalKey] = []
        var unreadableNames = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name else {
                unreadableNames += 1
                continue
            }
            if name.utf8.first != UInt8(ascii: ".") { keys.append(NaturalKey(name)) }
        }
        if unreadableNames > 0 {
            let cause = SafeText("skipped \(unreadableNames) files whose names are not UTF-8")
            problems.add(MediaError(.unreadable, SafeText(folder), cause))
        }
        return keys.sorted()
    }
}

/// A file name that sorts in natural order: `2` before `10`, ignoring case.
///
/// Digits compare as numbers of any length. Names that differ only in case or leading zeros are ordered by
/// their bytes, so that the order is always the same.
struct NaturalKey: Comparable {
    let name: String
    private let folded: [UInt8]

    init(_ name: String) {
        self.name = name
        folded = Array(name.lowercased().utf8)
    }

    static func < (left: NaturalKey, right: NaturalKey) -> Bool {
        switch order(left.folded, right.folded) {
        case ..<0: true
        case 1...: false
        default: left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
    }

    /// Negative if `left` sorts before `right`, positive if after it, and 0 if they differ only in leading
    /// zeros.
    private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var (i, j) = (0, 0)
        while i < left.count, j < right.count {
            if left[i].decimalDigit != nil, right[j].decimalDigit != nil {
                let (first, second) = (number(in: left, from: &i), number(in: right, from: &j))
                if first.count != second.count { return first.count - second.count }
                if let (a, b) = zip(first, second).first(where: { $0 != $1 }) { return Int(a) - Int(b) }
            } else if left[i] != right[j] {
                return Int(left[i]) - Int(right[j])
            } else {
                i += 1
                j += 1
            }
        }
        return (left.count - i) - (right.count - j)
    }

    /// The digits from `index` on, without leading zeros. Moves `index` past the digits.
    private static func number(in bytes: [UInt8], from index: inout Int) -> ArraySlice<UInt8> {
        let digits = bytes[index...].prefix { $0.decimalDigit != nil }
        index = digits.endIndex
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}
