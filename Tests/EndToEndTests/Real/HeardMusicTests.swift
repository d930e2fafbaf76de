import Testing

/// The division of a recording into pieces, on recordings that are made up.
@Suite struct HeardMusicTests {
    private static let music: [UInt32] = (1...20_000).map { $0 }

    /// The recording has the music up to `end`, silence, and the music from `start` on; tracks meet at
    /// 10,000.
    @Test(
        arguments: [
            (7_000, 900, 7_000, true), (7_000, 900, 7_900, true), (10_001, 900, 10_001, true),
            (9_999, 900, 10_500, true), (10_000, 0, 10_000, true),
            (10_000, 900, 10_000, false), (10_000, 1, 10_000, false), (10_000, 0, 10_010, false),
            (7_000, 0, 7_100, false), (7_000, 0, 6_900, false), (7_000, 900, 7_901, false),
            (7_000, 900, 6_999, false), (7_000, 5_000, 12_001, false),
        ]
    )
    func `silence is the machine's, but where tracks meet, and where music is missing or comes twice`(
        end: Int,
        silence: Int,
        start: Int,
        isOne: Bool
    ) {
        let recorded = Self.music[..<end] + Array(repeating: 0, count: silence) + Self.music[start...]
        let pieces = HeardMusic(Array(recorded), in: Self.music).pieces(apartAt: [10_000..<10_001])
        #expect(pieces.map(\.music) == (isOne ? [0..<20_000] : [0..<end, start..<20_000]))
    }
}
