import Decoding
import Media
import TestSupport

/// The result of one playing.
struct Playing: Sendable {
    var samples: [Int16] = []
    /// The reason for an early end; `nil` at the end of the music.
    var error: MediaError?
    /// The report of the loader at the end.
    var report = LoadReport()

    /// `true` if all of `song` was heard, sample by sample.
    func isAll(of song: Song) -> Bool { error == nil && isSame(samples, song.pcm) }
}

/// A decoder at work on a reader.
final class Decoding {
    private let source: WatchedReader
    private let decoder: MPEGDecoder
    private let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 16)

    init(_ source: WatchedReader) {
        self.source = source
        decoder = MPEGDecoder(
            ProbedStream(source: source, subject: "song.mp3", seekTable: source.reader.stored(.seekTable))
        )
    }

    deinit { pcm.deallocate() }

    /// Reads as far as the format is known, and allows reading ahead, as the player does.
    func open(readsAhead: Bool = true) async throws {
        try await decoder.open()
        if readsAhead { source.reader.allowReadAhead(bytesPerSecond: decoder.info.bytesPerSecond) }
    }

    func seek(to time: Duration) async throws -> SeekLanding { try await decoder.seek(to: time) }

    /// Decodes until `count` samples of all channels together are there, or the music ends.
    func samples(_ count: Int = .max) async throws -> [Int16] {
        var samples: [Int16] = []
        while samples.count < count {
            switch try await decoder.decode(into: pcm) {
            case .frames(let frames):
                let byteCount = frames * decoder.info.format.bytesPerFrame
                let part = UnsafeRawBufferPointer(rebasing: pcm[..<byteCount])
                samples.append(contentsOf: part.bindMemory(to: Int16.self))
            case .formatChanged: continue
            case .end: return samples
            }
        }
        return samples
    }

    /// Opens and decodes to the end.
    func play(readsAhead: Bool = true) async -> Playing {
        var playing = Playing()
        do {
            try await open(readsAhead: readsAhead)
            while true {
                let more = try await samples(50_000)
                playing.samples += more
                if more.count < 50_000 { break }
            }
        } catch let error as MediaError {
            playing.error = error
        } catch {
            playing.error = MediaError(.internalError, "the test", SafeText("\(error)"))
        }
        playing.report = source.reader.report
        return playing
    }
}
