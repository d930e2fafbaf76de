import Media
import Testing

@testable import Reprise

@Suite
struct EventLineTests {
    struct Golden: Sendable, CustomTestStringConvertible {
        var event: PlayerEvent
        var json: String
        var words: String

        var testDescription: String { String(words.prefix { $0 != " " }) }
    }

    private static let position = Duration.milliseconds(61_250)

    /// A variable, for a literal would count as the program's own words.
    private static let outside = "line one\nline two"

    private static func track(
        _ source: SafeText,
        _ change: (inout PlayerEvent.TrackReport) -> Void
    ) -> PlayerEvent {
        var report = PlayerEvent.TrackReport(index: 1, source: source)
        change(&report)
        return .track(report)
    }

    private static let modes = PlayModes(isShuffled: true, repeatMode: .all, gainMode: .off)

    private static var moved: PlayerEvent {
        var report = PlayerEvent.QueueReport(.moved, RangeSet([2..<3, 4..<7]), target: 1)
        report.count = 9
        return .queue(report)
    }

    private static var list: PlayerEvent {
        let tracks = ["/a.mp3", "/b.mp3"].enumerated().map {
            Track(id: Track.ID(UInt64($0)), location: .file($1))
        }
        let tags = TrackTags(title: "A", album: "Shore")
        var player = PlayerSnapshot()
        player.tracks = tracks
        player.learned = [Track.ID(0): TrackFacts(tags: tags, duration: .seconds(12))]
        player.currentIndex = 0
        player.availability = [Track.ID(0): Availability(stored: ByteRangeSet(0..<50), length: 100)]
        return .list(player)
    }

    private static var status: PlayerEvent {
        var player = PlayerSnapshot()
        player.state = .paused
        player.tracks = (1...9).map { Track(id: Track.ID($0), location: .file("/\($0).mp3")) }
        player.currentIndex = 1
        player.volume = 80
        player.isShuffled = true
        player.repeatMode = .all
        return .status(player)
    }

    private static var statusAhead: PlayerEvent {
        var player = PlayerSnapshot()
        player.aheadGoal = .tracks(12)
        player.offlineTime = OfflineTime(left: .seconds(90), end: .seconds(900), isEstimate: true)
        return .status(player)
    }

    private static var statusAsleep: PlayerEvent {
        var player = PlayerSnapshot()
        player.sleep = SleepReport(left: .seconds(90), point: .album)
        player.device = "usb"
        return .status(player)
    }

    private static var failure: PlayerEvent {
        var report = PlayerEvent.EndReport(index: 1, reason: .failed)
        report.cachedBytes = 7
        report.fetchedBytes = 9
        report.requestCount = 1
        report.stalls = 2
        report.error = MediaError(.notFound, "a.mp3", "no such file")
        return .ended(report)
    }

    private static var download: PlayerEvent {
        var load = LoadReport()
        load.cachedBytes = 5
        load.fetchedBytes = 90
        load.requestCount = 2
        return .download(PlayerEvent.DownloadEnd(of: "http://x/a.mp3", load, MediaError(.cut, "a", "cut")))
    }

