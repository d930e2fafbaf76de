import Foundation
import TestSupport

/// Forty albums of ten tracks in six formats, whose tags are in front, and two folders without tags.
enum AlbumCorpus {
    static let albumCount = 40
    static let trackCount = 420

    private static let formats: [(ending: String, words: [String])] = [
        ("mp3", ["-c:a", "libmp3lame", "-b:a", "96k"]), ("flac", ["-c:a", "flac"]),
        ("ogg", ["-c:a", "libvorbis"]), ("opus", ["-c:a", "libopus"]),
        ("m4a", ["-c:a", "aac", "-movflags", "+faststart"]), ("oga", ["-c:a", "flac", "-f", "ogg"]),
    ]

    /// The title of the album numbered `album`, 1...40, and of its songs.
    static func title(_ album: Int) -> String { "Album \(two(album))" }
    static func song(_ album: Int, _ number: Int) -> String { "Song \(album).\(number)" }

    /// Writes the files below `folder`: each lasts six seconds.
    static func write(to folder: TemporaryFolder, at path: String) async throws {
        for (kind, format) in formats.enumerated() {
            let whole = try folder.makeFolder("whole").appending("/song.\(format.ending)")
            let input = ["-f", "lavfi", "-i", "sine=frequency=440:duration=6:sample_rate=44100", "-ac", "2"]
            try await ffmpeg(input + format.words + [whole])
            for album in 1...albumCount where album % formats.count == kind {
                let target = try folder.makeFolder("\(path)/\(two(album)) \(title(album))")
                var tags = [
                    "artist=Artist \(album)", "album_artist=Artist \(album)", "album=\(title(album))",
                ]
                tags.append("date=\(1960 + album)")
                try await copy(whole, format.words, tracks: 1...10) { number in
                    let song = ["title=\(song(album, number))", "track=\(number)/10"]
                    return (target + "/\(two(number)) Track.\(format.ending)", tags + song)
                }
            }
        }
        for tape in [1, 2] {
            let target = try folder.makeFolder("\(path)/9\(tape) Tape \(tape)")
            try await copy(folder.path("whole/song.mp3"), [], tracks: 1...10) { number in
                (target + "/\(two(number)) - Reel \(tape).\(number).mp3", [])
            }
        }
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Copies the music once for each track, with its tags and no others. One process makes all copies.
    private static func copy(
        _ whole: String,
        _ words: [String],
        tracks: ClosedRange<Int>,
        _ track: (Int) -> (path: String, tags: [String])
    ) async throws {
        let container = words.contains("ogg") ? ["-f", "ogg"] : []
        let flags = words.contains("+faststart") ? ["-movflags", "+faststart"] : []
        let outputs = tracks.flatMap { number in
            let made = track(number)
            let tags = made.tags.flatMap { ["-metadata", $0, "-metadata:s", $0] }
            return ["-map_metadata", "-1", "-c", "copy"] + tags + flags + container + [made.path]
        }
        try await ffmpeg(["-i", whole] + outputs)
    }

    private static func ffmpeg(_ words: [String]) async throws {
        _ = try await RunningProcess.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + words)
    }
}
