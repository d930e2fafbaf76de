import Foundation
import Media
import System
import TestSupport

/// A null sink of its own and all that is heard there, with the time of every sample.
///
/// A null sink takes what it will play in the next milliseconds, and its monitor gives that away at once: a piece
/// arrives here when its first sample is to be heard. How late depends on how busy the machine is, but it never is
/// too early: the earliest of the pieces around a sample tells its time.
/// The sink goes with its server.
final class Ear: Sendable {
    static let sampleRate = 44_100.0

    private struct Piece {
        var start: Int
        var end: Int
        var arrival: ContinuousClock.Instant
    }

    private struct Heard {
        var samples: [Int16] = []
        var pieces: [Piece] = []
    }

    let sink: String
    private let folder: TemporaryFolder
    private let recorder: RunningProcess
    private let heard: Shared

    private final class Shared: Sendable {
        let state = Locked(Heard())
    }

    /// Makes the sink and returns when it is being listened to.
    init(_ pulse: PulseServer) async throws {
        sink = "ear-\(UInt32.random(in: 0 ... .max))"
        folder = try TemporaryFolder()
        _ = try await pulse.pactl(
            "load-module",
            "module-null-sink",
            "sink_name=\(sink)",
            "rate=44100",
            "channels=2",
            "format=s16le"
        )
        let pipe = folder.path("heard")
        guard mkfifo(pipe, 0o600) == 0 else { throw BenchmarkFailure("no pipe: errno \(errno)") }
        recorder = try RunningProcess(
            "parec",
            [
                "-d", sink + ".monitor", "--format=s16le", "--rate=44100", "--channels=1", "--latency-msec=5",
                pipe,
            ],
            environment: pulse.environment
        )
        heard = Shared()
        Self.listen(pipe, heard)
        try await wait(for: "the monitor of a null sink") { count > 0 }
    }

    /// How many samples were heard so far.
    var count: Int { heard.state.withLock { $0.samples.count } }

    /// The samples from `start` on, one channel: a copy, so that listening goes on without one of its own.
    func samples(from start: Int) -> [Int16] {
        heard.state.withLock { $0.samples.count > start ? Array($0.samples[start...]) : [] }
    }

    /// When the sink took the sample of this number.
    func time(of sample: Int) -> ContinuousClock.Instant? {
        heard.state.withLock { heard in
            guard let place = heard.pieces.firstIndex(where: { $0.end > sample }) else { return nil }
            return heard.pieces[max(0, place - 100)..<min(heard.pieces.count, place + 100)].map {
                $0.arrival - .seconds(Double($0.start - sample) / Self.sampleRate)
            }.min()
        }
    }

    /// The number of the first sample that the sink takes at `instant` or later.
    func sample(at instant: ContinuousClock.Instant) -> Int {
        heard.state.withLock { heard in
            let place = heard.pieces.lastIndex { $0.arrival <= instant } ?? heard.pieces.startIndex
            return place < heard.pieces.count ? heard.pieces[place].end : 0
        }
    }

    /// Lets go of what was heard so far; sample numbers begin anew.
    func forget() { heard.state.withLock { $0 = Heard() } }

    private static func listen(_ path: String, _ shared: Shared) {
        Thread.detachNewThread {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            defer { Glibc.close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            var odd: [UInt8] = []
            while true {
                let count = read(descriptor, &bytes, bytes.count)
                guard count > 0 else { return }
                let arrival = ContinuousClock.now
                let whole = odd + bytes[..<count]
                odd = whole.count % 2 == 0 ? [] : [whole[whole.count - 1]]
                let samples = PCM.samples(whole)
                shared.state.withLock { heard in
                    let start = heard.samples.count
                    heard.samples += samples
                    heard.pieces.append(Piece(start: start, end: heard.samples.count, arrival: arrival))
                }
            }
        }
    }
}
