import Media
import TestSupport
import Testing

@testable import TerminalUI

/// The rows of the queue, compared with a slow walk over all tracks.
struct QueueOutlineTests {
    private func outline(_ player: PlayerSnapshot, folding places: [Int] = []) -> QueueOutline {
        var outline = QueueOutline()
        outline.update(to: player, from: PlayerSnapshot())
        for place in places { outline.setFolded(true, at: place, in: player) }
        return outline
    }

    private func items(_ outline: QueueOutline) -> [QueueItem] {
        (0..<outline.rowCount).map { outline.item(atRow: $0) }
    }

    @Test func `a heading stands before two or more neighbours of one album, and before no single track`() {
        let outline = outline(queueSnapshot(albumTracks([2, 1, 3])))
        #expect(
            items(outline) == [
                .heading(0..<2), .track(0), .track(1), .track(2), .heading(3..<6), .track(3), .track(4),
                .track(5),
            ]
        )
        #expect((0..<6).map { outline.row(of: $0) } == [1, 2, 3, 5, 6, 7])
        #expect(outline.totals(of: 3..<6).duration == .seconds(180))
    }

    @Test func `the rows of a folded group are hidden behind its heading`() {
        let outline = outline(queueSnapshot(albumTracks([2, 1, 3])), folding: [4])
        #expect(
            items(outline) == [.heading(0..<2), .track(0), .track(1), .track(2), .heading(3..<6)]
        )
        #expect(outline.row(of: 5) == 4)
    }

    @Test func `a file without an album artist stays in its album, but joins none of another folder`() {
        func runs(_ files: [(folder: String, artist: SafeText?)]) -> [Range<Int>] {
            let tracks = files.enumerated().map { index, file in
                var tags = TrackTags(album: "Blue Hour")
                tags.albumArtist = file.artist
                return track(UInt64(index), "https://h/\(file.folder)/\(index).mp3", tags, seconds: nil)
            }
            return outline(queueSnapshot(tracks)).runs.map(\.places)
        }
        #expect(runs([("a", "Ada"), ("a", nil), ("a", "Ada"), ("a", "")]) == [0..<4])
        #expect(runs([("a", nil), ("a", "Ada"), ("b", "Ada"), ("b", nil)]) == [0..<4])
        #expect(runs([("a", "Ada"), ("a", nil), ("b", nil), ("b", nil)]) == [0..<2, 2..<4])
        // One that names no artist does not join two that name different ones.
        #expect(runs([("a", "Ada"), ("a", nil), ("a", "Bo"), ("a", "Bo")]) == [0..<2, 2..<4])
    }

    @Test func `neighbours without an album are grouped by their folder, and join its album`() {
        func tracks(_ albums: [SafeText?], _ folder: String = "a") -> [Track] {
            albums.enumerated().map { index, album in
                track(
                    UInt64(index),
                    "https://h/\(folder)/\(index).mp3",
                    TrackTags(album: album),
                    seconds: nil
                )
            }
        }
        let runs = { (tracks: [Track]) in self.outline(queueSnapshot(tracks)).runs.map(\.places) }
        #expect(runs(tracks([nil, nil, nil])) == [0..<3])
        // The album of one of them is enough, since that of the others is only unknown.
        #expect(runs(tracks([nil, "A", nil])) == [0..<3])
        #expect(runs(tracks(["A", nil, "B", "B"])) == [0..<2, 2..<4])
        // Two folders of one album, as of its discs.
        let discs =
            tracks(["A"], "1")
            + tracks(["A"], "2").map {
                var track = $0; track.id = Track.ID(9); return track
            }
        #expect(runs(discs) == [])
        let named = discs.map { track in
            var track = track
            track.tags.albumArtist = "Edda"
            return track
        }
        #expect(runs(named) == [0..<2])
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `rows and places agree with a walk over all tracks, whatever changes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var player = queueSnapshot(albumTracks((0..<6).map { _ in Int.random(in: 1...4, using: &random) }))
        var outline = outline(player)
        for _ in 0..<20 {
            let before = player
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                player.tracks.shuffle(using: &random)
                player.queueRevision += 1
            case 1 where player.tracks.count > 2:
                player.tracks.remove(at: Int.random(in: 0..<player.tracks.count, using: &random))
                player.queueRevision += 1
            case 2:
                let from = Int.random(in: 0..<player.tracks.count, using: &random)
                let track = player.tracks.remove(at: from)
                player.tracks.insert(track, at: Int.random(in: 0...player.tracks.count, using: &random))
                player.queueRevision += 1
            case 3:
                let track = player.tracks[Int.random(in: 0..<player.tracks.count, using: &random)]
                let album = SafeText("Album \(Int.random(in: 0..<3, using: &random))")
                player.learned[track.id] = TrackFacts(tags: TrackTags(album: album))
            case 4:
                let track = player.tracks[Int.random(in: 0..<player.tracks.count, using: &random)]
                let stored = ByteRangeSet(0..<Int64.random(in: 1...2, using: &random))
                player.availability[track.id] = Availability(stored: stored, length: 2)
                player.availabilityRevision += 1
            default:
                let place = Int.random(in: 0..<player.tracks.count, using: &random)
                outline.setFolded(Bool.random(using: &random), at: place, in: player)
            }
            outline.update(to: player, from: before)
            let fresh = self.outline(player)
            #expect(outline.runs.map(\.places) == fresh.runs.map(\.places))
            check(outline, player)
        }
    }

    private func check(_ outline: QueueOutline, _ player: PlayerSnapshot) {
        #expect(outline.whole == outline.totals(of: 0..<player.tracks.count))
        #expect(
            outline.cachedCount == player.tracks.count { player.availability[$0.id]?.isComplete == true }
        )
        var expected: [QueueItem] = []
        var place = 0
        while place < player.tracks.count {
            let run = outline.run(at: place)
            let end = run?.places.upperBound ?? place + 1
            if let run {
                #expect(run.places.lowerBound == place && run.places.count > 1 && run.row == expected.count)
                expected.append(.heading(run.places))
            }
            for track in place..<end {
                let isShown = run?.isFolded != true
                #expect(outline.row(of: track) == (isShown ? expected.count : expected.count - 1))
                if isShown { expected.append(.track(track)) }
            }
            place = end
        }
        #expect(items(outline) == expected)
    }

    @Test func `a hundred thousand tracks are examined in slices, and a move examines none again`() {
        var player = queueSnapshot(albumTracks(Array(repeating: 12, count: 8_334)))
        var outline = QueueOutline()
        outline.update(to: player, from: PlayerSnapshot())
        var slices = 1
        while outline.hasWork(in: player) {
            outline.examine(player)
            slices += 1
        }
        #expect(slices == 51 && outline.runs.count == 8_334 && outline.rowCount == 108_342)
        let before = player
        player.tracks.append(player.tracks.removeFirst())
        player.queueRevision = 1
        outline.update(to: player, from: before)
        #expect(!outline.hasWork(in: player) && outline.runs[0].places == 0..<11)
    }

    @Test func `facts that are found later regroup the tracks, a slice at a time`() {
        var player = queueSnapshot(
            (0..<5_000).map { track(UInt64($0), "https://h/all/\($0).mp3", seconds: nil) }
        )
        var outline = outline(player)
        while outline.hasWork(in: player) { outline.examine(player) }
        #expect(outline.runs.map(\.places) == [0..<5_000])
        for (index, track) in player.tracks.enumerated() {
            let tags = TrackTags(album: SafeText("Album \(index / 10)"))
            player.learned[track.id] = TrackFacts(tags: tags, duration: .seconds(10))
        }
        outline.update(to: player, from: player)
        #expect(outline.hasWork(in: player))
        while outline.hasWork(in: player) { outline.examine(player) }
        #expect(outline.runs.count == 500 && outline.totals(of: 0..<5_000).duration == .seconds(50_000))
    }
}
