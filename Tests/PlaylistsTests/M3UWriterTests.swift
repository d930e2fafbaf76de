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
            Track(id: Track.ID(1), location: .web(url), tags: tags, duration: .milliseconds(61_500)),
            Track(id: Track.ID(2), location: .file("/m/a.mp3"), tags: TrackTags(title: "only")),
            Track(id: Track.ID(3), location: .file("/m/b.mp3")),
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
    func `any path is read back as it was`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let alphabet = [
            "a", " ", "\n", "\r", "\t", "%", "%41", "#", "\\", "é", "/", "\u{1}", "音", ":", "\u{FEFF}", "?",
        ]
        let tracks = (0..<20).map { _ in
            let name = (0..<Int.random(in: 1...8, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
            return Track(id: Track.ID(1), location: .file("/" + name.joined()))
        }
        let found = try entries(M3UWriter.text(for: tracks))
        let base = PlaylistBase.folder("/elsewhere")
        let locations = try found.map { try base.location(of: $0, fileExists: { _ in false }) }
        #expect(locations == tracks.map(\.location))
    }

    @Test(arguments: ["#EXTM3U\n/old.mp3\n", "ID3 music", "notes", "#EXTM3"])
    func `saving replaces an old list whole, no file of another kind, and leaves nothing behind`(text: String)
        throws
    {
        let folder = try TemporaryFolder()
        let path = try folder.write("list", text)
        let isList = text.hasPrefix("#EXTM3U")
        var refusal: MediaError?
        do {
            try M3UWriter.save([Track(id: Track.ID(1), location: .file("/a.mp3"))], to: path)
        } catch { refusal = error }
        #expect(refusal?.description == (isList ? nil : "Not overwritten: \(path) is not a playlist"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == (isList ? "#EXTM3U\n/a.mp3\n" : text))
        #expect(try folder.names() == ["list"])
    }

    @Test(arguments: [
        ("missing/list.m3u8", "can't write the playlist"), ("folder", "is a folder; add a file name"),
    ])
    func `a list that cannot be saved says why and leaves nothing behind`(name: String, cause: String) throws
    {
        let folder = try TemporaryFolder()
        try folder.write("folder/x.mp3")
        #expect { try M3UWriter.save([], to: folder.path(name)) } throws: {
            ($0 as? MediaError)?.code == .notCached && "\($0)".contains(cause)
        }
        #expect(try folder.names() == ["folder"])
    }
}