    static let goldens: [Golden] = [
        Golden(
            event: download,
            json: #"{"event":"download","t":1.5,"source":"http://x/a.mp3","#
                + #""bytes":{"cached":5,"fetched":90},"requests":2,"#
                + #""error":{"code":"cut","message":"a: cut"}}"#,
            words: #"download source="http://x/a.mp3" bytes.cached=5 bytes.fetched=90 requests=2 "#
                + #"error.code="cut" error.message="a: cut" t=1.5"#
        ),
        Golden(
            event: .loaded(tracks: 3),
            json: #"{"event":"loaded","t":1.5,"tracks":3}"#,
            words: "loaded tracks=3 t=1.5"
        ),
        Golden(
            event: track("http://h/a.mp3") {
                ($0.tags.title, $0.duration) = ("A \"B\" \\ é", .seconds(200))
            },
            json: #"{"event":"track","t":1.5,"index":1,"source":"http://h/a.mp3","title":"A \"B\" \\ é","#
                + #""artist":null,"duration":200,"seekable":true}"#,
            words:
                #"track index=1 source="http://h/a.mp3" title="A \"B\" \\ é" duration=200 seekable=true t=1.5"#
        ),
        Golden(
            event: track("http://h/b.mp3") {
                $0.tags = TrackTags(album: "Shore", year: "1999", number: "3/12")
                $0.tags.albumArtist = "Various"
                $0.tags.disc = "1/2"
                $0.tags.genre = "Jazz"
                $0.chapters = 12
            },
            json: #"{"event":"track","t":1.5,"index":1,"source":"http://h/b.mp3","title":null,"artist":null,"#
                + #""duration":null,"seekable":true,"album":"Shore","year":"1999","trackNumber":"3/12","#
                + #""albumArtist":"Various","disc":"1/2","genre":"Jazz","chapters":12}"#,
            words: #"track index=1 source="http://h/b.mp3" seekable=true album="Shore" year="1999" "#
                + #"trackNumber="3/12" albumArtist="Various" disc="1/2" genre="Jazz" chapters=12 t=1.5"#
        ),
        Golden(
            event: .volume(percent: 65, isMuted: true),
            json: #"{"event":"volume","t":1.5,"volume":65,"muted":true}"#,
            words: "volume volume=65 muted=true t=1.5"
        ),
        Golden(
            event: .mode(modes),
            json: #"{"event":"mode","t":1.5,"shuffle":true,"repeat":"all","gain":"off"}"#,
            words: #"mode shuffle=true repeat="all" gain="off" t=1.5"#
        ),
        Golden(
            event: moved,
            json:
                #"{"event":"queue","t":1.5,"change":"moved","numbers":[[3,3],[5,7]],"to":1,"tracks":9,"index":null}"#,
            words:
                #"queue change="moved" numbers.1.1=3 numbers.1.2=3 numbers.2.1=5 numbers.2.2=7 to=1 tracks=9 t=1.5"#
        ),
        Golden(
            event: status,
            json:
                #"{"event":"status","t":1.5,"state":"paused","index":2,"tracks":9,"volume":80,"muted":false,"#
                + #""shuffle":true,"repeat":"all","gain":"off"}"#,
            words: #"status state="paused" index=2 tracks=9 volume=80 muted=false shuffle=true repeat="all" "#
                + #"gain="off" t=1.5"#
        ),
        Golden(
            event: statusAhead,
            json:
                #"{"event":"status","t":1.5,"state":"stopped","index":null,"tracks":0,"volume":100,"muted":false,"#
                + #""shuffle":false,"repeat":"off","gain":"off","ahead":"12t","offline":90,"offlineExact":false}"#,
            words:
                #"status state="stopped" tracks=0 volume=100 muted=false shuffle=false repeat="off" gain="off" "#
                + #"ahead="12t" offline=90 offlineExact=false t=1.5"#
        ),
        Golden(
            event: .devices(
                [SoundDevice("a", title: "A", isCurrent: true), SoundDevice("b", title: "B")],
                chosen: nil
            ),
            json: #"{"event":"devices","t":1.5,"device":null,"devices":["#
                + #"{"name":"a","title":"A","current":true},{"name":"b","title":"B","current":false}]}"#,
            words: #"devices devices.1.name="a" devices.1.title="A" devices.1.current=true "#
                + #"devices.2.name="b" devices.2.title="B" devices.2.current=false t=1.5"#
        ),
        Golden(
            event: .devices([SoundDevice("a", title: "A")], chosen: "a"),
            json: #"{"event":"devices","t":1.5,"device":"a","devices":["#
                + #"{"name":"a","title":"A","current":false}]}"#,
            words: #"devices device="a" devices.1.name="a" devices.1.title="A" devices.1.current=false t=1.5"#
        ),
        Golden(
            event: .answered(isAccepted: false),
            json: #"{"event":"answered","t":1.5,"accepted":false}"#,
            words: "answered accepted=false t=1.5"
        ),
        Golden(
            event: statusAsleep,
            json:
                #"{"event":"status","t":1.5,"state":"stopped","index":null,"tracks":0,"volume":100,"muted":false,"#
                + #""shuffle":false,"repeat":"off","gain":"off","sleep":90,"sleepAfter":"album","#
                + #""device":"usb"}"#,
            words:
                #"status state="stopped" tracks=0 volume=100 muted=false shuffle=false repeat="off" gain="off" "#
                + #"sleep=90 sleepAfter="album" device="usb" t=1.5"#
        ),
        Golden(
            event: list,
            json: #"{"event":"list","t":1.5,"index":1,"tracks":["#
                + #"{"index":1,"source":"/a.mp3","title":"A","artist":null,"duration":12,"album":"Shore","cached":0.5},"#
                + #"{"index":2,"source":"/b.mp3","title":null,"artist":null,"duration":null}]}"#,
            words: #"list index=1 tracks.1.index=1 tracks.1.source="/a.mp3" tracks.1.title="A" "#
                + #"tracks.1.duration=12 tracks.1.album="Shore" tracks.1.cached=0.5 tracks.2.index=2 "#
                + #"tracks.2.source="/b.mp3" t=1.5"#
        ),
        Golden(
            event: track("http://h/e.mp3") {
                $0.episode = Episode(feed: "http://h/", guid: "1", date: InternetDate(seconds: 0), place: 0)
            },
            json: #"{"event":"track","t":1.5,"index":1,"source":"http://h/e.mp3","title":null,"artist":null,"#
                + #""duration":null,"seekable":true,"episode":{"date":"1970-01-01","played":false}}"#,
            words:
                #"track index=1 source="http://h/e.mp3" seekable=true episode.date="1970-01-01" episode.played=false t=1.5"#
        ),
        Golden(
            event: track("http://h/live") { ($0.cached, $0.isLive, $0.station) = (0.25, true, "Radio") },
            json: #"{"event":"track","t":1.5,"index":1,"source":"http://h/live","title":null,"artist":null,"#
                + #""duration":null,"seekable":true,"cached":0.25,"live":true,"station":"Radio"}"#,
            words:
                #"track index=1 source="http://h/live" seekable=true cached=0.25 live=true station="Radio" t=1.5"#
        ),
        Golden(
            event: .playing(index: 2, position: position, isExact: true),
            json: #"{"event":"playing","t":1.5,"index":2,"position":61.25,"exact":true}"#,
            words: "playing index=2 position=61.25 exact=true t=1.5"
        ),
        Golden(
            event: .position(index: 2, position: position, duration: nil, isExact: false, buffered: .zero),
            json: #"{"event":"position","t":1.5,"index":2,"position":61.25,"duration":null,"exact":false,"#
                + #""buffered":0}"#,
            words: "position index=2 position=61.25 exact=false buffered=0 t=1.5"
        ),
        Golden(
            event: .buffering(index: 2, position: position),
            json: #"{"event":"buffering","t":1.5,"index":2,"position":61.25}"#,
            words: "buffering index=2 position=61.25 t=1.5"
        ),
        Golden(
            event: .paused(index: 2, position: position, isExact: false),
            json: #"{"event":"paused","t":1.5,"index":2,"position":61.25,"exact":false}"#,
            words: "paused index=2 position=61.25 exact=false t=1.5"
        ),
        Golden(
            event: .seeked(index: 2, position: position, isExact: true),
            json: #"{"event":"seeked","t":1.5,"index":2,"position":61.25,"exact":true}"#,
            words: "seeked index=2 position=61.25 exact=true t=1.5"
        ),
        Golden(
            event: .notice(code: "offline", message: SafeText(outside)),
            json: #"{"event":"notice","t":1.5,"code":"offline","message":"line one line two"}"#,
            words: #"notice code="offline" message="line one line two" t=1.5"#
        ),
        Golden(
            event: failure,
            json:
                #"{"event":"ended","t":1.5,"index":1,"reason":"failed","frames":0,"bytes":{"cached":7,"fetched":9},"#
                + #""requests":1,"stalls":2,"error":{"code":"not-found","message":"a.mp3: no such file"}}"#,
            words:
                #"ended index=1 reason="failed" frames=0 bytes.cached=7 bytes.fetched=9 requests=1 stalls=2 "#
                + #"error.code="not-found" error.message="a.mp3: no such file" t=1.5"#
        ),
        Golden(
            event: .summary(.init()),
            json: #"{"event":"summary","t":1.5,"played":0,"failed":0,"bytes":{"cached":0,"fetched":0},"#
                + #""requests":0,"stalls":0}"#,
            words: "summary played=0 failed=0 bytes.cached=0 bytes.fetched=0 requests=0 stalls=0 t=1.5"
        ),
    ]

