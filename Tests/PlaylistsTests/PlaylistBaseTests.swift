import Media
import System
import Testing

@testable import Playlists

@Suite
struct PlaylistBaseTests {
    private func place(
        _ reference: String,
        isURI: Bool = false,
        in base: PlaylistBase,
        existing: Set<String> = []
    ) throws -> String {
        let entry = PlaylistEntry(reference: reference, isURI: isURI)
        switch try base.location(of: entry, fileExists: { existing.contains($0) }) {
        case .file(let path): return "file " + path
        case .web(let url): return url.requestString
        }
    }

    @Test(arguments: [
        ("a.mp3", "file /lists/a.mp3"), ("./a.mp3", "file /lists/a.mp3"), ("file:/m/a", "file /m/a"),
        (".//a.mp3", "file /lists/a.mp3"), ("../a.mp3", "file /lists/../a.mp3"),
        ("/m/a.mp3", "file /m/a.mp3"), ("100%25.mp3", "file /lists/100%25.mp3"),
        ("file:///m/a%20b.mp3", "file /m/a b.mp3"), ("FILE://localhost/m/a", "file /m/a"),
        ("http://h/a b.mp3", "http://h/a%20b.mp3"), ("HTTPS://h/a", "https://h/a"),
        ("AC: DC.mp3", "file /lists/AC: DC.mp3"), ("c:x.mp3", "file /lists/c:x.mp3"),
        ("a#1?.mp3", "file /lists/a#1?.mp3"), ("CD1\\a.mp3", "file /lists/CD1/a.mp3"),
        ("odd\\name.mp3", "file /lists/odd\\name.mp3"), ("x/y\\z.mp3", "file /lists/x/y\\z.mp3"),
    ])
    func `an entry of a local list is a path below its folder, or a URL`(reference: String, expected: String)
        throws
    {
        let existing: Set<String> = ["/lists/odd\\name.mp3"]
        #expect(try place(reference, in: .folder("/lists"), existing: existing) == expected)
    }

    @Test(arguments: [
        ("a.mp3", "http://h/dir/a.mp3"), ("/a.mp3", "http://h/a.mp3"), ("../a.mp3", "http://h/a.mp3"),
        ("//i/a.mp3", "http://i/a.mp3"), ("?n=2", "http://h/dir/list.m3u?n=2"),
        ("a b%20c.mp3", "http://h/dir/a%20b%20c.mp3"), ("https://i/a", "https://i/a"),
        ("AC: DC.mp3", "http://h/dir/AC:%20DC.mp3"), ("CD1\\a.mp3", "http://h/dir/CD1/a.mp3"),
        ("mailto:x", "http://h/dir/mailto:x"),
    ])
    func `an entry of a list from the web is a URL`(reference: String, expected: String) throws {
        let base = PlaylistBase.web(try #require(WebURL("http://h/dir/list.m3u?n=1")))
        #expect(try place(reference, in: base) == expected)
    }

    @Test(arguments: [
        "file:///etc/passwd", "FILE:/etc/passwd", "file://localhost/x", "C:\\Music\\a.mp3",
        "c:/Music/a.mp3", "\\\\server\\share\\a.mp3",
    ])
    func `a list from the web cannot name local files`(reference: String) throws {
        let base = PlaylistBase.web(try #require(WebURL("http://h/list.m3u")))
        #expect { try place(reference, in: base) } throws: { ($0 as? MediaError)?.code == .refusedLocalFile }
    }

    @Test(
        arguments: [
            ("ftp://me:secret@h/a?secret", .unsupportedScheme), ("spotify://secret@x", .unsupportedScheme),
            ("http://me:secret@/x", .badURL), ("http://a b:secret@c d/?secret", .badURL),
            ("file://other/a", .badURL), ("file:///a%00b", .badURL),
        ] as [(String, MediaError.Code)]
    )
    func `a reference that cannot be used is named without its secrets`(
        reference: String,
        code: MediaError.Code
    ) {
        #expect { try place(reference, in: .folder("/lists")) } throws: { error in
            (error as? MediaError)?.code == code && !"\(error)".contains("secret")
        }
    }

    @Test func `in XSPF the escapes of a local name mean characters`() throws {
        #expect(try place("a%20b%2Fc.mp3", isURI: true, in: .folder("/")) == "file /a b/c.mp3")
        #expect(throws: MediaError.self) { try place("a%00.mp3", isURI: true, in: .folder("/")) }
    }

    @Test(
        arguments: [
            // As VLC writes names.
            ("S%C3%B6ng%20%231%20(live).mp3", "Söng #1 (live).mp3"), ("CD%201/a%26b.mp3", "CD 1/a&b.mp3"),
            ("100%25.mp3", "100%.mp3"), ("CD1\\a%20b.mp3", "CD1/a b.mp3"),
            ("caf%E9.mp3", FileName.text(Array("caf".utf8) + [0xE9] + Array(".mp3".utf8))),
            // A name that exists as it is written comes first.
            ("100%25.mp3", "100%25.mp3"), ("So\u{308}ng.mp3", "So\u{308}ng.mp3"),
            // The other normal form, also of escapes and of a file URL.
            ("Söng.mp3", "So\u{308}ng.mp3"), ("So\u{308}ng.mp3", "Söng.mp3"),
            ("한국/어.mp3", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}/\u{110B}\u{1165}.mp3"),
            ("So%CC%88ng.mp3", "Söng.mp3"), ("file:///lists/S%C3%B6ng.mp3", "So\u{308}ng.mp3"),
            // Nothing of the kind exists.
            ("Söng.mp3", nil), ("a%20b.mp3", nil), ("a%00.mp3", nil),
        ] as [(String, String?)]
    )
    func `a name is decoded, or in the other normal form, if no file has it as it is written`(
        reference: String,
        file: String?
    ) throws {
        let decoy = "/lists/decoy"
        let existing = file.map { "/lists/" + $0 } ?? decoy
        // Compared by their bytes: strings are equal in all normal forms.
        let exists = { (path: String) in Array(path.utf8) == Array(existing.utf8) }
        let found = try PlaylistBase.folder("/lists").location(
            of: PlaylistEntry(reference: reference),
            fileExists: exists
        )
        let expected = file == nil ? "/lists/" + reference : existing
        #expect(Array(found.path.utf8) == Array(expected.utf8))
    }

    @Test func `a plain name is not looked for on the disk`() throws {
        let location = try PlaylistBase.folder("/lists").location(of: PlaylistEntry(reference: "a/b c.mp3")) {
            _ in
            Issue.record("100,000 entries would take as many looks")
            return false
        }
        #expect(location.path == "/lists/a/b c.mp3")
    }
}
