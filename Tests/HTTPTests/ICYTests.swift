@testable import HTTP
import Media
import TestSupport
import Testing

struct ICYTests {
    @Test(
        arguments: [
            ("StreamTitle='Artist - Title';", "Artist - Title"),
            ("StreamTitle='A';StreamUrl='http://a.example/';", "A"),
            ("StreamTitle='It's a man's; world';StreamUrl='';", "It's a man's; world"),
            ("StreamTitle='one';two';", "one';two"),
            ("StreamTitle='';", ""),
            ("StreamTitle=' spaced ';", "spaced"),
            ("streamtitle='lower';", "lower"),
            ("StreamUrl='u';StreamTitle='last'", "last"),
            ("StreamTitle='cut off", "cut off"),
            ("StreamTitle='a\u{1B}[2J\nb';", "a\u{FFFD}[2J b"),
            ("StreamUrl='u';", nil),
            ("StreamTitle=bare;", nil),
            ("", nil),
            ("StreamTitle='';adw_ad='true';durationMilliseconds='14024';adId='1';", ""),
            ("StreamTitle='A';adw_ad='true';", "A"), ("StreamTitle='A'; ad-id=7;", "A"),
            ("StreamTitle='A';key2='b';StreamUrl='';", "A"), ("StreamTitle='A';x=\"b\";", "A"),
            ("StreamTitle='rock';&roll='x';", "rock';&roll='x"),
        ] as [(String, String?)]
    )
    func `a title goes up to the quote that ends it`(text: String, expected: String?) {
        let padding = [UInt8](repeating: 0, count: 16 - text.utf8.count % 16)
        #expect(ICYTitle.parse(Array(text.utf8) + padding)?.string == expected)
    }

    @Test func `a title is UTF-8, or Latin-1 where it is none`() {
        #expect(ICYTitle.parse(Array("StreamTitle='Café';".utf8))?.string == "Café")
        let old = Array("StreamTitle='Caf".utf8) + [0xE9, 0x92] + Array("';".utf8)
        #expect(ICYTitle.parse(old)?.string == "Café’")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `music and titles come out the same wherever the line cuts`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let interval = Int.random(in: 1...40, using: &random)
        let stream = Stream(interval: interval, blocks: Int.random(in: 0...12, using: &random), &random)
        var splitter = ICYSplitter(interval: Int64(interval))
        var music: [UInt8] = []
        var titles: [Stream.Title] = []
        var rest = stream.bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...90, using: &random)
            for piece in splitter.split(Array(rest.prefix(count))) {
                #expect(!piece.music.isEmpty)
                if let title = piece.title {
                    titles.append(Stream.Title(offset: music.count, text: title.string))
                }
                music += piece.music
            }
            rest = rest.dropFirst(count)
        }
        #expect(music == stream.music)
        #expect(titles == stream.titles)
    }

    @Test func `an interval that no stream is as long as leaves all to the music`() {
        var splitter = ICYSplitter(interval: .max)
        let bytes = [UInt8](repeating: 255, count: 100_000)
        for _ in 0..<10 { #expect(splitter.split(bytes) == [ICYSplitter.Piece(title: nil, music: bytes)]) }
    }

    @Test(
        arguments: [
            ("16000", 16_000), ("1", 1), ("99999999999999999999", .max), ("0", nil), ("-1", nil), ("", nil),
            ("16k", nil),
        ] as [(String, Int64?)]
    )
    func `only a positive interval is one`(text: String, expected: Int64?) throws {
        let lines = ["HTTP/1.1 200", "icy-metaint: \(text)"]
        #expect(try ResponseHead.made(of: lines).titleInterval == expected)
        #expect(try ResponseHead.made(of: lines + ["Icy-MetaInt: 5"]).titleInterval == nil)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200|icy-name: Radio|icy-br: 128", Station(name: "Radio", bytesPerSecond: 16_000)),
            ("HTTP/1.1 200|ICY-NAME:Rádió|icy-br: 320, 128", Station(name: "Rádió", bytesPerSecond: 40_000)),
            ("HTTP/1.1 200|icy-name: |icy-br: 99999", Station()),
            ("HTTP/1.1 200|icy-name: \u{7}|icy-metaint: 8192", Station()),
            ("HTTP/1.1 200|icy-name: Radio|Content-Length: 100", nil),
            ("HTTP/1.1 200|icy-name: Radio|Content-Encoding: gzip", nil),
            ("HTTP/1.1 200|Server: Icecast 2.4.4", nil),
            ("ICY 200", Station()),
            ("ICY 401", nil),
        ] as [(String, Station?)]
    )
    func `a response without an end is a station if it has such fields, or is of the old kind`(
        lines: String,
        expected: Station?
    ) throws {
        #expect(try ResponseHead.made(of: lines.split(separator: "|").map(String.init)).station == expected)
    }

    @Test func `a name that is not UTF-8 is read as Latin-1`() {
        let name = Array("icy-name: Caf".utf8) + [0xE9, 0x20, 0x93, 0x0D, 0x0A]
        let head = ResponseHead(lines: [Array("ICY 200\r\n".utf8), name])
        #expect(head?.station?.name == "Café “")
    }

    @Test func `titles are asked for, understood, and never among the music`() async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("ICY 200 OK\r\nicy-name: Radio\r\nicy-br:128\r\nicy-metaint:4\r\n\r\n")
            connection.send("abcd\u{2}StreamTitle='One';" + String(repeating: "\0", count: 14) + "efgh")
            connection.send("\0ijkl\u{2}StreamTitle='Two';" + String(repeating: "\0", count: 14) + "mn")
        }
        try await TransportFixture().run(server) { transport in
            let request = RangeRequest(url: server.url("/stream"), range: 0..<65_536, wantsTitles: true)
            let response = try await transport.send(request)
            #expect(server.requests.first?.contains("Icy-MetaData: 1\r\n") == true)
            #expect(response.answer.kind == .whole(length: nil))
            #expect(response.answer.station == Station(name: "Radio", bytesPerSecond: 16_000))
            #expect(response.answer.wire.version == "ICY")
            var heard = ""
            while let music = try await response.body.next() {
                if let title = response.body.takeTitle() { heard += "<\(title)>" }
                #expect(response.body.takeTitle() == nil)
                heard += String(decoding: music, as: UTF8.self)
            }
            #expect(heard == "abcd<One>efghijkl<Two>mn")
        }
    }
}

