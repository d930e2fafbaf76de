import Glibc
import Media
import System
import TestSupport

@testable import Cache

/// A random session with one cache folder: music is downloaded, sought in, replaced, discarded and evicted.
///
/// Equal seeds make the same calls. Every read is compared with what was written.
struct FireWorkload {
    private struct Open {
        let store: any ByteStore
        let version: FireMusic.Version
        var position: Int64 = 0
    }

    let disk: RecordedDisk
    private(set) var music: FireMusic
    /// The bytes read that differ from those written.
    private(set) var wrongReads: [String] = []
    /// Calls that failed with an error for the listener.
    private(set) var failures = 0
    private var random: SeededGenerator
    private let makeFolder: () -> CacheFolder
    private var folder: CacheFolder
    private var open: [Open] = []

    /// Uses the folder of `scene` for resources that do not all fit in it.
    init(seed: UInt64, in scene: CacheScene, budget: Int64 = 1_200_000, secret: CacheSecret? = nil) {
        random = SeededGenerator(seed: seed)
        music = FireMusic(count: 6, longest: 400_000, using: &random)
        disk = RecordedDisk(root: scene.cache)
        let disk = disk
        makeFolder = { scene.opener(budget: budget, secret: secret, files: disk) }
        folder = makeFolder()
    }

    /// Performs `count` random actions and then closes all open stores.
    mutating func run(steps count: Int) async {
        for _ in 0..<count { await step() }
        while !open.isEmpty { await close(0) }
        // Closing the index puts its log into it, which is an action of its own. Nobody opens the new one.
        folder = makeFolder()
        try? await wait(for: "the index to be closed") { [disk] in disk.openCount == 0 }
    }

    private mutating func step() async {
        let dice = Int.random(in: 0..<100, using: &random)
        let index = open.isEmpty ? 0 : Int.random(in: 0..<open.count, using: &random)
        switch dice {
        case _ where open.isEmpty, 0..<12 where open.count < 3: await openAnother()
        case 0..<45: await download(index)
        case 45..<60: await seek(index)
        case 60..<72: await commit(index)
        case 72..<82: await read(index)
        case 82..<93: await close(index)
        case 93..<96: await replace(index)
        case 96..<97: await discard(index)
        case 97..<98: await verify()
        default: await reopenFolder()
        }
    }

    private mutating func openAnother() async {
        let known = music.names.filter { name in !open.contains { $0.version.name == name } }
        guard let name = known.randomElement(using: &random), let version = music.newest(name) else { return }
        do {
            var store = try await folder.open(url(name))
            let known = store.description.validators.etag
            if known != nil, known != version.etag {
                // An older version, whose replacement once failed.
                await store.close()
                store = try await folder.replace(url(name))
            }
            store.describe(version.description)
            open.append(Open(store: store, version: version))
        } catch { failures += 1 }
    }

    private mutating func download(_ index: Int) async {
        let length = Int64(open[index].version.bytes.count)
        let start = open[index].position
        let end = min(length, start + Int64.random(in: 1...120_000, using: &random))
        guard start < end else { return }
        open[index].position = end
        await write(start..<end, to: index)
    }

    private mutating func seek(_ index: Int) async {
        let length = Int64(open[index].version.bytes.count)
        let start = Int64.random(in: 0..<length, using: &random)
        open[index].position = start
        await write(start..<min(length, start + Int64.random(in: 1...70_000, using: &random)), to: index)
    }

    private mutating func write(_ range: ByteRange, to index: Int) async {
        do {
            try await open[index].store.write(open[index].version.slice(range), at: range.lowerBound)
        } catch { failures += 1 }
    }

    private mutating func commit(_ index: Int) async {
        // Only commits requested here must be durable; automatic commits in between may add more.
        let stored = open[index].store.stored
        do {
            try await open[index].store.commit()
            guard open[index].store.isPersistent else { return }
            for range in stored.ranges {
                disk.note(.promised(etag: open[index].version.etag, bytes: range))
            }
        } catch { failures += 1 }
    }

    private mutating func read(_ index: Int) async {
        let version = open[index].version
        let start = Int64.random(in: 0..<Int64(version.bytes.count), using: &random)
        guard let bytes = try? await open[index].store.read(at: start, count: 50_000) else {
            failures += 1
            return
        }
        if !bytes.matches(version.bytes, at: Int(start)) {
            wrongReads.append("\(version.etag) from \(start) on")
        }
    }

    private mutating func close(_ index: Int) async {
        // From now on it may be evicted.
        disk.note(.released(etag: open[index].version.etag))
        await open[index].store.close()
        open.remove(at: index)
    }

    private mutating func replace(_ index: Int) async {
        let name = open[index].version.name
        disk.note(.released(etag: open[index].version.etag))
        music.change(name, using: &random)
        guard let version = music.newest(name) else { return }
        do {
            let store = try await folder.replace(url(name))
            await open[index].store.close()
            store.describe(version.description)
            open[index] = Open(store: store, version: version)
        } catch { failures += 1 }
    }

    private mutating func discard(_ index: Int) async {
        disk.note(.released(etag: open[index].version.etag))
        await open[index].store.discard()
    }

    private mutating func verify() async {
        do {
            let report = try await folder.verify()
            if !report.isSound { wrongReads.append("verification: \(report)") }
        } catch { failures += 1 }
    }

    /// A second opener of the folder, as the next session has it, while old stores live on.
    private mutating func reopenFolder() async {
        folder = makeFolder()
    }
}
