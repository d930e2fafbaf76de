import Foundation
import Media
import System
import TestSupport

/// Records a null sink, with the time of every sample.
///
/// A null sink takes the samples of the next milliseconds in advance, and its monitor delivers them at once:
/// a piece arrives when its first sample is due. A busy machine delays pieces but never advances them, so the
/// earliest of the pieces around a sample gives its time. The sink ends with its server.
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

    /// Creates the sink and returns when it is being recorded.
    init(_ pulse: PulseServer) async throws {
        sink = "ear-\(UInt32.random(in: 0 ... .max))"
        folder = try TemporaryFolder()
        try await pulse.loadNullSink(sink)
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

    /// The number of samples heard so far.
    var count: Int { heard.state.withLock { $0.samples.count } }

    /// A copy of one channel from sample `start` on.
    func samples(from start: Int) -> [Int16] {
        heard.state.withLock { $0.samples.count > start ? Array($0.samples[start...]) : [] }
    }

    /// The time at which the sink took this sample.
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

    /// Discards the recorded samples; sample numbers restart at 0.
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

/// Reuses ears, since a new null sink ignores its clients for two seconds.
final class EarPool: Sendable {
    private let pulse: PulseServer
    private let idle = Locked<[Ear]>([])

    init(_ pulse: PulseServer) { self.pulse = pulse }

    /// An ear without recorded samples.
    func take() async throws -> Ear {
        if let ear = idle.withLock({ $0.popLast() }) { return ear }
        return try await Ear(pulse)
    }

    /// Returns an ear after its player has ended.
    func giveBack(_ ear: Ear) async throws {
        ear.forget()
        try await wait(for: "silence at a null sink") {
            ear.count > 2_205 && !ear.samples(from: ear.count - 1_100).contains { $0 != 0 }
        }
        ear.forget()
        idle.withLock { $0.append(ear) }
    }
}
