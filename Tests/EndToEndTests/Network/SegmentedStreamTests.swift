import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// HLS as ffmpeg makes it, from nginx.
@Suite(.serialized) struct SegmentedStreamTests {
    /// A form in which ffmpeg writes segments.
    enum Form: String, CaseIterable, Sendable {
        case transport, transportMP3, encrypted, fragments, oneFile

        var isMP3: Bool { self == .transportMP3 }

        var options: [String] {
            switch self {
            case .transport, .transportMP3: []
            case .encrypted: ["-hls_key_info_file", "key.info"]
            case .fragments: ["-hls_segment_type", "fmp4", "-bsf:a", "aac_adtstoasc"]
            case .oneFile:
                ["-hls_segment_type", "fmp4", "-bsf:a", "aac_adtstoasc", "-hls_flags", "single_file"]
            }
        }

        /// The requests besides those for the list and the segments.
        var furtherRequests: Int {
            switch self {
            case .transport, .transportMP3: 0
            // A key, or an initialisation section.
            case .encrypted, .fragments, .oneFile: 1
            }
        }
    }

    private static let seconds = 21
    private static let ffmpeg = ["-loglevel", "error", "-y"]

    /// Makes the same packets as one file and as a stream of segments below `web`. Returns the name of the
    /// file.
    func make(_ form: Form, on stage: Stage) async throws -> String {
        let file = form.isMP3 ? "song.mp3" : form == .fragments || form == .oneFile ? "song.m4a" : "song.aac"
        let encoder = form.isMP3 ? ["libmp3lame", "-write_xing", "0", "-id3v2_version", "0"] : ["aac"]
        try stage.folder.makeFolder("web")
        try stage.folder.write("key.bin\n\(stage.folder.path("web/key.bin"))\n", to: "web/key.info")
        try stage.folder.write([UInt8](1...16), to: "web/key.bin")
        let noise = ["-f", "lavfi", "-i", "anoisesrc=d=\(Self.seconds):a=0.1:r=44100:seed=3"]
        let source = form.isMP3 ? "song.mp3" : "song.aac"
        let encoding = noise + ["-ac", "2", "-c:a"] + encoder + ["-b:a", "128k", source]
        try await run(encoding, stage)
        if file == "song.m4a" { try await run(["-i", source, "-c", "copy", file], stage) }
        let list = ["-f", "hls", "-hls_time", "4", "-hls_playlist_type", "vod"]
        try await run(["-i", source, "-c", "copy"] + list + form.options + ["list.m3u8"], stage)
        return file
    }

    private func run(_ words: [String], _ stage: Stage) async throws {
        _ = try await RunningProcess.run("ffmpeg", Self.ffmpeg + words, folder: stage.folder.path("web"))
    }

