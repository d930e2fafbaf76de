import Media
import Testing

@testable import Desktop

@Suite struct MPRISCallTests {
    private static let root = MPRISInterface.root.name
    private static let player = MPRISInterface.player.name
    private static let properties = MPRISInterface.properties.name

    /// The answer to a call, two seconds after the track was at 0:10.
    private func answer(
        _ member: String,
        on interface: String = player,
        _ arguments: BusValue...,
        of snapshot: PlayerSnapshot = playing { $0.position = .seconds(10) }
    ) throws(BusError) -> MPRISCalls.Answer {
        let moment = MPRISState.Moment(snapshot, at: .seconds(100))
        return try MPRISCalls(moment: moment, now: .seconds(102)).answer(
            BusCall(interface: interface, member: member, arguments: arguments)
        )
    }

    private func set(_ name: String, _ value: BusValue, of interface: String = player) throws(BusError)
        -> PlayerCommand?
    {
        try answer("Set", on: Self.properties, .string(interface), .string(name), .variant(value)).command
    }

    @Test(arguments: [
        (player, "Next", PlayerCommand.next), (player, "Previous", .previous), (player, "Pause", .pause),
        (player, "PlayPause", .toggle), (player, "Stop", .stop), (player, "Play", .play),
        (root, "Quit", .quit), ("", "Next", .next),
    ])
    func `a method is a command of the player`(interface: String, member: String, command: PlayerCommand)
        throws
    {
        #expect(try answer(member, on: interface) == MPRISCalls.Answer(command: command))
    }

    @Test func `there is no window to raise`() throws {
        #expect(try answer("Raise", on: Self.root) == MPRISCalls.Answer())
    }

    @Test(
        arguments: [
            (5_000_000, PlayerCommand.seek(.by(.seconds(5)))), (-3_500_000, .seek(.by(.seconds(-3.5)))),
            (-60_000_000, .seek(.by(.seconds(-60)))), (188_000_000, .seek(.by(.seconds(188)))),
            (188_000_001, .next), (Int64.max, .next), (Int64.min, .seek(.by(.microseconds(Int64.min)))),
        ] as [(Int64, PlayerCommand)]
    )
    func `a seek is by a distance, and beyond the end it is the next track`(
        offset: Int64,
        command: PlayerCommand
    ) throws {
        #expect(try answer("Seek", .int64(offset)).command == command)
    }

    @Test(
        arguments: [
            ("/reprise/track/2", 60_000_000, PlayerCommand.setPosition(.seconds(60), of: Track.ID(2))),
            ("/reprise/track/2", 0, .setPosition(.zero, of: Track.ID(2))), ("/reprise/track/2", -1, nil),
            ("/reprise/track/2", 200_000_001, nil), ("/reprise/track/3", 60_000_000, nil),
        ] as [(String, Int64, PlayerCommand?)]
    )
    func `a position is for its own track, and within it`(
        track: String,
        place: Int64,
        command: PlayerCommand?
    ) throws {
        #expect(try answer("SetPosition", .path(track), .int64(place)).command == command)
    }

    @Test func `a live stream is left where it is`() throws {
        let live = playing { $0.load.live = LiveReport() }
        #expect(try answer("Seek", .int64(5_000_000), of: live).command == nil)
        let path = BusValue.path("/reprise/track/2")
        #expect(try answer("SetPosition", path, .int64(0), of: live).command == nil)
    }

    @Test func `what is stopped cannot be seeked, and a rewindable stream only by a distance`() throws {
        let stopped = playing { $0.state = .stopped }
        #expect(try answer("Seek", .int64(5_000_000), of: stopped).command == nil)
        #expect(try answer("Seek", .int64(.max), of: stopped).command == nil)
        let stream = playing {
            $0.load.live = LiveReport()
            let format = AudioFormat(sampleRate: 44_100, channelCount: 2)
            $0.info = StreamInfo(format: format, bytesPerSecond: 1)
            $0.info?.isRewindable = true
        }
        #expect(try answer("Seek", .int64(-5_000_000), of: stream).command == .seek(.by(.seconds(-5))))
        let path = BusValue.path("/reprise/track/2")
        #expect(try answer("SetPosition", path, .int64(0), of: stream).command == nil)
    }

