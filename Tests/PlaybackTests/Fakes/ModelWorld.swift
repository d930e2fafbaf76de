import Media
import TestSupport
import Testing

@testable import Playback

/// Plays the decoder and the sink for a `PlayerState`, and checks that each effect is legal.
struct ModelWorld {
    private enum Pass: Equatable {
        case opening
        case ready
        case writing(frames: FrameCount, wantsPrime: Bool)
        case done
    }

    private var passes: [PassID: Pass] = [:]
    private var formats: [PassID: AudioFormat] = [:]
    private var isOpen = false
    private var isRunning = false
    private var isDraining = false
    private var isConnected = true
    /// The number of the attempt that is under way.
    private var attempt: Int?
    private var written: FrameCount = 0
    private(set) var heard: FrameCount = 0
    private(set) var isFinished = false
    /// Each playing of a track that was current, by its first pass; `true` once its end was reported.
    private var playings: [PassID: Bool] = [:]
    private var playingOfPass: [PassID: PassID] = [:]
    private var random: SeededGenerator
    /// The tracks that turned out to be lists.
    private var listCount = 0
    /// The additions that are being read, and those that were not yet begun.
    private var additions: [String] = []
    private(set) var unreadAdditions: Set<String> = []
    /// The lists that a script wants to be saved, as long as they are neither saved nor reported.
    private(set) var unsaved: Set<String> = []
    /// The sources and lists that were named so far, and the tracks that were added.
    private var nameCount = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    var liveCount: Int { passes.count }

    private var isWriting: Bool { passes.values.contains { if case .writing = $0 { true } else { false } } }

