import Media
import TestSupport
import Testing

@testable import Decoding

/// Pages whose flags are wrong, and heads with pages that do not belong there, play like those of the
/// encoders.
@Suite struct OggFlagTests {
    private func pcm(_ made: MadeOgg) async throws -> [UInt8] {
        let source = MemorySource(made.bytes, isStored: true)
        return try await decodeBytes(OggDecoder(ProbedStream(source: source, subject: "song")))
    }

    private static let flac = MadeFLAC.byFlac(["--ogg", "--serial-number=7"])
    private static let words = ["--comment", "ARTIST=The artist", "--comment", "TITLE=The title"]

    private static let packets: [MadeOgg] = [
        .vorbis, MadeOgg(.opus, ["--bitrate", "192"], seconds: 4), .flac,
        MadeOgg(.vorbis, ["-q", "8"], seconds: 3, rate: 48_000, channels: 1),
        MadeOgg(.opus, ["--bitrate", "256", "--framesize", "60"], seconds: 3, rate: 48_000, channels: 6),
        MadeOgg("FLAC with long blocks", .flac, flac.bytes),
    ]

    @Test(arguments: packets)
    func `a packet goes on with the next page, also if that lacks the flag`(made: MadeOgg) async throws {
        let whole = try await pcm(made)
        #expect(!whole.isEmpty)
        // Each page that begins with a long packet is divided within it.
        var count = 0
        let divided = made.repaged("divided without flags") { pages in
            pages.enumerated().flatMap { number, page -> [MadeOgg.Page] in
                var rest = page
                rest.flags &= ~1
                guard number > 2, page.lacing.count < 250, page.lacing.first == 255 else { return [rest] }
                count += 1
                rest.lacing.removeFirst()
                rest.body.removeFirst(255)
                return [
                    MadeOgg.Page(
                        flags: page.flags & 3,
                        granule: -1,
                        lacing: [255],
                        body: Array(page.body[..<255])
                    ), rest,
                ]
            }
        }
        #expect(count > 0 || made.pages.contains { $0.page.isContinued })
        expectSame(try await pcm(divided), whole)
    }

    /// The block of comments as the last one, without the flag that states it; the frames begin with the next
    /// page.
    private static func withoutFlag(_ made: MadeOgg) -> MadeOgg {
        made.repaged("without the flag of the last block") { pages in
            pages.map { page in
                var page = page
                if page.granule == 0, page.flags & 2 == 0 { page.body[0] &= 0x7F }
                return page
            }
        }
    }

    private static func flac(_ words: [String], _ wave: MadeWave) -> MadeOgg {
        let made = MadeFLAC.byFlac(["--ogg", "--serial-number=7", "--no-padding"] + words, wave)
        return withoutFlag(MadeOgg("\(wave)", .flac, made.bytes))
    }

    private static let unflagged: [MadeOgg] = [
        withoutFlag(.flac), flac([], MadeFLAC.quiet),
        flac(["--blocksize=192"], MadeWave(channels: 1, rate: 16_000, frames: 40_000, loudness: 0.1)),
        flac([], MadeWave(samples: .s24, rate: 96_000, frames: 96_000, loudness: 0.5)),
        flac(["--blocksize=16384"], MadeWave(samples: .s24, rate: 96_000, frames: 150_000, loudness: 0.9)),
        flac(["-T", "TITLE=" + String(repeating: "long ", count: 200)], MadeFLAC.quiet),
    ]

    @Test(arguments: unflagged)
    func `FLAC without a flag at its last block plays from the first frame on`(made: MadeOgg) async throws {
        let flagged = made.repaged("with the flag") { pages in
            var pages = pages
            let last = pages.lastIndex { $0.granule == 0 } ?? 0
            if last > 0 { pages[last].body[0] |= 0x80 }
            return pages
        }
        let whole = try await pcm(flagged)
        #expect(!whole.isEmpty)
        expectSame(try await pcm(made), whole)
    }

    /// What a page is put behind which page of the head.
    enum Extra: String, CaseIterable {
        case emptyBehindFirst, emptyBehindComments, twiceFirst, twiceComments, emptyPacket, twiceBoth
    }

    @Test(arguments: [MadeOgg.opus, .vorbis, .flac], Extra.allCases)
    func `pages that are empty or come twice in the head are no header and no music`(
        made: MadeOgg,
        extra: Extra
    ) async throws {
        let whole = try await pcm(made)
        let changed = made.repaged(extra.rawValue) { pages in
            let empty = MadeOgg.Page(flags: 0, granule: 0, lacing: [], body: [])
            var first = pages[0]
            first.flags = 0
            let added: [MadeOgg.Page] =
                switch extra {
                case .emptyBehindFirst, .emptyBehindComments: [empty]
                case .twiceFirst: [first]
                case .twiceComments: [pages[1]]
                case .emptyPacket: [MadeOgg.Page(flags: 0, granule: 0, lacing: [0], body: [])]
                case .twiceBoth: [first, pages[1], empty]
                }
            let place = extra == .emptyBehindFirst || extra == .twiceFirst || extra == .emptyPacket ? 1 : 2
            // Vorbis may have its third header on the page of the second, and FLAC several blocks on one
            // page.
            return Array(pages[..<place] + added + pages[place...])
        }
        expectSame(try await pcm(changed), whole)
    }

    @Test(arguments: [200_000, 300_000, 3_000_000])
    func `tags in front of pictures of any size, and behind them, are found`(size: Int) async throws {
        let picture = "METADATA_BLOCK_PICTURE=" + String(repeating: "A", count: size)
        let list = vorbisComments(["TITLE=One", picture, "ARTIST=Two", "", picture, "ALBUM=Three"])
        let made = MadeOgg.opus.repaged("with pictures of \(size)") { pages in
            pages[..<1] + MadeOgg.Page.pages(of: OpusHead.commentMark + list) + pages[2...]
        }
        let decoder = OggDecoder(ProbedStream(source: MemorySource(made.bytes), subject: "song"))
        try await decoder.open()
        #expect(decoder.info.tags == TrackTags(title: "One", artist: "Two", album: "Three"))
        #expect(decoder.chain.current.memory < 2_000)
        expectSame(try await decodeBytes(decoder), try await pcm(.opus))
    }

    @Test func `Opus without comments plays from its first page of music on`() async throws {
        let whole = try await pcm(.opus)
        let bare = MadeOgg.opus.repaged("without comments") { Array([$0[0]] + $0[2...]) }
        expectSame(try await pcm(bare), whole)
    }
}
