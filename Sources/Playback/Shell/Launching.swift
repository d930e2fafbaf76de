import Media
import System

/// Finds the tracks that the player begins with.
struct Launching: Sendable {
    let resolver: any TrackResolver
    /// Hears the first of them, once at most and from any thread, where the others are still being read.
    let begun: @Sendable ([Track]) -> Void

    /// `tracks`, and behind them those of `sources` in order; what cannot be resolved becomes a problem, and the rest
    /// plays.
    func tracks(of sources: [String], behind tracks: [Track]) async -> ResolvedTracks {
        var all = ResolvedTracks(tracks: tracks)
        var hasBegun = false
        for source in sources {
            let before = all.tracks
            let first = Locked<[Track]>([])
            do {
                let resolved =
                    hasBegun
                    ? try await resolver.tracks(for: source)
                    : try await resolver.tracks(for: source) { [begun] tracks in
                        first.withLock { $0 = tracks }
                        begun(before + tracks)
                    }
                // A long list is not copied.
                all.tracks = before.isEmpty ? resolved.tracks : before + resolved.tracks
                all.problems += resolved.problems
            } catch {
                // What was begun with stays.
                all.tracks += first.withLock { $0 }
                let other = MediaError(.internalError, SafeText(source), SafeText("\(error)"))
                all.problems.append(error as? MediaError ?? other)
            }
            hasBegun = hasBegun || first.withLock { !$0.isEmpty }
        }
        return all
    }
}
