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
        let launch = Task { [parts] in
            let resolved = await Self.resolve(sources, with: parts.resolver)
            tell(
                .launched(
                    tracks: tracks + resolved.tracks,
                    problems: resolved.problems,
                    start: start,
                    position: position
                )
            )
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

    /// Resolves the sources in order; what cannot be resolved becomes a problem, and the rest plays.
    private static func resolve(_ sources: [String], with resolver: any TrackResolver) async -> ResolvedTracks
    {
        var all = ResolvedTracks(tracks: [])
        for source in sources {
            do {
                let resolved = try await resolver.tracks(for: source)
                all.tracks += resolved.tracks
                all.problems += resolved.problems
            } catch let error as MediaError {
                all.problems.append(error)
            } catch {
                all.problems.append(MediaError(.internalError, SafeText(source), SafeText("\(error)")))
            }
        }
        return all
    }
}
