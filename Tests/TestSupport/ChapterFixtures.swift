import Foundation

/// Files with chapters, as ffmpeg writes them.
package enum ChapterFixtures {
    /// The file `bytes` with a chapter at each of `starts`, in seconds, the last of which ends at `end`.
    ///
    /// ffmpeg writes a list and a track of chapters into `m4a`, `m4b` and `mp4`, and a tag into `mp3`.
    package static func adding(
        _ chapters: [(start: Int, title: String)],
        until end: Int,
        to bytes: [UInt8],
        _ fileExtension: String,
        _ arguments: [String] = []
    ) async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        var text = ";FFMETADATA1\ntitle=Book\nartist=Reader\n"
        for (place, chapter) in chapters.enumerated() {
            let next = place + 1 < chapters.count ? chapters[place + 1].start : end
            text += "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\(chapter.start * 1_000)\nEND=\(next * 1_000)\n"
            text += "title=\(chapter.title)\n"
        }
        let input = try folder.write(bytes, to: "in.\(fileExtension)")
        let chapters = try folder.write(Array(text.utf8), to: "chapters.txt")
        let output = folder.path("out.\(fileExtension)")
        let sources = ["-v", "error", "-nostdin", "-i", input, "-i", chapters]
        let copy = ["-map_metadata", "1", "-map_chapters", "1", "-map", "0:a", "-c", "copy"]
        _ = try await RunningProcess.run("ffmpeg", sources + copy + arguments + [output])
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
    }
}
