import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// A cache that is sealed with a secret.
@Suite struct SealedTests {
    private let scene = CacheScene()
    private let secret = CacheSecret(bytes: (0..<32).map { UInt8($0) })

    private func makeOpener(_ secret: CacheSecret?) -> CacheFolder { scene.opener(secret: secret) }

    /// Text that would be found again.
    private static let words = "The quick brown fox jumps over the lazy dog. "

    private static func text(_ range: ByteRange) -> [UInt8] {
        let word = Array(words.utf8)
        return range.map { word[Int($0) % word.count] }
    }

    private func fill(_ name: String = "fox.mp3") async throws {
        let store = try await makeOpener(secret).open(url(name))
        var description = EntryDescription.example
        description.title = "Reynard"
        description.artist = "Vixen"
        description.contentType = "audio/mpeg"
        description.validators = Validators(etag: "\"fingerprint\"", lastModified: "Sat, 21 Nov 2026")
        description.seekTable = Array("seektable".utf8)
        store.describe(description)
        // Small commits too, so that blocks have several extents.
        for start in stride(from: Int64(0), to: 200_000, by: 30_000) {
            try await store.write(Self.text(start..<min(200_000, start + 30_000)), at: start)
            try await store.commit()
        }
        await store.close()
    }

    @Test func `what was sealed is read again with the secret, byte by byte and whole`() async throws {
        try await fill()
        let store = try await makeOpener(secret).open(url("fox.mp3"))
        #expect(store.stored == ByteRangeSet(0..<200_000))
        #expect(try await store.all(of: 0..<200_000) == Self.text(0..<200_000))
        #expect(try await store.read(at: 65_530, count: 12) == Self.text(65_530..<65_542))
        #expect(store.description.title == "Reynard")
        #expect(store.description.seekTable == Array("seektable".utf8))
        try await store.write(Self.text(200_000..<260_000), at: 200_000)
        #expect(try await store.all(of: 0..<260_000) == Self.text(0..<260_000))
        await store.close()
        let entry = try #require(try await makeOpener(secret).list().first)
        #expect(entry.url.string == "http://radio.example/fox.mp3")
        #expect(entry.artist?.string == "Vixen")
        #expect(entry.storedBytes == 260_000)
    }

