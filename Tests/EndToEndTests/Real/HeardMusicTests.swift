import Testing

/// What counts as one piece, on recordings that are made up.
@Suite struct HeardMusicTests {
    private static let music: [UInt32] = (1...20_000).map { $0 }
    private static let cut = 10_000

    /// The music up to one place, silence, and the music from another place on.
    private func pieces(upTo end: Int, silence: Int, from start: Int) -> [Range<Int>] {
        let recorded = Self.music[..<end] + Array(repeating: 0, count: silence) + Self.music[start...]
        return HeardMusic(Array(recorded), in: Self.music).pieces(apartAt: [Self.cut..<Self.cut + 1]).map(
            \.music
        )
    }

    @Test(arguments: [(7_000, 7_000), (7_000, 7_900), (10_001, 10_001), (9_999, 10_500)])
    func `silence in the middle of a track is the machine's`(end: Int, start: Int) {
        #expect(pieces(upTo: end, silence: 900, from: start) == [0..<20_000])
    }

    @Test(
        arguments: [
            (10_000, 900, 10_000), (10_000, 1, 10_000), (10_000, 0, 10_010), (7_000, 0, 7_100),
            (7_000, 0, 6_900),
            (7_000, 900, 7_901), (7_000, 900, 6_999), (7_000, 5_000, 12_001),
        ]
    )
    func `silence where tracks meet, and music that is missing or comes twice, is the player's`(
        end: Int,
        silence: Int,
        start: Int
    ) {
        #expect(pieces(upTo: end, silence: silence, from: start) == [0..<end, start..<20_000])
    }

    @Test func `music without a silence is one piece`() {
        #expect(pieces(upTo: 10_000, silence: 0, from: 10_000) == [0..<20_000])
    }
}
