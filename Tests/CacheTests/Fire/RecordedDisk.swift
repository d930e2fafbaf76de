import Foundation
import Media
import System

@testable import Cache

/// The real disk under one cache folder, index included, with a log of all that is done to it.
///
/// Objects come through the file layer, the index's files through `RecordingVFS`. On demand, writes and
/// flushes fail from one of them on, as on a disk that is full.
final class RecordedDisk: FileLayer {
    /// Where the disk fails.
    struct Fullness: Sendable {
        /// The first write or flush that fails, counted from 0.
        var first: Int
        /// The number of failures; later operations succeed again.
        var count: Int
    }

    private struct State {
        var log: [DiskOperation] = []
        var files: [String: Int] = [:]
        var fileCount = 0
        var flushCount = 0
        var fallibleCount = 0
        var fullness: Fullness?
        var failureCount = 0
        var openCount = 0
    }

    /// The cache folder, without symlinks.
    let root: String
    private let system = SystemFiles()
    private let state = Locked(State())

    /// Watches the cache folder `root`, from before its first use until `stop`.
    init(root: String) {
        self.root = root
        RecordingVFS.watch(root, by: self)
    }

    /// Ends the watching of the index; whatever is still open is watched on.
    func stop() { RecordingVFS.unwatch(root) }

    var log: [DiskOperation] { state.withLock { $0.log } }

    /// How many writes and flushes there were.
    var fallibleCount: Int { state.withLock { $0.fallibleCount } }

    /// How many flushes there were, those of folders included.
    var flushCount: Int { state.withLock { $0.flushCount } }

    /// How many of them failed.
    var failureCount: Int { state.withLock { $0.failureCount } }

    /// How many files of the index are open.
    var openCount: Int { state.withLock { $0.openCount } }

    func noteOpening(by change: Int) { state.withLock { $0.openCount += change } }

    func fail(_ fullness: Fullness?) { state.withLock { $0.fullness = fullness } }

    func note(_ operation: DiskOperation) { state.withLock { $0.log.append(operation) } }

    // MARK: Objects

    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
        if isFailing() {
            // A full disk takes what there is room for first.
            let half = bytes.prefix(bytes.count / 2)
            try system.write(half, to: descriptor, at: offset)
            noteWrite(Array(half), to: Self.path(of: descriptor), at: offset)
            throw SystemError("keep bytes", number: ENOSPC)
        }
        try system.write(bytes, to: descriptor, at: offset)
        noteWrite(Array(bytes), to: Self.path(of: descriptor), at: offset)
    }

    func flush(_ descriptor: CInt) throws {
        if isFailing() { throw SystemError("flush kept bytes", number: ENOSPC) }
        let end = noteFlush(of: Self.path(of: descriptor))
        try system.flush(descriptor)
        end()
    }

    func punch(_ range: ByteRange, of descriptor: CInt) throws {
        try system.punch(range, of: descriptor)
        let path = Self.path(of: descriptor)
        noteWrite([UInt8](repeating: 0, count: range.count), to: path, at: range.lowerBound)
    }

    func record(_ transaction: () throws -> Void) throws { try system.record(transaction) }

    // MARK: What both sides note

    /// Counts one more write or flush; returns `true` if it must fail.
    func isFailing() -> Bool {
        state.withLock { state in
            defer { state.fallibleCount += 1 }
            guard let fullness = state.fullness else { return false }
            let isFailing = (0..<fullness.count).contains(state.fallibleCount - fullness.first)
            if isFailing { state.failureCount += 1 }
            return isFailing
        }
    }

    func noteWrite(_ bytes: [UInt8], to path: String, at offset: Int64) {
        state.withLock { state in
            guard let file = number(of: path, in: &state) else { return }
            state.log.append(.write(file: file, offset: offset, bytes: bytes))
        }
    }

    func noteTruncation(of path: String, to length: Int64) {
        state.withLock { state in
            guard let file = number(of: path, in: &state) else { return }
            state.log.append(.truncate(file: file, length: length))
        }
    }

    /// Records the start of a flush; the returned closure records its end.
    func noteFlush(of path: String) -> () -> Void {
        let flush: Int? = state.withLock { state in
            let flush = state.flushCount
            state.flushCount += 1
            if path == root || path == root + "/objects" {
                let folder = path == root ? "" : "objects"
                // Files are made past the file layer, and their names may be flushed before their first byte.
                let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
                for name in names where folder == "objects" { _ = number(of: path + "/" + name, in: &state) }
                state.log.append(.namesFlushBegan(flush: flush, folder: folder))
            } else {
                guard let file = number(of: path, in: &state) else { return nil }
                state.log.append(.flushBegan(flush: flush, file: file))
            }
            return flush
        }
        return { if let flush { self.note(.flushEnded(flush: flush)) } }
    }

    func noteRemoval(of path: String) {
        state.withLock { state in
            if let file = state.files.removeValue(forKey: path) { state.log.append(.removed(file: file)) }
        }
    }

    /// The number of the file at `path`, new where it is; nil for one without a name any more.
    private func number(of path: String, in state: inout State) -> Int? {
        // The cache removes objects without the file layer: files that are missing now were removed before
        // this step.
        for (known, file) in state.files where access(known, F_OK) != 0 {
            state.files[known] = nil
            state.log.append(.removed(file: file))
        }
        if let file = state.files[path] { return file }
        guard path.hasPrefix(root + "/"), access(path, F_OK) == 0 else { return nil }
        let file = state.fileCount
        state.fileCount += 1
        state.files[path] = file
        state.log.append(.made(file: file, name: String(path.dropFirst(root.count + 1))))
        return file
    }

    private static func path(of descriptor: CInt) -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink("/proc/self/fd/\(descriptor)", $0, bytes.count) } ?? 0
        }
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
