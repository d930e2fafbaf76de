import Foundation
import TestSupport
import Testing

/// Live HLS as liquidsoap makes it, from nginx.
@Suite(.serialized) struct LiquidsoapTests {
    /// A tone in segments of two seconds: AAC and MP3 without a container and without tags, and MPEG-TS.
    private static let script = """
        settings.init.allow_root.set(true)
        forms = [
          ("aac", %ffmpeg(format="adts", %audio(codec="aac", b="128k"))),
          ("mp3", %ffmpeg(format="mp3", %audio(codec="libmp3lame", b="128k"))),
          ("ts", %ffmpeg(format="mpegts", %audio(codec="aac", b="128k")))
        ]
        infos = [
          ("aac", {bandwidth=128000, codecs="mp4a.40.2", extname="aac", video_size=null()}),
          ("mp3", {bandwidth=128000, codecs="mp4a.40.34", extname="mp3", video_size=null()}),
          ("ts", {bandwidth=128000, codecs="mp4a.40.2", extname="ts", video_size=null()})
        ]
        output.file.hls(
          streams_info=infos, playlist="all.m3u8", segment_duration=2., segments=6, segments_overhead=4, "web", forms, sine(440.)
        )

        """

    @Test func `packed AAC, packed MP3 and MPEG-TS of a running encoder play on from list to list`()
        async throws
    {
        let stage = try await Stage()
        try stage.folder.makeFolder("web")
        let script = try stage.folder.write(Self.script, to: "live.liq")
        let encoder = try RunningProcess("liquidsoap", [script], folder: stage.folder.path)
        defer { encoder.signal(SIGKILL) }
        func published(_ form: String) -> String {
            let list = FileManager.default.contents(atPath: stage.folder.path("web/\(form).m3u8"))
            return String(decoding: list ?? Data(), as: UTF8.self)
        }
        try await wait(for: "four segments; it says: \(encoder.errorText)", deadline: .seconds(120)) {
            ["aac", "mp3", "ts"].allSatisfy { published($0).count { $0 == "," } >= 4 }
        }
        let server = try await NginxServer(serving: stage.folder.path("web"))
        for form in ["aac", "mp3", "ts"] {
            let run = try stage.session([server.url("/\(form).m3u8")])
            // More than the first list has from its start on.
            try await wait(for: "\(form): four segments and two lists", deadline: .seconds(60)) {
                let asked = server.accesses.map(\.target)
                return Set(asked.filter { $0.hasSuffix("." + form) }).count >= 4
                    && asked.count { $0 == "/\(form).m3u8" } >= 3
            } seeing: {
                let log = encoder.isRunning ? "" : encoder.errorText
                return "\(run.process.lines.suffix(8)) \(published(form)) \(server.accesses.suffix(8)) \(log)"
            }
            let track = try #require(try run.events.last { $0.event == "track" })
            #expect(track.live == true && track.seekable == true && track.duration == nil)
            let notices = try run.notices.compactMap(\.code).filter { $0 != "reading" }
            #expect(try notices.isEmpty && run.ends.isEmpty, "\(form): \(notices)")
            try await run.quit()
        }
        #expect(server.accesses.allSatisfy { [200, 206, 304].contains($0.status) })
    }
}
