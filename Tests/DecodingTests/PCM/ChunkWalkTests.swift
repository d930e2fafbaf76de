import Media
import TestSupport
import Testing

@testable import Decoding

@Suite struct ChunkWalkTests {
    /// The chunks of `file`; fails if more bytes are read than `most`.
    private func chunks(_ file: [UInt8], _ contents: [String: Int] = [:], most: Int = 4_096) -> [Chunk] {
        var walk = ChunkWalk(at: 0, contents: contents)
        var chunks: [Chunk] = []
        var readCount = 0
        while let range = walk.wanted {
            let part = range.clamped(to: 0..<Int64(file.count))
            readCount += part.count
            if let chunk = walk.took(file[Int(part.lowerBound)..<Int(part.upperBound)]) {
                chunks.append(chunk)
            }
        }
        #expect(readCount <= most)
        return chunks
    }

    @Test func `chunks follow each other, and one of odd length is padded`() {
        let file =
            Array("RIFF----WAVE".utf8) + chunk("odd ", [1, 2, 3]) + chunk("none", []) + chunk("last", [4, 5])
        let found = chunks(file, ["odd ": 2, "last": 9])
        #expect(found.map(\.name) == ["odd ", "none", "last"])
        #expect(found.map(\.content) == [20..<23, 32..<32, 40..<42])
        #expect(found.map(\.bytes) == [[1, 2], [], [4, 5]])
    }

    @Test func `a chunk that states 2 GB is passed over`() {
        let file = Array("RIFF----WAVE".utf8) + chunk("JUNK", [1, 2, 3, 4], size: 0x7FFF_FFFF)
        let found = chunks(file)
        #expect(found.map(\.content) == [20..<20 + 0x7FFF_FFFF])
    }

    @Test func `a chunk without an end is the last`() {
        let file = Array("RIFF----WAVE".utf8) + chunk("data", [1, 2, 3, 4], size: .max) + chunk("more", [])
        #expect(chunks(file).map(\.content) == [20..<ChunkWalk.farthest])
    }

    @Test func `RF64 states larger sizes in a chunk of its own`() {
        let sizes = little(9 << 32, 8) + little(5 << 32, 8) + little(0, 8) + little(1, 4) + Array("huge".utf8)
        let file =
            Array("RF64----WAVE".utf8) + chunk("ds64", sizes + little(6 << 32, 8))
            + chunk("data", [], size: .max)
        #expect(chunks(file).last.map { $0.content.upperBound - 68 } == 21_474_836_480)
        let other =
            Array("RF64----WAVE".utf8) + chunk("ds64", sizes + little(6 << 32, 8))
            + chunk("huge", [], size: .max)
        #expect(chunks(other).last.map { $0.content.upperBound - 68 } == 25_769_803_776)
    }

    @Test func `IFF has the most significant bytes first`() {
        let file = Array("FORM----AIFF".utf8) + Array("COMM".utf8) + [0, 0, 1, 2] + [7, 8]
        var walk = ChunkWalk(at: 0, contents: ["COMM": 2])
        var found: Chunk?
        while let range = walk.wanted, found == nil {
            found = walk.took(file[Int(range.lowerBound)..<min(Int(range.upperBound), file.count)])
        }
        #expect(found?.content == 20..<20 + 0x102 && found?.bytes == [7, 8] && walk.type == "AIFF")
    }

    @Test func `a file of nothing but empty chunks ends the walk`() {
        let file = Array("RIFF----WAVE".utf8) + (0..<5_000).flatMap { _ in chunk("none", []) }
        #expect(chunks(file, most: 5_000).count == ChunkWalk.mostChunks)
    }

    /// 200,000 inputs in all, 2,000 in the subset.
    @Test(arguments: TestCount.seeds(2, full: 200))
    func `damaged chunks trap nowhere and cost a bounded number of reads`(block: UInt64) {
        var base = MadeWave()
        base.frames = 200
        base.before =
            informationList([("INAM", "Title"), ("IART", "Artist")])
            + chunk("ds64", Array(repeating: 9, count: 40))
        base.after = chunk("id3 ", id3Tag(version: 4, id3Frame("TIT2", [3] + Array("Other".utf8))))
        let files = [
            base.bytes,
            {
                var wave = base; wave.header = .extensible(mask: 3); wave.mark = "RF64"; return wave.bytes
            }(),
        ]
        for seed in block * 1_000..<(block + 1) * 1_000 {
            var mutator = Mutator(seed: seed)
            let file = mutator.damaged(files[Int(seed % 2)], favouring: [4, 16, 20, 60, 100, 130, 160])
            var walk = ChunkWalk(at: Int64(mutator.number(0...9)), contents: PCMHead.contents)
            var head = PCMHead(length: seed % 3 == 0 ? nil : Int64(file.count))
            var reads = 0
            while let range = walk.wanted {
                reads += 1
                #expect(range.count <= 65_536 && reads <= 2 * ChunkWalk.mostChunks + 1, "seed \(seed)")
                let part = range.clamped(to: 0..<Int64(file.count))
                let chunk = walk.took(file[Int(part.lowerBound)..<Int(part.upperBound)])
                if let chunk { try? head.receive(chunk) }
                if let music = head.music(inLength: Int64(file.count)), let layout = head.layout {
                    #expect(music.count % layout.bytesPerFrame == 0 && music.lowerBound >= 0, "seed \(seed)")
                }
                if reads > 2 * ChunkWalk.mostChunks + 1 { break }
            }
        }
    }
}
