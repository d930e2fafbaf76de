import TestSupport
import Testing

/// What the ears of these tests take for a fault of the player, and what for one of a busy machine.
@Suite struct HeardMusicTests {
    private let music: RealMusic

    init() {
        var random = SeededGenerator(seed: 1)
        music = RealMusic(frames: (0..<30_000).map { _ in random.next() | 1 }, joins: [12_000])
    }

    private func hear(_ recorded: [UInt32]) { expectWhole(HeardMusic(recorded, in: music.frames), of: music) }

    @Test func `all of it in one piece is whole, and so it is with a break between two joins`() {
        hear(music.frames)
        hear(music.frames[..<20_000] + [0, 0, 0] + music.frames[20_100...])
    }

    @Test(arguments: [(12_000, 12_000, 1), (12_000, 12_001, 0), (11_999, 12_000, 0), (12_000, 11_990, 0)])
    func `a frame that is silent, lost or doubled at a join is a fault`(end: Int, start: Int, silence: Int) {
        withKnownIssue {
            hear(music.frames[..<end] + Array(repeating: 0, count: silence) + music.frames[start...])
        }
    }

    @Test(arguments: [0..<25_000, 5_000..<30_000])
    func `music that begins late or ends early is a fault`(heard: Range<Int>) {
        withKnownIssue { hear(Array(music.frames[heard])) }
    }
}
