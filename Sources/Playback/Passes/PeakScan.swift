import Glibc
import Media
import System

/// Decodes in the background what is cached of tracks and has no peaks yet, for their waveforms.
///
/// At the usual rest it takes some ten seconds for a song of four minutes. Used by the player's loop alone,
/// so it needs no lock.
final class PeakScan {
    /// How many times as long as it works it rests.
    private let rest: Int
    private let makeDecoder: TrackDownload.MakeDecoder
    private let clock: any MonotonicClock
    private let thread = WorkThread(name: "waveform", isLowPriority: true)
    private var resources: [TrackResource] = []
    private var task: Task<Void, Never>?

    init(makeDecoder: @escaping TrackDownload.MakeDecoder, clock: any MonotonicClock, rest: Int) {
        self.makeDecoder = makeDecoder
        self.rest = rest
        self.clock = clock
    }

    /// Scans `resources`, the first one first, and no others from now on. Never waits.
    func scan(_ resources: [TrackResource]) {
        guard !resources.elementsEqual(self.resources, by: ===) else { return }
        self.resources = resources
        task?.cancel()
        guard !resources.isEmpty || task != nil else { return }
        let work = PeakScanWork(makeDecoder: makeDecoder, clock: clock, rest: rest, previous: task)
        task = Task(executorPreference: thread) { await work.run(resources) }
    }

    /// Stops scanning. Returns when nothing is read any more.
    func end() async {
        resources = []
        task?.cancel()
        await task?.value
        task = nil
    }

    /// Ends the thread.
    func close() async {
        await end()
        thread.stop()
    }
}

/// The work of one `PeakScan`, on its thread.
private struct PeakScanWork: Sendable {
    /// The pause before the next look for bytes that have arrived.
    private static let pause = Duration.seconds(5)
    /// The places of a track that are tried behind a gap.
    private static let places = 64
    private static let framesPerStep = 4_096
    /// Behind all music.
    private static let end = Duration.seconds(1 << 40)

    let makeDecoder: TrackDownload.MakeDecoder
    let clock: any MonotonicClock
    let rest: Int
    /// The scan that must end first.
    let previous: Task<Void, Never>?

    /// Scans `resources` until all of them are whole or the task is cancelled.
    func run(_ resources: [TrackResource]) async {
        await previous?.value
        // Only a cancellation ends it early.
        try? await scan(resources)
    }

    private func scan(_ resources: [TrackResource]) async throws {
        var left = resources
        while !left.isEmpty {
            var unfinished: [TrackResource] = []
            for resource in left {
                do {
                    let isWhole = try await scan(resource)
                    if !isWhole { unfinished.append(resource) }
                } catch is CancellationError {
                    throw CancellationError()
                } catch {
                    // Its pass reports what is wrong with the music.
                }
            }
            left = unfinished
            if !left.isEmpty { try await clock.sleep(for: Self.pause) }
        }
    }

    /// Adds the missing peaks of what is cached; `false` if bytes were missing.
    private func scan(_ resource: TrackResource) async throws -> Bool {
        guard let reader = resource.openReader else { return false }
        // A store in memory keeps the bytes around its last read: a scan would drop those of the music.
        guard !resource.isStream, reader.live == nil, reader.report.isCached else { return true }
        guard resource.hasWaveform else { return false }
        var pace = ScanPace(clock: clock, rest: rest)
        do {
            let decoder = try await makeDecoder(PartialReader(reader, .stored), resource.track)
            try await decoder.open()
            let duration = decoder.info.duration ?? .zero
            var isWhole = true
            var time = Duration.zero
            while let gap = resource.waveform.firstGap(from: time, before: duration) {
                time = gap + max(.milliseconds(10), duration / Self.places)
                do {
                    try await scan(resource, with: decoder, from: gap, reaching: &time, &pace)
                } catch is PartialReader.Missing {
                    isWhole = false
                }
                try await pace.pause()
            }
            return isWhole
        } catch is PartialReader.Missing {
            return false
        }
    }

    /// Decodes from `start` to music whose peaks are known. `reached` becomes the end of what was decoded,
    /// or `Self.end` at the end of the track.
    private func scan(
        _ resource: TrackResource,
        with decoder: any AudioDecoder,
        from start: Duration,
        reaching reached: inout Duration,
        _ pace: inout ScanPace
    ) async throws {
        var landing = try await decoder.seek(to: start)
        // Only the beginning is at a known place if the music has no table of its places.
        if !landing.isExact { landing = try await decoder.seek(to: .zero) }
        guard landing.isExact else { return }
        let format = decoder.info.format
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.framesPerStep * format.bytesPerFrame,
            alignment: 16
        )
        defer { buffer.deallocate() }
        var frame = landing.frame
        while true {
            guard case .frames(let count) = try await decoder.decode(into: buffer) else {
                reached = Self.end
                return
            }
            let pcm = UnsafeRawBufferPointer(rebasing: buffer[..<(count * format.bytesPerFrame)])
            let next = format.duration(of: frame + FrameCount(count))
            let isKnown = resource.waveform.isKnown(at: next)
            resource.addPeaks(of: pcm, format, at: frame)
            frame += FrameCount(count)
            // Behind a hole nothing is reached from the beginning.
            reached = next < start ? Self.end : next
            if isKnown, next > start { return }
            try await pace.pause()
        }
    }
}

/// Pauses after each slice of work, which is measured as time of the processor: on a busy machine the work
/// takes longer, but is not more.
struct ScanPace {
    /// The work between two pauses.
    static let slice = Duration.milliseconds(10)

    private let clock: any MonotonicClock
    private let rest: Int
    private let processorTime: () -> Duration
    private var began: Duration

    init(
        clock: any MonotonicClock,
        rest: Int,
        processorTime: @escaping () -> Duration = Self.timeOfThread
    ) {
        self.clock = clock
        self.rest = rest
        self.processorTime = processorTime
        began = processorTime()
    }

    mutating func pause() async throws {
        try Task.checkCancellation()
        let work = processorTime() - began
        guard work >= Self.slice else { return }
        if rest > 0 { try await clock.sleep(for: work * rest) }
        began = processorTime()
    }

    /// The processor time of the calling thread.
    private static func timeOfThread() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
