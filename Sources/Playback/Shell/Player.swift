package import Media
package import System

/// The queue player.
///
/// One loop takes inputs in order, passes them to `PlayerState`, carries out the effects that it returns, and
/// publishes a snapshot. Commands, passes and the sink only add inputs to the inbox, so they never wait for
/// the loop, and the loop never waits for the network.
package final class Player: PlayerControl {
    private let parts: PlaybackParts
    private let settings: PlaybackSettings
    private let inbox = Inbox()
    private let newest = Locked(PlayerSnapshot())
    private let changes = Observers<Void>()
    private let events = Observers<PlayerEvent>()
    let tap = SoundTap()

    package init(parts: PlaybackParts, settings: PlaybackSettings) {
        self.parts = parts
        self.settings = settings
    }

    package func send(_ command: PlayerCommand) { inbox.put(.command(command)) }

    package func sendInTurn(_ command: PlayerCommand, answer: @escaping CommandAnswer) {
        inbox.putInTurn(command, answer)
    }

    package func offerInTurn(_ command: PlayerCommand, answer: @escaping CommandAnswer) -> Bool {
        inbox.offerInTurn(command, answer)
    }

    package var snapshot: PlayerSnapshot { newest.withLock { $0 } }

    @discardableResult
    package func observe(_ observer: @escaping @Sendable () -> Void) -> Observation {
        changes.add { observer() }
    }

    @discardableResult
    package func observeEvents(_ observer: @escaping @Sendable (PlayerEvent) -> Void) -> Observation {
        events.add(observer)
    }

    package func showTracks(_ tracks: [Track]) { inbox.put(.tracksShown(tracks)) }

    package func watchSound(_ isWatched: Bool) { tap.watch(isWatched) }

    /// The spectrum of the frames that are heard now. They were decoded earlier: the ring and the sink's
    /// buffer lie in between.
    package var soundPicture: SoundPicture? { tap.picture(at: parts.output.heardFrames) }

    /// Reports `notice`, from a part of the player, as an event. May be called from any task.
    package func notify(_ notice: MediaError) { inbox.put(.notice(notice)) }

    /// While the network is metered, downloads wait, and until its cost is known. What the current track and
    /// the beginning of the next one need is read all the same. May be called from any task, also before
    /// `run`.
    package func networkCost(is cost: NetworkCost) { inbox.put(.costChanged(cost)) }

    /// Plays `tracks` and then those of `sources`, beginning with track `start` (from 1; `nil` for the first
    /// in playing order), and goes on with the `downloads` of an earlier session. Returns when the
    /// player has ended. Call it only once.
    package func run(
        tracks: [Track] = [],
        sources: [String],
        start: Int? = nil,
        position: Duration = .zero,
        downloads: [DownloadReport] = []
    ) async -> PlayerOutcome {
        let send: @Sendable (PlayerInput) -> Void = { [inbox] in inbox.put($0) }
        parts.output.setEventHandler { send(.outputEvent($0)) }
        // A start number or a random order needs all tracks.
        let awaitsAll = start != nil || settings.shuffle
        let reading = SourceReader(
            resolver: parts.resolver,
            clock: parts.clock,
            order: ReadingOrder(awaitsAll ? .atOnce : .inParts, tracks: tracks, now: parts.clock.now)
        ) { output in
            switch output {
            case .awaits(let source, let count): send(.reading(tracks: count, of: source))
            case .part(let part, let isLast, _):
                send(.launched(part, start: start, position: position, isComplete: isLast))
            }
        }
        reading.read(sources)
        let shell = PlayerShell(
            parts: parts,
            settings: settings,
            events: events,
            tap: tap,
            reading: reading,
            sources: sources,
            send: send
        )
        publish(shell.snapshot())
        if !downloads.isEmpty { send(.downloadsRestored(downloads)) }
        while let next = await inbox.next() {
            await shell.receive(next)
            inbox.setUnfinished(shell.unfinishedCount)
            publish(shell.snapshot())
            if shell.isOver { break }
        }
        let outcome = await shell.shutDown { inbox.close() }
        publish(shell.snapshot())
        return outcome
    }

    private func publish(_ snapshot: PlayerSnapshot) {
        newest.withLock { $0 = snapshot }
        changes.send(())
    }
}

extension MediaError {
    /// `error` itself if it is a `MediaError`, otherwise one about `subject` with its description.
    init(describing error: any Error, of subject: SafeText = "reprise") {
        self = error as? MediaError ?? MediaError(.internalError, subject, SafeText("\(error)"))
    }
}
