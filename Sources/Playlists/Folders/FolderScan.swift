import Glibc
import Media

/// Finds the music below a folder. Blocks; one use, on one thread.
///
/// Hidden files and folders are passed over, and so are playlists: what they name is in
/// the folder anyway, or was not asked for. A folder that several symbolic links lead to counts once.
struct FolderScan {
    struct Found: Sendable, Equatable {
        /// Absolute, in natural order, component by component.
        var paths: [String]
        var problems: [MediaError]
    }

    private struct Identity: Hashable {
        var device: dev_t
        var node: ino_t
    }

    private let limits: PlaylistLimits
    private var paths: [String] = []
    private var problems = PlaylistProblems()
    private var visited: Set<Identity> = []

    init(limits: PlaylistLimits) {
        self.limits = limits
    }

    /// The music below `folder`, at least one file; throws `.emptyFolder`, `.notFound` or `.unreadable`.
    consuming func files(in folder: String) throws(MediaError) -> Found {
        try scan(folder, depth: 0)
        let subject = SafeText(folder)
        guard !paths.isEmpty else {
            throw MediaError(.emptyFolder, subject, "there is no music in this folder")
        }
        return Found(paths: paths, problems: problems.all(of: subject))
    }

    private mutating func scan(_ folder: String, depth: Int) throws(MediaError) {
        guard depth < limits.folderDepth else {
            return problems.add(MediaError(.unreadable, SafeText(folder), "folders are nested too deep"))
        }
        for key in try names(in: folder) {
            let path = PlaylistBase.absolute(key.name, in: folder)
            var status = stat()
            // A dangling link, or a file that went away meanwhile.
            guard stat(path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                guard visited.insert(Identity(device: status.st_dev, node: status.st_ino)).inserted else {
                    continue
                }
                do throws(MediaError) { try scan(path, depth: depth + 1) } catch { problems.add(error) }
            case S_IFREG where LocalFile.hasMusicExtension(key.name):
                guard paths.count < limits.entries else {
                    let cause = SafeText("more than \(limits.entries) files are too many")
                    return problems.add(MediaError(.unreadable, SafeText(path), cause))
                }
                paths.append(path)
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
            let cause = SafeText("\(unreadableNames) names in this folder are not UTF-8 and were passed over")
            problems.add(MediaError(.unreadable, SafeText(folder), cause))
        }
        return keys.sorted()
    }
}