    @Test func `nothing in the folder can be read without the secret`() async throws {
        try await fill()
        let held = try await makeOpener(secret).open(url("fox.mp3"))
        try await held.write(Self.text(200_000..<300_000), at: 200_000)
        let words = [
            "quick brown", "radio.example", "fox.mp3", "Reynard", "Vixen", "audio/mpeg", "fingerprint",
            "Nov 2026", "seektable",
        ]
        let files = try #require(FileManager.default.enumerator(atPath: scene.cache)).compactMap {
            $0 as? String
        }
        #expect(files.contains("index.sqlite"))
        for file in files {
            guard let bytes = scene.content(file) else { continue }
            for word in words {
                #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) stands in \(file)")
            }
        }
        // Nor can anyone test if a URL is cached: the key is not the hash of an unsealed folder.
        let key = Data(Digest.name(of: "http://radio.example/fox.mp3"))
        let index = try #require(scene.content("index.sqlite"))
        #expect(index.range(of: key) == nil)
        await held.close()
    }

    @Test func `another secret, or none, is refused with a clear sentence and loses nothing`() async throws {
        try await fill()
        let other = CacheSecret.generate()
        for (wrong, words) in [(other, "sealed with another secret"), (nil, "give its secret")] {
            let opener = makeOpener(wrong)
            for refused in [
                await #expect(throws: MediaError.self) { try await opener.checkSecret() },
                await #expect(throws: MediaError.self) { try await opener.open(url("fox.mp3")) },
                await #expect(throws: MediaError.self) { _ = try await opener.list() },
                await #expect(throws: MediaError.self) { _ = try await opener.clear(includingPinned: true) },
                await #expect(throws: MediaError.self) { _ = try await opener.verify() },
            ] {
                #expect(refused?.code == .cacheSecret)
                #expect(refused?.description.contains(words) == true)
            }
        }
        try await makeOpener(secret).checkSecret()
        let store = try await makeOpener(secret).open(url("fox.mp3"))
        #expect(try await store.all(of: 0..<200_000) == Self.text(0..<200_000))
        await store.close()
    }

    @Test func `an index of an earlier format stays if the secret is another one`() async throws {
        try await fill()
        try scene.alterIndex("PRAGMA user_version = \(CacheIndex.version - 1)")
        for wrong in [CacheSecret.generate(), nil] {
            let error = await #expect(throws: MediaError.self) { try await makeOpener(wrong).checkSecret() }
            #expect(error?.code == .cacheSecret)
        }
        try scene.alterIndex("PRAGMA user_version = \(CacheIndex.version)")
        #expect(try await makeOpener(secret).info(for: url("fox.mp3"))?.storedBytes == 200_000)
    }

    @Test func `a secret for a folder that is not sealed is refused and loses nothing`() async throws {
        let plain = try await makeOpener(nil).open(url("a"))
        try await plain.write(0..<1_000)
        await plain.close()
        let error = await #expect(throws: MediaError.self) { try await makeOpener(secret).checkSecret() }
        #expect(error?.code == .cacheSecret)
        #expect(error?.description.contains("not sealed") == true)
        #expect(try await makeOpener(nil).info(for: url("a"))?.storedBytes == 1_000)
    }

    @Test func `the secret of an empty folder is its secret from then on`() async throws {
        try await makeOpener(secret).checkSecret()
        await #expect(throws: MediaError.self) { try await makeOpener(nil).checkSecret() }
        try await makeOpener(secret).checkSecret()
    }

    @Test func `two processes that seal the same bytes both read them`() async throws {
        let one = try await makeOpener(secret).open(url("a"))
        let two = try await makeOpener(secret).open(url("a"))
        try await one.write(Self.text(0..<100_000), at: 0)
        try await two.write(Self.text(50_000..<200_000), at: 50_000)
        try await one.commit()
        try await two.commit()
        #expect(try await one.all(of: 0..<100_000) == Self.text(0..<100_000))
        #expect(try await two.all(of: 0..<200_000) == Self.text(0..<200_000))
        await one.close()
        await two.close()
        let next = try await makeOpener(secret).open(url("a"))
        #expect(try await next.all(of: 0..<200_000) == Self.text(0..<200_000))
        await next.close()
    }

    @Test func `an extent opens in its own place only, and every sealing has a nonce of its own`() throws {
        let seal = Seal(secret)
        let bytes = Self.text(0..<500)
        let entry = EntryID(7)
        let first = seal.sealed(bytes, at: 0..<500, of: entry)
        let second = seal.sealed(bytes, at: 0..<500, of: entry)
        #expect(first.bytes != bytes)
        #expect(first.bytes != second.bytes)
        let check = try #require(ExtentCheck(bytes: first.check))
        #expect(check.bytes == first.check)
        #expect(seal.opened(first.bytes, check: check, at: 0..<500, of: entry) == bytes)
        #expect(seal.opened(first.bytes, check: check, at: 500..<1_000, of: entry) == nil)
        #expect(seal.opened(first.bytes, check: check, at: 0..<500, of: EntryID(8)) == nil)
        #expect(seal.opened(second.bytes, check: check, at: 0..<500, of: entry) == nil)
        #expect(Seal(.generate()).opened(first.bytes, check: check, at: 0..<500, of: entry) == nil)
        let record = seal.sealedRecord(bytes, in: .about, of: entry)
        #expect(seal.openedRecord(record, in: .about, of: entry) == bytes)
        #expect(seal.openedRecord(record, in: .seekPoints, of: entry) == nil)
        #expect(seal.openedRecord(record, in: .about, of: EntryID(8)) == nil)
        #expect(seal.openedRecord(Array(record.dropLast()), in: .about, of: entry) == nil)
        #expect(seal.openedRecord([1, 2, 3], in: .about, of: entry) == nil)
    }

    @Test func `a secret is read from a file that only its owner can read`() throws {
        let path = scene.path + "/secret"
        let made = CacheSecret.generate()
        #expect(made != CacheSecret.generate())
        #expect("\(made)".contains("…") && !"\(made)".contains("\(made.bytes[0])"))
        func write(_ text: String, permissions: Int) throws {
            try? FileManager.default.removeItem(atPath: path)
            #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
        }
        try write(made.fileText, permissions: 0o600)
        #expect(try CacheSecret(file: path) == made)
        try write(String(made.fileText.dropLast()).uppercased(), permissions: 0o400)
        #expect(try CacheSecret(file: path) == made)
        for permissions in [0o640, 0o604, 0o610] {
            try write(made.fileText, permissions: permissions)
            let error = #expect(throws: MediaError.self) { try CacheSecret(file: path) }
            #expect(error?.cause.string == "can be read by other users; chmod 600 it")
        }
        for text in [
            "", "\n", "ab", made.fileText + "\n", "x" + made.fileText.dropFirst(), made.fileText + "0",
        ] {
            try write(text, permissions: 0o600)
            let error = #expect(throws: MediaError.self) { try CacheSecret(file: path) }
            #expect(error?.code == .cacheSecret)
            #expect(error?.description.contains(made.fileText.prefix(8)) == false)
        }
        #expect(throws: MediaError.self) { try CacheSecret(file: scene.path) }
        #expect(throws: MediaError.self) { try CacheSecret(file: scene.path + "/missing") }
    }
}
