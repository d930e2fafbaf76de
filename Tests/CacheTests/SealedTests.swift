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
    private static func text(_ range: ByteRange) -> [UInt8] {
        let words = Array("The quick brown fox jumps over the lazy dog. ".utf8)
        return range.map { words[Int($0) % words.count] }
    }

    /// Caches 200,000 bytes of one track under two URLs.
    private func fill(_ secret: CacheSecret?) async throws {
        var description = EntryDescription.example
        description.tags = TrackTags(title: "Reynard", artist: "Vixen")
        description.validators = Validators(etag: "\"fingerprint\"", lastModified: "Sat, 21 Nov 2026")
        description.facts[.seekTable] = Array("seektable".utf8)
        for name in ["fox.mp3", "mirror.mp3"] {
            let store = try await makeOpener(secret).open(url(name))
            store.describe(description)
            // Small commits, so that blocks have several extents.
            for start in stride(from: Int64(0), to: 200_000, by: 30_000) {
                try await store.write(Self.text(start..<min(200_000, start + 30_000)), at: start)
                _ = await store.refresh(start..<200_000)
                try await store.commit()
            }
            await store.close()
        }
    }

    @Test func `sealed bytes and facts are read with the secret`() async throws {
        try await fill(secret)
        let store = try await makeOpener(secret).open(url("fox.mp3"))
        #expect(store.stored == ByteRangeSet(0..<200_000))
        #expect(try await store.all(of: 0..<200_000) == Self.text(0..<200_000))
        #expect(try await store.read(at: 65_530, count: 12) == Self.text(65_530..<65_542))
        #expect(store.description.facts[.seekTable] == Array("seektable".utf8))
        try await store.write(Self.text(200_000..<260_000), at: 200_000)
        #expect(try await store.all(of: 0..<260_000) == Self.text(0..<260_000))
        await store.close()
        let entry = try #require(try await makeOpener(secret).info(for: url("mirror.mp3")))
        #expect(entry.url.string == "http://radio.example/fox.mp3")
        #expect(entry.otherURLs.map(\.string) == ["http://radio.example/mirror.mp3"])
        #expect(entry.tags.title == "Reynard")
        #expect(entry.tags.artist == "Vixen")
        #expect(entry.storedBytes == 260_000)
    }

    @Test(arguments: [true, false])
    func `only in a sealed folder nothing can be read without the secret`(isSealed: Bool) async throws {
        let secret = isSealed ? secret : nil
        try await fill(secret)
        let held = try await makeOpener(secret).open(url("fox.mp3"))
        try await held.write(Self.text(200_000..<300_000), at: 200_000)
        let words = [
            "quick brown", "radio.example", "fox.mp3", "mirror.mp3", "Reynard", "Vixen", "audio/mpeg",
            "fingerprint", "Nov 2026", "seektable",
        ]
        // The hash of a URL would allow testing if the URL is cached.
        let names = try ["fox.mp3", "mirror.mp3"].map { Data(Digest.name(of: try url($0).requestString)) }
        let files = try FileManager.default.subpathsOfDirectory(atPath: scene.cache).compactMap(scene.content)
        let found = (words.map { Data($0.utf8) } + names).filter { needle in
            files.contains { $0.range(of: needle) != nil }
        }
        #expect(found.count == (isSealed ? 0 : words.count + names.count))
        await held.close()
    }

    @Test func `without the secret or with another one the folder is refused and unchanged`() async throws {
        try await fill(secret)
        let other = CacheSecret.generate()
        for (wrong, words) in [(other, "encrypted with another secret"), (nil, "give its secret")] {
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

    @Test func `a sealed index of another format is left alone, whatever the secret`() async throws {
        try await fill(secret)
        try scene.alterIndex("PRAGMA user_version = \(CacheIndex.formerVersion - 1)")
        for any in [CacheSecret.generate(), nil, secret] {
            try await makeOpener(any).checkSecret()
            #expect(try await !makeOpener(any).open(url("fox.mp3")).isPersistent)
        }
        try scene.alterIndex("PRAGMA user_version = \(CacheIndex.version)")
        #expect(try await makeOpener(secret).info(for: url("fox.mp3"))?.storedBytes == 200_000)
    }

    @Test func `a secret for a folder that is not sealed is refused, and nothing changes`() async throws {
        try await makeOpener(nil).cache("a", 1_000)
        let error = await #expect(throws: MediaError.self) { try await makeOpener(secret).checkSecret() }
        #expect(error?.code == .cacheSecret)
        #expect(error?.description.contains("not encrypted") == true)
        #expect(try await makeOpener(nil).info(for: url("a"))?.storedBytes == 1_000)
    }

    @Test func `the first secret given seals a new folder`() async throws {
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

    @Test func `an extent opens only in its own place, and each sealing has a new nonce`() throws {
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
        #expect(seal.openedRecord(record, in: .fact(.seekTable), of: entry) == nil)
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