    /// `true` once in `count` times.
    private mutating func happens(onceIn count: Int) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }

    /// Sends `input`, performs the effects and sends their results, until no more follow.
    mutating func send(_ input: PlayerInput, _ state: inout PlayerState) {
        var pending = [input]
        while !pending.isEmpty {
            let effects = state.handle(pending.removeFirst(), heard: heard, now: .zero)
            for pass in state.lane.passes { playingOfPass[pass.id] = pass.playing }
            pending.insert(contentsOf: effects.compactMap { perform($0) }, at: 0)
            if let current = state.lane.passes.first?.playing, playings[current] == nil {
                playings[current] = false
            }
            for (playing, isEnded) in playings {
                let isCurrent = state.lane.passes.first?.playing == playing
                #expect(isEnded != isCurrent, "every track that was current ends, once, and not before")
            }
        }
        #expect(isFinished || (state.phase == .active) == (state.lane.current != nil))
        #expect(state.lane.passes.allSatisfy { state.queue.place(of: $0.track.id) != nil })
        #expect(state.lane.current.map { $0.track.id == state.queue.currentTrack?.id } != false)
        let isPlayed = state.exitsAtEnd && state.phase == .ended && !state.awaitsTracks
        #expect(!isPlayed || isFinished, "the player ends with its queue")
    }

    private mutating func perform(_ effect: PlayerEffect) -> PlayerInput? {
        #expect(!isFinished, "nothing follows the end")
        switch effect {
        case .startPass(let start): #expect(passes.updateValue(.opening, forKey: start.id) == nil)
        case .cancelPass(let id, keepsResource: _):
            #expect(passes.removeValue(forKey: id) != nil, "only a pass under way is cancelled")
        case .grant(let id, let holds):
            #expect(isOpen)
            #expect(passes[id] == .ready)
            #expect(!isWriting, "one pass writes")
            passes[id] = .writing(frames: 0, wantsPrime: holds)
            return .passGranted(id, start: written)
        case .requestPrime(let id, _):
            if case .writing(let frames, _) = passes[id] {
                passes[id] = .writing(frames: frames, wantsPrime: true)
            }
        case .measureLoaded:
            let time = Duration.seconds(Int.random(in: 0...9, using: &random))
            return .loaded(happens(onceIn: 2) ? nil : time)
        case .download, .changeDownloads, .stopDownload, .emitStatus, .emitList, .answer: break
        case .release(let id), .allowReadAhead(let id), .prefetchHead(let id), .reject(let id):
            #expect(passes[id] != nil)
        case .openOutput:
            // If no stream is open, a loss is not reported, and the sink reconnects by itself.
            isConnected = true
            isOpen = true
            isRunning = false
            written = 0
            heard = 0
        case .startOutput:
            #expect(isOpen && !isRunning)
            isRunning = true
            // A fast sink has run on before it can say that it runs.
            heard = FrameCount.random(in: heard...written, using: &random)
            return .outputStarted
        case .pauseOutput:
            isRunning = false
            isDraining = false
            return .outputPaused
        case .flushOutput:
            #expect(!isRunning)
            #expect(!isWriting, "no pass writes during a flush")
            heard = written
        case .drain:
            #expect(isRunning)
            isDraining = true
        case .endTrack(let id, let report):
            #expect(passes[id] != nil)
            #expect(report.index > 0 && report.frames >= 0)
            if let playing = playingOfPass[id] {
                #expect(playings.updateValue(true, forKey: playing) != true, "a track ends once")
            }
        case .finish: isFinished = true
        case .restartAhead: return .aheadRestarted
        case .findDevices(let command): return .devicesFound([], for: command)
        case .save(let path, _, _): #expect(unsaved.remove(path) != nil, "a list is saved once")
        case .resolve(let source, _):
            #expect(unreadAdditions.remove(source) != nil)
            additions.append(source)
        case .emit(.notice(code: "bad-command", let message)) where message.string.hasPrefix("Not saved: "):
            unsaved.remove(String(message.string.split(separator: " ")[2]))
        case .forgetOutput:
            isOpen = false
            isRunning = false
            isConnected = false
        case .reconnectOutput(after: _, let attempt):
            #expect(!isConnected, "only a lost server is searched for")
            self.attempt = attempt
        case .finishRing, .emit, .emitPosition, .setVolume, .setDevice, .setTitle, .stopReading,
            .countLostSource,
            .passOverSource, .togglePin, .rememberPlayed, .retryNetwork, .setGain,
            .fade, .endFade:
            break
        }
        return nil
    }

    /// Sends one random input: a command, or an event of the decoder or the sink.
    mutating func step(_ state: inout PlayerState) {
        if isRunning { heard = FrameCount.random(in: heard...written, using: &random) }
        guard !happens(onceIn: 4) else { return command(&state) }
        if happens(onceIn: 6) { return script(&state) }
        if !additions.isEmpty, happens(onceIn: 4) { return add(&state) }
        if isDraining, !isWriting {
            isDraining = false
            return send(.drained, &state)
        }
        if let attempt, happens(onceIn: 2) {
            self.attempt = nil
            if happens(onceIn: 2) { return send(.searchEnded(attempt: attempt, isReached: false), &state) }
            isConnected = true
            return send(.searchEnded(attempt: attempt, isReached: true), &state)
        }
        if isOpen, happens(onceIn: 12) {
            let lost = MediaError(.audioLost, "x", "went away")
            return send(happens(onceIn: 2) ? .outputEvent(.lost(lost)) : .outputFailed(lost), &state)
        }
        if isRunning, heard == written, happens(onceIn: 3) {
            return send(.outputEvent(.underrun), &state)
        }
        guard let id = passes.keys.sorted().randomElement(using: &random) else { return send(.tick, &state) }
        switch passes[id] {
        case .opening:
            if happens(onceIn: 4) {
                passes[id] = .done
                guard happens(onceIn: 4), listCount < 5 else {
                    return send(.passFailed(id, failure(), frames: 0), &state)
                }
                listCount += 1
                let tracks = numbered((1...Int.random(in: 1...3, using: &random)).map { 10 * listCount + $0 })
                return send(.listFound(id, ResolvedTracks(tracks: tracks)), &state)
            }
            passes[id] = .ready
            send(.ready(id, info()), &state)
        case .writing(let frames, let wantsPrime):
            let more = FrameCount.random(in: 0...300, using: &random)
            written += more
            if !happens(onceIn: 3) {
                passes[id] = .writing(frames: frames + more, wantsPrime: false)
                if wantsPrime { send(.passPrimed(id), &state) }
                return
            }
            if happens(onceIn: 4) {
                passes[id] = .ready
                if wantsPrime { send(.passPrimed(id), &state) }
                if passes[id] != nil { send(.formatChanged(id, info(), frames: frames + more), &state) }
                return
            }
            passes[id] = .done
            if happens(onceIn: 4) {
                return send(.passFailed(id, failure(), frames: frames + more), &state)
            }
            if wantsPrime { send(.passPrimed(id), &state) }
            if passes[id] != nil { send(.passWritten(id, frames: frames + more), &state) }
        case .ready, .done, nil: send(.tick, &state)
        }
    }

    /// Sends tracks of the first addition that is being read.
    private mutating func add(_ state: inout PlayerState) {
        let isLast = happens(onceIn: 2)
        if isLast { additions.removeFirst() }
        nameCount += 1
        let tracks = happens(onceIn: 2) ? numbered([1_000 + nameCount]) : []
        send(.added(tracks, problems: [], isLast: isLast), &state)
    }

    /// Sends a random command of a script.
    mutating func script(_ state: inout PlayerState) {
        nameCount += 1
        let name = "\(nameCount)"
        let number = Int.random(in: 1...4, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2:
            unsaved.insert(name)
            send(.scripted(.save(name)), &state)
        case 3...4:
            unreadAdditions.insert(name)
            send(.scripted(.add(name)), &state)
        case 5: send(.scripted(happens(onceIn: 8) ? .quit : .next), &state)
        case 6: send(.scripted(.clear), &state)
        default: send(.scripted(.remove(TrackNumbers(places: RangeSet(0..<number)))), &state)
        }
    }

    private mutating func failure() -> MediaError {
        let codes: [MediaError.Code] = [.resourceChanged, .cut, .notAudio]
        return MediaError(codes.randomElement(using: &random) ?? .cut, "x", "has failed")
    }

    private mutating func info() -> StreamInfo {
        let format = AudioFormat(
            sampleRate: happens(onceIn: 2) ? 1_000 : 500,
            channelCount: happens(onceIn: 4) ? 1 : 2
        )
        var info = StreamInfo(format: format, bytesPerSecond: 4_000)
        info.duration = .seconds(10)
        return info
    }

    /// Sends a random command.
    mutating func command(_ state: inout PlayerState) {
        let number = Int.random(in: 1...6, using: &random)
        let all: [PlayerCommand] = [
            .play, .pause, .toggle, .stop, .next, .previous, .jump(number), .seek(.to(.seconds(number))),
            .setShuffle(nil), .setRepeat(nil), .remove(TrackNumbers(number)),
            .move(TrackNumbers(number), to: 1),
            .reload, .seek(.by(.seconds(-1))), .play, .remove(TrackNumbers(places: RangeSet(0..<number))),
            .undo, .undo, .sort(.title), .shuffleNow, .clear, .setGain(nil),
            .playNext(TrackNumbers(number), after: .track), .playNext(TrackNumbers(number), after: .album),
            .stopAfter(.track), .stopAfter(nil), .sleep(.time(.seconds(number))), .sleep(.after(.track)),
            .sleep(nil), .setAhead(.all), .setAhead(nil),
        ]
        send(.command(all[Int.random(in: all.indices, using: &random)]), &state)
    }
}
