import Foundation
import TestSupport
import Testing

/// Music for ears that know it sample by sample.
struct RealMusic: Sendable {
    /// Frames of two 16-bit samples from the reference decoder.
    var frames: [UInt32]

    static let sampleRate = 44_100

    /// The output of the reference decoder for these files, one after the other.
    init(of paths: [String]) async throws {
        frames = []
        for path in paths {
            frames += Self.frames(PCM.samples(try await MP3Fixtures.referencePCM(of: path)))
        }
    }

    /// Interleaved samples as frames.
    static func frames(_ samples: [Int16]) -> [UInt32] {
        samples.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
    }

    /// Where three pieces of one wave meet: neither on a second nor on a frame of MPEG, so that whatever is
    /// lost at a boundary shows.
    static let cuts = [2 * 44_100 + 10_007, 4 * 44_100 + 30_011]

    /// Cuts a tone of six seconds into MP3s of one wave; returns their paths.
    static func pieces(in folder: String) async throws -> [String] {
        let tone = try await RealMusic(of: [MP3Fixtures.file(.init(seconds: 6))]).frames
        var paths: [String] = []
        for (start, end) in zip([0] + cuts, cuts + [tone.count]) {
            let path = folder + "/piece-\(paths.count + 1).mp3"
            let bytes = tone[start..<end].withUnsafeBytes { Array($0) }
            let wave =
                WaveFile.header(sampleCount: bytes.count / 2, sampleRate: sampleRate, channels: 2) + bytes
            let wavePath = path + ".wav"
            try Data(wave).write(to: URL(fileURLWithPath: wavePath))
            _ = try await RunningProcess.run(
                "lame",
                ["--quiet", "--noreplaygain", "--cbr", "-b", "128", wavePath, path]
            )
            try FileManager.default.removeItem(atPath: wavePath)
            paths.append(path)
        }
        return paths
    }
}

/// One uninterrupted piece of music in the recording.
struct HeardPiece: Sendable, Equatable {
    /// The frames of the music.
    var music: Range<Int>
    /// Where it stands in the recording.
    var recorded: Range<Int>
}

/// The recorded sound, located in the music.
///
/// Silence between the pieces is left out. Pieces shorter than `shortest` are too: where a stream sets
/// in or is cut off the sink takes back what its monitor has given away already.
struct HeardMusic {
    static let shortest = 2_000
    /// The frames that a recording can lack, or have twice, where a stream sets in or is cut off: the
    /// 20 ms that the monitor is ahead, and some more on a busy machine.
    static let looseFrames = 4_410
    private static let sampleCount = 48
    /// One of so many places of the music is indexed, since a debug build would take seconds for all of them.
    private static let step = 16

    let pieces: [HeardPiece]
    /// Frames that are neither silence nor in a piece of the music.
    let strangeCount: Int

    init(_ recorded: [UInt32], in music: [UInt32]) {
        let places = Self.places(music)
        var pieces: [HeardPiece] = []
        var strange = 0
        var index = 0
        while index + Self.sampleCount <= recorded.count {
            guard recorded[index] != 0 else {
                index += 1
                continue
            }
            let start = places[Self.key(recorded, index)]?.first {
                music[$0..<$0 + Self.sampleCount]
                    .elementsEqual(recorded[index..<index + Self.sampleCount])
            }
            guard let start else {
                strange += 1
                index += 1
                continue
            }
            // Only some places are known, so the piece may begin before this one.
            let most = min(Self.step - 1, start, index - (pieces.last?.recorded.upperBound ?? 0))
            let before =
                (0..<most).first {
                    let frame = recorded[index - $0 - 1]
                    return frame == 0 || frame != music[start - $0 - 1]
                } ?? most
            strange -= before
            var count = Self.sampleCount
            while index + count < recorded.count, start + count < music.count,
                recorded[index + count] == music[start + count]
            {
                count += 1
            }
            if before + count >= Self.shortest {
                pieces.append(
                    HeardPiece(
                        music: start - before..<start + count,
                        recorded: index - before..<index + count
                    )
                )
            } else {
                strange += before + count
            }
            index += count
        }
        self.pieces = pieces
        strangeCount = strange
    }

    /// The pieces as the player gave them: two with nothing but silence between them are one.
    ///
    /// A machine that lets player or server not run for as long as the server's buffer lasts puts silence
    /// anywhere, of which nobody knows; where it ends the recording has silence in place of some music.
    /// Silence that begins in one of `places`, where the player has something to do at that time, is taken
    /// for the player's. So is every jump in the music without a silence as long as it.
    func pieces(apartAt places: [Range<Int>]) -> [HeardPiece] {
        pieces.reduce(into: []) { joined, piece in
            guard let last = joined.last, !places.contains(where: { $0.contains(last.music.upperBound) })
            else { return joined.append(piece) }
            let missing = piece.music.lowerBound - last.music.upperBound
            let between = piece.recorded.lowerBound - last.recorded.upperBound
            guard between > 0, (0...between).contains(missing) else {
                return joined.append(piece)
            }
            joined[joined.count - 1] = HeardPiece(
                music: last.music.lowerBound..<piece.music.upperBound,
                recorded: last.recorded.lowerBound..<piece.recorded.upperBound
            )
        }
    }

    /// The indexed places of each pair of neighbouring frames in the music.
    private static func places(_ music: [UInt32]) -> [UInt64: [Int]] {
        var places: [UInt64: [Int]] = [:]
        for index in stride(from: 0, to: music.count - sampleCount, by: step) {
            places[key(music, index), default: []].append(index)
        }
        return places
    }

    private static func key(_ frames: [UInt32], _ index: Int) -> UInt64 {
        UInt64(frames[index]) << 32 | UInt64(frames[index + 1])
    }
}

/// Expects that all of `music` was heard, with neither gap nor overlap where its pieces meet.
func expectWhole(
    _ heard: HeardMusic,
    of music: RealMusic,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let pieces = heard.pieces(apartAt: RealMusic.cuts.map { $0..<$0 + 1 })
    #expect(pieces.count == 1, "\(heard.pieces)", sourceLocation: sourceLocation)
    guard let piece = pieces.first else { return }
    #expect(piece.music.lowerBound < HeardMusic.looseFrames, sourceLocation: sourceLocation)
    #expect(piece.music.upperBound == music.frames.count, sourceLocation: sourceLocation)
}

/// The seconds that the pitch of a recording in stereo identifies.
func secondsHeard(_ samples: [Int16]) -> [Int] {
    ToneAnalysis.seconds(in: PCM.channel(0, of: samples, channels: 2)[...])
}
