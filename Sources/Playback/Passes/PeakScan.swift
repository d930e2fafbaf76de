import Media
import System

/// Decodes in the background what is cached of tracks and has no peaks yet, for their waveforms.
///
/// It takes at most 1 % of a core: about a minute and a half for a song of four minutes. Used by the player's
/// loop alone, so it needs no lock.
final class PeakScan {
    private let makeDecoder: TrackDownload.MakeDecoder
    private let clock: any MonotonicClock
    private let thread = WorkThread(name: "waveform", isLowPriority: true)
    private var resources: [TrackResource] = []
    private var task: Task<Void, Never>?

    init(makeDecoder: @escaping TrackDownload.MakeDecoder, clock: any MonotonicClock) {
        self.makeDecoder = makeDecoder
        self.clock = clock
    }

    /// Scans `resources`, the first one first, and no others from now on. Never waits.
    func scan(_ resources: [TrackResource]) {
        guard !resources.elementsEqual(self.resources, by: ===) else { return }
        self.resources = resources
        task?.cancel()
        guard !resources.isEmpty || task != nil else { return }
        let work = PeakScanWork(makeDecoder: makeDecoder, clock: clock, previous: task)
        task = Task(executorPreference: thread) { await work.run(resources) }
    }

    /// Stops scanning. Returns when nothing is read any more.
    func end() async {
        scan([])
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
    /// The work between two pauses, which are `idleShare` times as long.
    fileprivate static let slice = Duration.milliseconds(10)
    fileprivate static let idleShare = 99
    /// The pause before the next look for bytes that have arrived.
    private static let pause = Duration.seconds(5)
    /// The places of a track that are tried behind a gap.
    private static let places = 64
    private static let framesPerStep = 4_096
    /// Behind all music.
    private static let end = Duration.seconds(1 << 40)

    let makeDecoder: TrackDownload.MakeDecoder
    let clock: any MonotonicClock
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
        guard let reader = resource.openReader, resource.hasWaveform else { return false }
        guard !resource.isStream else { return true }
        var pace = Pace(clock: clock)
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
                try await pace.rest()
            }
            return isWhole
        } catch is PartialReader.Missing {
            return false
        }
    }

    /// Decodes from `start` to music whose peaks are known. `reached` grows to the end of what was decoded,
    /// and to `Self.end` at the end of the track.
    private func scan(
        _ resource: TrackResource,
        with decoder: any AudioDecoder,
        from start: Duration,
        reaching reached: inout Duration,
        _ pace: inout Pace
    ) async throws {
        let landing = try await decoder.seek(to: start)
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
            reached = max(reached, next)
            if isKnown { return }
            try await pace.rest()
        }
    }

    /// Pauses after each slice of work. The time of the work includes waits for the disk.
    private struct Pace {
        let clock: any MonotonicClock
        private var began: Duration

        init(clock: any MonotonicClock) {
            self.clock = clock
            began = clock.now
        }

        mutating func rest() async throws {
            try Task.checkCancellation()
            let work = clock.now - began
            guard work >= PeakScanWork.slice else { return }
            try await clock.sleep(for: work * PeakScanWork.idleShare)
            began = clock.now
        }
    }
}
