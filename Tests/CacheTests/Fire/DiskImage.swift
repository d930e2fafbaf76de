import Foundation
import Media
import TestSupport

/// The content of a disk at one moment of a log: after a kill, or after a power cut.
struct DiskImage {
    /// The kind of interruption, which determines what is lost.
    enum Loss: Sendable {
        /// The process was killed: all written bytes are there.
        case nothing
        /// The power failed: each write that was not flushed is there, lost or torn at sectors of 512 bytes;
        /// names that were not flushed may be missing, and removed ones may be back.
        case unflushed(seed: UInt64)
    }

    private struct File {
        var name: String
        var bytes: [UInt8] = []
    }

    private var files: [File] = []

    /// The disk after the first `count` operations of `log`.
    init(_ log: [DiskOperation], upTo count: Int, losing loss: Loss) {
        let log = log.prefix(count)
        guard case .unflushed(let seed) = loss else {
            replay(log) { _ in .whole }
            return
        }
        var random = SeededGenerator(seed: seed)
        let durable = Self.durable(log)
        // Some cuts lose everything that may be lost, some nearly nothing: both are the worst for something.
        let keeping = [0, 10, 50, 90].randomElement(using: &random) ?? 0
        replay(log) { index in
            if durable.contains(index) { return .whole }
            let dice = Int.random(in: 0..<100, using: &random)
            if dice < keeping { return .whole }
            return dice % 3 == 0 ? .torn(random.next()) : .lost
        }
    }

    /// Writes the files into `folder`, which is created with `objects` in it.
    func lay(into folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder + "/objects",
            withIntermediateDirectories: true
        )
        for file in files { try Data(file.bytes).write(to: URL(fileURLWithPath: folder + "/" + file.name)) }
    }

    private enum Fate {
        case whole
        case lost
        /// Some of its sectors, by this seed.
        case torn(UInt64)
    }

    /// Carries out `log`; `fate` says of an operation, by its place, what became of it.
    private mutating func replay(_ log: ArraySlice<DiskOperation>, fate: (Int) -> Fate) {
        var live: [Int: File] = [:]
        for (index, operation) in log.enumerated() {
            switch operation {
            case .made(let file, let name):
                live[file] = File(name: name)
                // Its name, not its bytes: a file without one is out of reach.
                if case .whole = fate(index) {} else { live[file]?.name = "" }
            case .write(let file, let offset, let bytes):
                switch fate(index) {
                case .whole: live[file]?.bytes.put(bytes, at: Int(offset))
                case .lost: break
                case .torn(let seed): live[file]?.bytes.put(sectorsOf: bytes, at: Int(offset), seed: seed)
                }
            case .truncate(let file, let length):
                if case .whole = fate(index) { live[file]?.bytes.cut(to: Int(length)) }
            case .removed(let file):
                if case .whole = fate(index) { live[file] = nil }
            case .flushBegan, .flushEnded, .namesFlushBegan, .promised, .released: break
            }
        }
        // A removed name that came back gives way to a newer file of that name.
        var byName: [String: File] = [:]
        for (_, file) in live.sorted(by: { $0.key < $1.key }) where !file.name.isEmpty {
            byName[file.name] = file
        }
        files = Array(byName.values)
    }

    /// The places in `log` of what no power cut can undo.
    private static func durable(_ log: ArraySlice<DiskOperation>) -> Set<Int> {
        var ended = Set<Int>()
        for case .flushEnded(let flush) in log { ended.insert(flush) }
        var durable = Set<Int>()
        var pendingBytes: [Int: [Int]] = [:]
        var pendingNames: [String: [Int]] = [:]
        var folders: [Int: String] = [:]
        for (index, operation) in log.enumerated() {
            switch operation {
            case .made(let file, let name):
                folders[file] = name.hasPrefix("objects/") ? "objects" : ""
                pendingNames[folders[file] ?? "", default: []].append(index)
            case .removed(let file): pendingNames[folders[file] ?? "", default: []].append(index)
            case .write(let file, _, _), .truncate(let file, _):
                pendingBytes[file, default: []].append(index)
            case .flushBegan(let flush, let file):
                guard ended.contains(flush) else { break }
                durable.formUnion(pendingBytes.removeValue(forKey: file) ?? [])
            case .namesFlushBegan(let flush, let folder):
                guard ended.contains(flush) else { break }
                durable.formUnion(pendingNames.removeValue(forKey: folder) ?? [])
            case .flushEnded, .promised, .released: break
            }
        }
        return durable
    }
}

extension [UInt8] {
    fileprivate mutating func cut(to length: Int) {
        if length < count { removeSubrange(length...) } else { grow(to: length) }
    }

    fileprivate mutating func grow(to length: Int) {
        if length > count { self += [UInt8](repeating: 0, count: length - count) }
    }

    fileprivate mutating func put(_ bytes: [UInt8], at offset: Int) {
        grow(to: offset + bytes.count)
        replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    /// Writes some of the sectors; a file can also have grown without the bytes that were appended.
    fileprivate mutating func put(sectorsOf bytes: [UInt8], at offset: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        if Bool.random(using: &random) { grow(to: offset + bytes.count) }
        var start = 0
        while start < bytes.count {
            let end = Swift.min(bytes.count, ((offset + start) / 512 + 1) * 512 - offset)
            if Bool.random(using: &random) { put(Array(bytes[start..<end]), at: offset + start) }
            start = end
        }
    }
}
