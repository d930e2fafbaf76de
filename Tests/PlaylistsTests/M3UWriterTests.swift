import Foundation
import Media
import TestSupport
import Testing

@testable import Playlists

@Suite
struct M3UWriterTests {
    @Test func `a list has absolute locations, titles and durations, and no passwords`() throws {
        let url = try #require(WebURL("http://me:secret@h/a%20b.mp3?x=1"))
        let tags = TrackTags(title: "T", artist: "A")
        let tracks = [
            Track(id: TrackIDs.take(), location: .web(url), tags: tags, duration: .milliseconds(61_500)),
            Track(id: TrackIDs.take(), location: .file("/m/a.mp3"), tags: TrackTags(title: "only")),
            Track(id: TrackIDs.take(), location: .file("/m/b.mp3")),
        ]
        #expect(
            M3UWriter.text(for: tracks) == """
                #EXTM3U
                #EXTINF:62,A - T
                http://h/a%20b.mp3?x=1
                #EXTINF:-1,only
                /m/a.mp3
                /m/b.mp3

                """
        )
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `whatever a path holds, it is read back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let alphabet = [
            "a", " ", "\n", "\r", "\t", "%", "%41", "#", "\\", "é", "/", "\u{1}", "音", ":", "\u{FEFF}", "?",
        ]
        let tracks = (0..<20).map { _ in
            let name = (0..<Int.random(in: 1...8, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
            return Track(id: TrackIDs.take(), location: .file("/" + name.joined()))
        }
        let found = try entries(M3UWriter.text(for: tracks))
        let base = PlaylistBase.folder("/elsewhere")
        #expect(
            try found.map { try base.location(of: $0, fileExists: { _ in false }) } == tracks.map(\.location)
        )
    }

    @Test func `saving replaces the old list whole and leaves nothing else behind`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("list.m3u8", "#EXTM3U\n/old.mp3\n")
        try M3UWriter.save([Track(id: TrackIDs.take(), location: .file("/a.mp3"))], to: path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "#EXTM3U\n/a.mp3\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["list.m3u8"])
    }

    @Test(arguments: ["ID3 music", "notes", "#EXTM3"])
    func `saving replaces no file of another kind`(text: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("song.mp3", text)
        #expect {
            try M3UWriter.save([], to: path)
        } throws: {
            ($0 as? MediaError)?.description == "Not overwritten: \(path) is not a playlist"
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["song.mp3"])
    }

    @Test(arguments: ["missing/list.m3u8", "folder"])
    func `a list that cannot be saved says why and leaves nothing behind`(name: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("folder/x.mp3")
        #expect {
            try M3UWriter.save([], to: folder.path + "/" + name)
        } throws: {
            ($0 as? MediaError)?.code == .notCached
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["folder"])
    }
}
