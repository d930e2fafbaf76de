import Media
import TerminalUI

/// The screen with 100,000 tracks in 8,000 groups, and what changes while one listens to them.
enum LongQueue {
    static let all = [learning, folding, shuffling, filtering]

    private static let learning = Micro(
        name: "learning",
        meaning: "the length of 1 track of 100,000 in 8,000 groups was learned",
        budget: 25_000_000,
        repetitions: 20
    ) { repetitions in
        var (screen, player) = shown()
        for index in 0..<repetitions {
            player.learned[player.tracks[index * 101 % 100_000].id] = TrackFacts(duration: .seconds(index))
            show(player, on: &screen)
        }
        keep(screen)
    }

    private static let folding = Micro(
        name: "folding",
        meaning: "1 of 8,000 groups is folded or unfolded",
        budget: 2_200_000,
        repetitions: 20
    ) { repetitions in
        var (screen, _) = shown()
        for _ in 0..<repetitions { _ = screen.apply(.key(.character("z"))) }
        keep(screen)
    }

    private static let shuffling = Micro(
        name: "shuffling",
        meaning: "100,000 tracks in 8,000 groups come in another order",
        budget: 58_000_000,
        repetitions: 5
    ) { repetitions in
        var (screen, player) = shown()
        for index in 0..<repetitions {
            // A fixed order in which no neighbours stay neighbours.
            let tracks = player.tracks
            player.tracks = tracks.indices.map { tracks[($0 * 7_919 + index) % tracks.count] }
            player.queueRevision += 1
            show(player, on: &screen)
        }
        keep(screen)
    }

    private static let filtering = Micro(
        name: "filtering",
        meaning: "a letter of a filter is typed, with 100,000 tracks whose tags are known",
        budget: 340_000_000,
        repetitions: 5
    ) { repetitions in
        var (screen, player) = shown()
        for track in player.tracks { player.learned[track.id] = TrackFacts(tags: track.tags) }
        show(player, on: &screen)
        _ = screen.apply(.key(.character("f")))
        for index in 0..<repetitions {
            _ = screen.apply(.key(.character(index % 2 == 0 ? "x" : "y")))
            while screen.hasWork { _ = screen.apply(.idle) }
        }
        keep(screen)
    }

    private static func shown() -> (UIState, PlayerSnapshot) {
        var player = PlayerSnapshot()
        player.tracks = (0..<100_000).map { number in
            let album = number * 8_000 / 100_000
            return Track(
                id: Track.ID(UInt64(number)),
                location: .file("/music/album-\(album)/track-\(number).mp3"),
                tags: TrackTags(title: SafeText("River \(number)"), artist: SafeText("Band \(album)")),
                duration: .seconds(300)
            )
        }
        var screen = UIState(columns: 120, rows: 40)
        show(player, on: &screen)
        return (screen, player)
    }

    private static func show(_ player: PlayerSnapshot, on screen: inout UIState) {
        _ = screen.apply(.snapshot(player))
        while screen.hasWork { _ = screen.apply(.idle) }
    }
}