    @Test(arguments: goldens)
    func `an event has the keys of the contract in both styles`(golden: Golden) {
        let line = EventLine(golden.event, at: .milliseconds(1500))
        #expect(line.json == golden.json && line.words == golden.words)
    }

    @Test(
        arguments: [
            (.zero, "0"), (.seconds(12), "12"), (.milliseconds(50), "0.05"),
            (.microseconds(1_234_567), "1.235"),
            (.microseconds(999_600), "1"), (.milliseconds(-1500), "-1.5"), (.microseconds(-400), "0"),
            (.seconds(Int64.max), "9223372036854775807"),
        ] as [(duration: Duration, text: String)]
    )
    func `seconds are written to the millisecond`(duration: Duration, text: String) {
        #expect(EventLine.decimal(duration) == text)
    }

    @Test func `a string escapes what JSON forbids and nothing else`() {
        #expect(EventLine.quoted("a\"\\\u{1}\u{1F}\nü🎵/") == #""a\"\\\u0001\u001f\u000aü🎵/""#)
    }
}

extension EventLine {
    /// The event as one JSON object.
    var json: String {
        var text = ""
        writeJSON(to: &text)
        return text
    }

    /// The event as one line of words.
    var words: String {
        var text = ""
        writeWords(to: &text)
        return text
    }
}