    @Test(arguments: Form.allCases)
    func `a recording plays without a gap, sample by sample, with one request for each of its parts`(
        form: Form
    ) async throws {
        let stage = try await Stage()
        let file = try await make(form, on: stage)
        let server = try await NginxServer(serving: stage.folder.path("web"))
        let whole = try await stage.session([server.url("/" + file)]).finish()
        try await server.settle()
        let before = server.accesses.count
        let run = try stage.session([server.url("/list.m3u8")])
        let heard = try await run.finish()
        expectSame(heard, as: whole)
        let duration = try run.events.last { $0.event == "track" }?.duration
        #expect(abs((duration ?? 0) - Double(Self.seconds)) < 0.2)
        try await server.settle()
        let accesses = server.accesses.dropFirst(before)
        let segments = Set(accesses.map(\.target)).filter { $0.hasSuffix(".ts") || $0.hasSuffix(".m4s") }
        #expect(accesses.allSatisfy { [200, 206].contains($0.status) })
        if form != .oneFile { #expect(accesses.count == 1 + segments.count + form.furtherRequests) }
    }

    @Test(arguments: Form.allCases)
    func `a start in the middle is exact, and one segment brings its first sound`(form: Form) async throws {
        let stage = try await Stage()
        let file = try await make(form, on: stage)
        let server = try await NginxServer(serving: stage.folder.path("web"))
        let options = ["--seek", "14.5"]
        let end = try await stage.session([server.url("/" + file)], options: options).finish()
        let all = try await stage.session([server.url("/" + file)]).finish()
        let late = try stage.session([server.url("/list.m3u8")], options: options)
        let playing = try await late.event("playing")
        #expect(playing.exact == true && abs((playing.position ?? 0) - 14.5) < 0.01)
        let heard = try await late.finish()
        // The file's own seek may land on an estimate, but the noise that AAC lets a decoder make is the same
        // for both. libmpg123 needs some frames until the bit reservoir is full.
        expectSame(heard.suffix(200_000), as: end.suffix(200_000))
        let rest = all.count - Int((playing.position ?? 0) * 44_100) * 4
        #expect(abs(heard.count - rest) <= 4 * 1_152)
    }

    @Test func `samples of AAC LC are within one step of those of ffmpeg's decoder`() async throws {
        let stage = try await Stage()
        try stage.folder.makeFolder("web")
        let noise = ["-f", "lavfi", "-i", "anoisesrc=d=\(Self.seconds):a=0.1:r=44100:seed=3", "-ac", "2"]
        try await run(noise + ["-c:a", "aac", "-aac_pns", "0", "-b:a", "128k", "song.aac"], stage)
        try await run(
            ["-i", "song.aac", "-c", "copy", "-f", "hls", "-hls_playlist_type", "vod", "list.m3u8"],
            stage
        )
        try await run(["-i", "song.aac", "-f", "s16le", "song.raw"], stage)
        let server = try await NginxServer(serving: stage.folder.path("web"))
        let heard = Self.samples(try await stage.session([server.url("/list.m3u8")]).finish())
        // ffmpeg begins with the frame that only primes the decoder.
        let decoded = try Data(contentsOf: URL(fileURLWithPath: stage.folder.path("web/song.raw")))
        let expected = Self.samples(decoded).dropFirst(2 * 1_024)
        #expect(heard.count == expected.count && heard.count > 40_000 * Self.seconds)
        #expect(zip(heard, expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }

    /// Little-endian 16-bit samples.
    private static func samples(_ data: Data) -> [Int16] {
        let bytes = [UInt8](data)
        return stride(from: 0, to: bytes.count - 1, by: 2).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
    }

    @Test(arguments: [Form.transport, .encrypted, .oneFile])
    func `a list on disk plays its segments from disk, and nothing of it is cached`(form: Form) async throws {
        let stage = try await Stage()
        let file = try await make(form, on: stage)
        let list = stage.folder.path("web/list.m3u8")
        for options in [[], ["--seek", "14.5"]] {
            let song = stage.folder.path("web/" + file)
            let heard = try await stage.session([list], options: options).finish()
            let expected = try await stage.session([song], options: options).finish()
            // As above, for the noise that AAC lets a decoder make.
            expectSame(heard.suffix(200_000), as: expected.suffix(200_000))
            if options.isEmpty { expectSame(heard, as: expected) }
        }
        #expect(try await stage.cachedSources() == [] && stage.objectFiles == [])
    }

    @Test(arguments: ["file://", ""])
    func `a list from the web plays no segment of this machine`(scheme: String) async throws {
        let stage = try await Stage()
        _ = try await make(.transport, on: stage)
        let list = try String(contentsOfFile: stage.folder.path("web/list.m3u8"), encoding: .utf8)
        let folder = scheme + stage.folder.path("web") + "/"
        stage.server.set(Array(list.replacing("list", with: folder + "list").utf8), at: "/far.m3u8")
        let ending = try await stage.play([stage.url("/far.m3u8")])
        #expect(ending.status == 2 && ending.events("playing").isEmpty, "\(ending.errors)")
        #expect(ending.errors.contains(scheme.isEmpty ? "404" : "file: URLs"), "\(ending.errors)")
    }

    @Test func `a live stream plays on from list to list, and seeks by a distance`() async throws {
        let stage = try await Stage()
        try stage.folder.makeFolder("web")
        let live = ["-re", "-f", "lavfi", "-i", "sine=frequency=440", "-c:a", "aac", "-f", "hls"]
        let window = ["-hls_time", "1", "-hls_list_size", "12", "-hls_flags", "delete_segments", "live.m3u8"]
        let words = Self.ffmpeg + live + window
        let encoder = try RunningProcess("ffmpeg", words, folder: stage.folder.path("web"))
        defer { encoder.signal(SIGKILL) }
        let list = stage.folder.path("web/live.m3u8")
        try await wait(for: "the first list") {
            FileManager.default.contents(atPath: list).map { String(decoding: $0, as: UTF8.self) }?
                .contains("live3.ts") == true
        }
        let server = try await NginxServer(serving: stage.folder.path("web"))
        let run = try stage.session([server.url("/live.m3u8")], sink: "null")
        try await run.event("playing")
        let track = try #require(try run.events.last { $0.event == "track" })
        #expect(track.live == true && track.seekable == true && track.duration == nil)
        // Longer than the first list goes.
        try await wait(for: "ten segments") {
            Set(server.accesses.map(\.target).filter { $0.hasSuffix(".ts") }).count >= 10
        }
        #expect(try run.notices.isEmpty && run.ends.isEmpty)
        #expect(try run.anonymousKilobytes() <= 14 << 10)
        // Back among the segments that the list still names; then to a time, which no live stream has.
        let before = try run.events.count
        try run.command("seek -2")
        let seeked = try await run.event("seeked", from: before)
        let heard = try run.events.prefix(before).last { $0.event == "position" }?.position ?? 0
        #expect(abs(heard - 2 - (seeked.position ?? 0)) < 1.5, "\(heard), \(seeked.position ?? 0)")
        try await run.event("playing", from: before)
        try run.command("seek 0:01")
        try await wait(for: "a refusal") { try run.notices.contains { $0.code == "not-seekable" } }
        // Nothing of it is cached.
        try await run.quit()
        let cached = try await stage.run(["cache", "list", "--json", "--cache-dir", stage.cachePath])
        #expect(cached.output.isEmpty, "\(cached.output)")
    }

    @Test func `a station is played through its master playlist, and a list that names it is no hindrance`()
        async throws
    {
        let stage = try await Stage()
        _ = try await make(.transport, on: stage)
        let master = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2"
            video.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.2"
            list.m3u8

            """
        try stage.folder.write(master, to: "web/master.m3u8")
        try stage.folder.write("#EXTM3U\n#EXTINF:-1,A station\nmaster.m3u8\n", to: "web/station.m3u")
        let server = try await NginxServer(serving: stage.folder.path("web"))
        let ending = try await stage.play([server.url("/master.m3u8"), server.url("/station.m3u")])
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(ending.events.filter { $0.event == "playing" }.count == 2)
        #expect(!server.accesses.contains { $0.target == "/video.m3u8" })
    }

    @Test func `what is encrypted in another way is refused by its name`() async throws {
        let list = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="key"
            #EXTINF:6,
            0.ts
            #EXT-X-ENDLIST

            """
        let stage = try await Stage(["/drm.m3u8": Array(list.utf8)])
        let ending = try await stage.play([stage.url("/drm.m3u8")])
        #expect(ending.status == 2)
        #expect(ending.errors.contains("SAMPLE-AES"), "\(ending.errors)")
    }
}