    @Test(arguments: [Int64.max / 1_000_000, 72_000_000_000_000_000, .max])
    func `a length that no music has is the largest number`(seconds: Int64) {
        let moment = MPRISState.Moment(playing { $0.duration = .seconds(seconds) }, at: .zero)
        guard case .int64(let length)? = moment.facts.metadata["mpris:length"] else {
            Issue.record("no length")
            return
        }
        #expect(length >= Int64.max / 1_000_000 * 1_000_000)
    }

    @Test func `the position is right when it is asked for`() throws {
        let get: [BusValue] = [.string(Self.player), .string("Position")]
        #expect(
            try answer("Get", on: Self.properties, get[0], get[1]).values == [.variant(.int64(12_000_000))]
        )
        let paused = playing {
            $0.position = .seconds(10)
            $0.state = .paused
        }
        #expect(
            try answer("Get", on: Self.properties, get[0], get[1], of: paused).values
                == [.variant(.int64(10_000_000))]
        )
        let ending = playing { $0.position = .seconds(199) }
        #expect(
            try answer("Get", on: Self.properties, get[0], get[1], of: ending).values
                == [.variant(.int64(200_000_000))]
        )
    }

    @Test func `volume, loop, shuffle and rate can be set`() throws {
        #expect(try set("Volume", .double(0.255)) == .volume(26))
        #expect(try set("Volume", .double(-3)) == .volume(0))
        #expect(try set("Volume", .double(.infinity)) == .volume(100))
        #expect(try set("LoopStatus", .string("Track")) == .setRepeat(.one))
        #expect(try set("LoopStatus", .string("None")) == .setRepeat(.off))
        #expect(try set("Shuffle", .bool(true)) == .setShuffle(true))
        #expect(try set("Rate", .double(0)) == .pause)
        #expect(try set("Rate", .double(2)) == nil)
    }

    @Test(arguments: [
        ("Volume", BusValue.double(.nan), "InvalidArgs"), ("Volume", .string("1"), "InvalidArgs"),
        ("LoopStatus", .string("All"), "InvalidArgs"), ("Position", .int64(1), "PropertyReadOnly"),
        ("Metadata", .map([:]), "PropertyReadOnly"), ("Fullscreen", .bool(true), "UnknownProperty"),
    ])
    func `other values and properties are refused`(name: String, value: BusValue, error: String) {
        let error = "org.freedesktop.DBus.Error." + error
        #expect { try set(name, value) } throws: { ($0 as? BusError)?.name == error }
    }

    @Test(arguments: ["http://music.example/a.mp3", "HTTPS://music.example/", "file:///music/a.mp3"])
    func `an address is opened as that of a stranger`(uri: String) throws {
        #expect(try answer("OpenUri", .string(uri)).command == .open(uri))
    }

    @Test(arguments: ["/music/a.mp3", "~/a.mp3", "-", "", "a.mp3", "ftp://music.example/a.mp3", "http"])
    func `what is no address of a file or of the web is not opened`(uri: String) {
        #expect { try answer("OpenUri", .string(uri)) } throws: {
            ($0 as? BusError)?.name == "org.freedesktop.DBus.Error.NotSupported"
        }
    }

    @Test(arguments: [
        (player, "Dance", "UnknownMethod"), ("org.example", "Next", "UnknownInterface"),
        (player, "Seek", "InvalidArgs"), (root, "Next", "UnknownMethod"),
    ])
    func `unknown methods and wrong arguments are refused`(interface: String, member: String, error: String) {
        let error = "org.freedesktop.DBus.Error." + error
        #expect { try answer(member, on: interface) } throws: { ($0 as? BusError)?.name == error }
    }
}
