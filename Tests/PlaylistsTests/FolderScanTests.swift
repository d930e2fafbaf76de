import Media
import TestSupport
import Testing

@testable import Playlists

@Suite
struct FolderScanTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] {
        try FolderScan(limits: PlaylistLimits()).tracks(in: folder.path).places
            .map { String($0.dropFirst(folder.path.count + 1)) }
    }

    @Test func `music is found at every depth, in natural order, part by part`() throws {
        let sorted = [
            "1.mp3", "2/1.mp3", "2/b.MP2", "02b.mp3", "10.mp3", "a1.mp3", "A2.mp3", "a10.mpga", "b/c/d/e.mp3",
            "Z.mp3", "z2.WAV", "z3.aiff",
        ]
        let others = ["list.m3u", ".hidden.mp3", ".git/a.mp3", "cover.jpg", "mp3", "b/notes.txt"]
        for name in sorted.shuffled() + others { try folder.write(name) }
        #expect(try names() == sorted)
    }

    @Test func `loops of symbolic links end, and each folder counts once`() throws {
        for name in ["a/1.mp3", "b/2.mp3"] { try folder.write(name) }
        for (name, target) in [
            ("a/up", ".."), ("b/self", "."), ("c", "a"), ("dangling.mp3", "nowhere"),
            ("linked.mp3", "b/2.mp3"),
        ] { try folder.link(name, to: target) }
        #expect(try names() == ["a/1.mp3", "b/2.mp3", "linked.mp3"])
    }

    @Test func `a scan that is stopped returns what it has found`() throws {
        for name in ["1.mp3", "2/1.mp3", "3.mp3", "4/1.mp3"] { try folder.write(name) }
        var count = 0
        let scan = FolderScan(limits: PlaylistLimits()) {
            count += 1
            return count > 4
        }
        #expect(try scan.tracks(in: folder.path).places.count == 3)
    }

    @Test func `a folder without music is refused`() throws {
        try folder.write("a/cover.jpg")
        #expect { try names() } throws: { ($0 as? MediaError)?.code == .emptyFolder }
    }

    @Test func `files of other formats are left out, and one notice counts them`() throws {
        for name in [
            "1.mp3", "a/1.WV", "a/2.wv", "a/b/3.wv", "x.caf", "y.ogg", "z.caf", ".hidden.wv",
        ] {
            try folder.write(name)
        }
        for name in ["cover.jpg", "notes.txt", "list.m3u", "wv"] { try folder.write(name) }
        let found = try FolderScan(limits: PlaylistLimits()).tracks(in: folder.path)
        #expect(found.places == [folder.path + "/1.mp3", folder.path + "/y.ogg"])
        #expect(found.problems.map(\.code) == [.leftOut])
        #expect(
            found.problems.first?.cause
                == AudioKind.refusal(of: "Left out 5 files: 3 WavPack, 2 CAF")
        )
    }

    @Test func `a folder of other formats only says so`() throws {
        try folder.write("a/1.wv")
        #expect {
            try names()
        } throws: { error in
            (error as? MediaError)?.code == .emptyFolder
                && (error as? MediaError)?.cause == "no music that Reprise plays (left out 1 file: 1 WavPack)"
        }
    }

    @Test func `folders that are nested too deep are reported, and the others are scanned`() throws {
        try folder.write("a/b/c/d/deep.mp3")
        try folder.write("z.mp3")
        var limits = PlaylistLimits()
        limits.folderDepth = 3
        let found = try FolderScan(limits: limits).tracks(in: folder.path)
        #expect(found.places == [folder.path + "/z.mp3"])
        #expect(found.problems.map(\.code) == [.unreadable])
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `the natural order is a total order`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = ["0", "1", "9", "10", "00", "a", "A", "é", "-", "999999999999999999999999"]
        let keys = (0..<3).map { _ in
            NaturalKey(
                (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in
                    pieces.randomElement(using: &random)
                }.joined()
            )
        }
        let a = keys[0]
        let b = keys[1]
        let c = keys[2]
        #expect((a.name == b.name) == (!(a < b) && !(b < a)))
        #expect(!(a < b && b < a))
        #expect(!(a < b && b < c) || a < c)
    }

    @Test(arguments: [
        ("2", "10"), ("a2b", "A10a"), ("01", "1"), ("x", "x1"),
        ("99999999999999999999", "100000000000000000000"),
    ])
    func `the first of two names sorts before the second`(first: String, second: String) {
        #expect(NaturalKey(first) < NaturalKey(second) && NaturalKey(first) != NaturalKey(second))
    }
}
