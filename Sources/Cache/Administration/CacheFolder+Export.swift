import Glibc
package import Media
import System

extension CacheFolder {
    /// Writes what is kept of `url` to an open, seekable file, each byte at its own offset from the file's
    /// start, and gives the file the resource's length where that is known; nil when there is no entry.
    ///
    /// Every byte is checked; a damaged extent becomes a gap. Does not count as playing it. Throws
    /// `.unreadable` when the file cannot be written, `CancellationError` when the task is cancelled.
    package func export(_ url: WebURL, into descriptor: CInt) async throws -> CacheExport? {
        let engine = engine
        let key = engine.key(of: url)
        let opening = try await engine.committer.run { () -> CacheEngine.Reading? in
            guard IndexReading.isFolder(engine.settings.path) else { return nil }
            return try engine.openToRead { try $0.entry(key: key) }
        }
        guard let opening else { return nil }
        var written = ByteRangeSet()
        for extent in opening.extents {
            try Task.checkCancellation()
            let bytes = await engine.io.run { engine.bytes(of: extent, in: opening) }
            guard let bytes else {
                _ = await engine.committer.run { engine.drop([extent], of: opening.row.entry) }
                continue
            }
            try await engine.io.run {
                do {
                    try SystemFiles().write(bytes[...], to: descriptor, at: extent.range.lowerBound)
                } catch {
                    throw MediaError(.unreadable, "exported file", SafeText("\(error)"))
                }
            }
            written.insert(contentsOf: extent.range)
        }
        let length = opening.row.description.length
        let end = max(length ?? 0, written.ranges.last?.upperBound ?? 0)
        guard ftruncate(descriptor, off_t(end)) == 0 else {
            throw MediaError(.unreadable, "exported file", SafeText("\(SystemError("set its length"))"))
        }
        return CacheExport(
            length: length,
            writtenBytes: written.byteCount,
            gaps: end > 0 ? written.gaps(in: 0..<end) : []
        )
    }
}

extension CacheEngine {
    /// An entry that is read beside those who play it; it stays in use as long as this lives.
    struct Reading: Sendable {
        let row: EntryRow
        let file: ObjectFile
        /// In order.
        let extents: [Extent]
    }

    /// Opens the entry of the row that `find` finds without saying that it is played, also in a folder that takes
    /// nothing; nil when there is none, or its file is gone. Committing thread only.
    func openToRead(_ find: (CacheIndex) throws -> EntryRow?) throws(MediaError) -> Reading? {
        do {
            return try performOrFail { folder in
                try find(folder.index).flatMap { try openToRead($0, in: folder) }
            }
        } catch {
            let reading = try? unwritableFolder(after: error).map { folder -> Reading? in
                guard let row = try find(folder.index) else { return nil }
                let file = try folder.object(row.entry, files: settings.files)
                return Reading(row: row, file: file, extents: try folder.index.extents(of: row.entry))
            }
            guard let reading else { throw notKept(error) }
            return reading ?? nil
        }
    }

    /// Opens the entry of a row without saying that it is played; nil when its file is gone. The lock must
    /// be held.
    func openToRead(_ row: EntryRow, in folder: OpenedFolder) throws -> Reading? {
        guard let file = try folder.objects.openExisting(row.entry) else { return nil }
        return Reading(row: row, file: file, extents: try folder.index.extents(of: row.entry))
    }

    /// The bytes of an extent; nil when they are not those that were committed. Any thread.
    func bytes(of extent: Extent, in reading: Reading) -> [UInt8]? {
        let stored = (try? reading.file.read(extent.range)) ?? []
        return protection.bytes(of: extent, from: stored, of: reading.row.entry)
    }
}
