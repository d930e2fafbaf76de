package import Media

/// The queue player.
///
/// One loop takes inputs in order, lets `PlayerState` decide, carries out the effects and publishes a
/// snapshot. Commands, passes of the decoder and the sink only put inputs into its stream, so nobody waits
/// for it, and it waits for no network.
package final class Player: PlayerControl {
    private let parts: PlaybackParts
    private let settings: PlaybackSettings
    private let inbox = Inbox()
    private let snapshots = SnapshotBox()
    let tap = SoundTap()

    package init(parts: PlaybackParts, settings: PlaybackSettings) {
        self.parts = parts
        self.settings = settings
    }

    package func send(_ command: PlayerCommand) { inbox.put(.command(command)) }

    package var snapshot: PlayerSnapshot { snapshots.value }

    package func observe(_ observer: @escaping @Sendable () -> Void) { snapshots.observe(observer) }

    package func watchSound(_ isWatched: Bool) { tap.watch(isWatched) }

    /// What is heard lies behind what is decoded by the ring and the sink's own buffer.
    package var soundPicture: SoundPicture? { tap.picture(at: parts.output.heardFrames) }

    /// Puts a notice among the events, from any task: a part of the player has something to say.
    package func notify(_ notice: MediaError) { inbox.put(.notice(notice)) }

    /// Plays `tracks` and then those of `sources`, from track `start` (from 1; nil for the first in playing
    /// order), and returns when the player is over. Called once.
    package func run(
        tracks: [Track] = [],
        sources: [String],
        start: Int? = nil,
        position: Duration = .zero
    ) async -> PlayerOutcome {
        let tell: @Sendable (PlayerInput) -> Void = { [inbox] in inbox.put($0) }
        parts.output.setEventHandler { tell(.outputEvent($0)) }
        let shell = PlayerShell(parts: parts, settings: settings, tap: tap, tell: tell)
        let launching = Launching(resolver: parts.resolver) { first in
            tell(.begun(tracks: first, start: start, position: position))
        }
        let launch = Task {
            let all = await launching.tracks(of: sources, behind: tracks)
            tell(.launched(tracks: all.tracks, problems: all.problems, start: start, position: position))
        }
        defer { launch.cancel() }
        snapshots.publish(shell.snapshot())
        while let next = await inbox.next() {
            await shell.take(next)
            snapshots.publish(shell.snapshot())
            if shell.isOver { break }
        }
        let outcome = await shell.shutDown { inbox.close() }
        snapshots.publish(shell.snapshot())
        return outcome
    }
}