/// A stream built in the obvious way, with the expected result.
private struct Stream {
    struct Title: Equatable {
        var offset: Int
        var text: String
    }

    var bytes: [UInt8] = []
    var music: [UInt8] = []
    var titles: [Title] = []

    init(interval: Int, blocks: Int, _ random: inout SeededGenerator) {
        var last: String?
        for number in 0..<blocks {
            let piece = (0..<interval).map { _ in UInt8.random(in: 0...255, using: &random) }
            bytes += piece
            music += piece
            let text = "Song \(Int.random(in: 0...2, using: &random)) it's"
            switch Int.random(in: 0...3, using: &random) {
            case 0:
                let meta = Array("StreamTitle='\(text)';".utf8)
                let count = Int.random(in: (meta.count + 15) / 16...8, using: &random)
                bytes += [UInt8(count)] + meta + [UInt8](repeating: 0, count: count * 16 - meta.count)
                // A title without music after it is never heard.
                if text != last, number < blocks - 1 { titles.append(Title(offset: music.count, text: text)) }
                last = text
            case 1: bytes += [1] + Array("StreamUrl='abc';".utf8)
            default: bytes.append(0)
            }
        }
    }
}

/// A real radio station: Icecast, fed by curl.
struct RadioTests {
    @Test func `a station's name, its titles and nothing but its music come through`() async throws {
        let icecast = try await IcecastServer()
        let options = MP3Fixtures.Options(seconds: 40)
        let file = try await MP3Fixtures.bytes(options)
        let source = try await icecast.broadcast(
            MP3Fixtures.file(options),
            at: "/live.mp3",
            name: "Rádió Ő"
        )
        try await icecast.announce("Björk - It's; not up to you", at: "/live.mp3")
        try await TransportFixture().run { transport in
            let url = try #require(WebURL(icecast.url("/live.mp3")))
            let response = try await transport.send(
                RangeRequest(url: url, range: 0..<65_536, wantsTitles: true)
            )
            let answer = response.answer
            #expect(answer.kind == .whole(length: nil))
            #expect(answer.station == Station(name: "Rádió Ő", bytesPerSecond: 16_000))
            #expect(answer.contentType == "audio/mpeg")
            var music: [UInt8] = []
            var titles: [String] = []
            // The second title is announced once the first was heard, and ends the listening.
            while titles.last != "Two", let chunk = try await response.body.next() {
                music += chunk
                guard let title = response.body.takeTitle(), !title.isEmpty else { continue }
                if titles.isEmpty { try await icecast.announce("Two", at: "/live.mp3") }
                titles.append(title.string)
            }
            #expect(titles == ["Björk - It's; not up to you", "Two"])
            // The music is one contiguous piece of the file: it has no byte of a title, and none is missing.
            let start = try #require(
                file.indices.first { file[$0...].starts(with: music.prefix(64)) },
                "the music is found in what was broadcast"
            )
            #expect(music.count > 16_000)
            #expect(file[start...].starts(with: music))
        }
        source.signal(15)
        try await source.waitForExit()
    }
}
