import Foundation
import Media
import Testing

@testable import Desktop

/// A snapshot of a playing track of 200 s, the second of three.
func playing(_ change: (inout PlayerSnapshot) -> Void = { _ in }) -> PlayerSnapshot {
    var snapshot = PlayerSnapshot()
    snapshot.tracks = (1...3).map { number in
        Track(id: Track.ID(UInt64(number)), location: .file("/music/\(number) é.mp3"))
    }
    snapshot.currentIndex = 1
    snapshot.state = .playing
    snapshot.duration = .seconds(200)
    snapshot.volume = 80
    change(&snapshot)
    return snapshot
}

@Suite struct MPRISFactsTests {
    private func metadata(_ change: (inout PlayerSnapshot) -> Void) -> [String: BusValue] {
        MPRISFacts(playing(change)).metadata
    }

    @Test func `each tag has the type that desktops expect`() {
        let data = metadata {
            var tags = TrackTags(title: "Title", artist: "Artist", album: "Album", number: "3/12")
            tags.albumArtist = "All"
            tags.disc = "2"
            tags.genre = "Jazz"
            $0.tracks[1].tags = tags
        }
        let expected: [String: BusValue] = [
            "mpris:trackid": .path("/reprise/track/2"), "mpris:length": .int64(200_000_000),
            "xesam:title": .string("Title"), "xesam:artist": .strings(["Artist"]),
            "xesam:album": .string("Album"), "xesam:albumArtist": .strings(["All"]),
            "xesam:trackNumber": .int32(3), "xesam:discNumber": .int32(2), "xesam:genre": .strings(["Jazz"]),
            "xesam:url": .string("file:///music/2%20%C3%A9.mp3"),
        ]
        #expect(data == expected)
    }

    @Test func `a track without tags has its file's name, and nothing that is unknown`() {
        let data = metadata {
            $0.duration = nil
            $0.tracks[1].tags.number = "one"
        }
        #expect(data["xesam:title"] == .string("2 é.mp3"))
        #expect(Set(data.keys) == ["mpris:trackid", "xesam:title", "xesam:url"])
    }

    @Test func `the address shows neither a password nor a query`() throws {
        let url = try #require(WebURL("http://me:secret@music.example:81/a.mp3?token=4711"))
        let data = metadata { $0.tracks[1].location = .web(url) }
        #expect(data["xesam:url"] == .string("http://music.example:81/a.mp3"))
    }

    @Test func `the length stays known while the track is stopped`() {
        let data = metadata {
            $0.state = .stopped
            $0.duration = nil
            $0.learned[Track.ID(2)] = TrackFacts(duration: .seconds(200))
        }
        #expect(data["mpris:length"] == .int64(200_000_000))
    }

    @Test func `without a track there is the path that says so`() {
        let facts = MPRISFacts(PlayerSnapshot())
        #expect(facts.metadata == ["mpris:trackid": .path("/org/mpris/MediaPlayer2/TrackList/NoTrack")])
        #expect(facts.properties["CanPlay"] == .bool(false) && facts.status == .stopped)
    }

    @Test(arguments: [
        (PlayerSnapshot.State.opening, "Playing"), (.playing, "Playing"), (.buffering, "Playing"),
        (.paused, "Paused"), (.stopped, "Stopped"), (.ended, "Stopped"),
    ])
    func `a player that waits for bytes is not paused`(state: PlayerSnapshot.State, status: String) {
        let facts = MPRISFacts(playing { $0.state = state })
        #expect(facts.properties["PlaybackStatus"] == .string(status))
    }

    @Test func `a live stream has no length and can't seek, unless its server has the past`() {
        var snapshot = playing { $0.load.live = LiveReport() }
        #expect(MPRISFacts(snapshot).metadata["mpris:length"] == nil)
        #expect(MPRISFacts(snapshot).properties["CanSeek"] == .bool(false))
        var info = StreamInfo(format: AudioFormat(sampleRate: 44_100, channelCount: 2), bytesPerSecond: 1)
        info.isRewindable = true
        info.tags = TrackTags(title: "Song", artist: "Band")
        snapshot.info = info
        #expect(MPRISFacts(snapshot).properties["CanSeek"] == .bool(true))
        #expect(MPRISFacts(snapshot).metadata["xesam:title"] == .string("Song"))
    }

    @Test func `the types are those of the desktop entry`() throws {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardized
        let entry = try String(
            contentsOf: root.appendingPathComponent("assets/package/reprise.desktop"),
            encoding: .utf8
        )
        let line = entry.split(separator: "\n").first { $0.hasPrefix("MimeType=") }
        let types = line?.dropFirst(9).split(separator: ";").map(String.init)
        #expect(types.map { BusValue.strings($0) } == MPRISFacts.root["SupportedMimeTypes"])
    }

    @Test func `all properties of the tables have values of their types`() throws {
        let calls = MPRISCalls(moment: MPRISState.Moment(playing(), at: .zero), now: .zero)
        for interface in MPRISInterface.all {
            let all = try calls.answer(
                BusCall(
                    interface: MPRISInterface.properties.name,
                    member: "GetAll",
                    arguments: [.string(interface.name)]
                )
            )
            guard case .map(let values) = all.values.first else {
                Issue.record("no values of \(interface.name)")
                continue
            }
            let types = Dictionary(uniqueKeysWithValues: interface.properties.map { ($0.name, $0.type) })
            #expect(values.mapValues(\.signature) == types)
        }
    }
}
