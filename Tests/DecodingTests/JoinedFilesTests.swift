import Decoding
import Media
import TestSupport
import Testing

/// Files whose header does not tell the truth about their length: joined ones, and headers that lie.
@Suite struct JoinedFilesTests {
    /// A part of a file: the seconds from `first` on of music whose pitch tells the second.
    private static func part(
        _ seconds: Int,
        _ rate: MP3Fixtures.Rate,
        seed: UInt64 = 1
    ) async throws -> [UInt8] {
        try await MP3Fixtures.bytes(.init(seconds: seconds, rate: rate, seed: seed))
    }

    private static let variable = MP3Fixtures.Rate.variable(quality: 4, hasXing: true)
    private static let fine = MP3Fixtures.Rate.variable(quality: 0, hasXing: true)
    private static let bare = MP3Fixtures.Rate.variable(quality: 4, hasXing: false)

    /// A tenth of a second of the left channel, a moment behind a landing of `decoder`.
    private func pitched(_ decoder: MPEGDecoder) async throws -> ArraySlice<Int16> {
        let heard = try await decodeRest(decoder, limit: 44_100)
        return stride(from: 0, to: heard.count, by: 2).map { heard[$0] }.suffix(4_410)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var parts: [(seconds: Int, rate: MP3Fixtures.Rate)]
        var hasVBRI = false
        var seconds: Int { parts.reduce(0) { $0 + $1.seconds } }

        func bytes() async throws -> [UInt8] {
            var bytes: [UInt8] = []
            for part in parts {
                let made = try await JoinedFilesTests.part(part.seconds, part.rate)
                let hasHeader = hasVBRI && bytes.isEmpty
                bytes += hasHeader ? try OddStreams.withVBRI(Fixture(name: "", bytes: made)).bytes : made
            }
            return bytes
        }

        /// The second of its part that is played at `time`.
        func second(at time: Double) -> Int {
            var rest = Int(time)
            for part in parts {
                if rest < part.seconds { return rest }
                rest -= part.seconds
            }
            return rest
        }
    }

    static let cases = [
        Case(testDescription: "VBR, twice", parts: [(50, variable), (50, variable)]),
        Case(testDescription: "long, short, long", parts: [(40, variable), (15, variable), (40, variable)]),
        Case(testDescription: "CBR, then VBR", parts: [(30, .constant(96)), (58, variable)]),
        Case(testDescription: "VBR, then CBR", parts: [(50, variable), (50, .constant(128))]),
        Case(testDescription: "two constant rates", parts: [(40, .constant(160)), (58, .constant(96))]),
        Case(testDescription: "a spot in front", parts: [(15, .constant(320)), (58, variable)]),
        Case(testDescription: "a spot in the middle", parts: [(45, variable), (10, fine), (45, bare)]),
        Case(testDescription: "VBRI", parts: [(40, bare), (50, bare)], hasVBRI: true),
    ]

    @Test(arguments: cases, [0.7, 0.9])
    func `a seek behind the first of joined files lands there`(file: Case, share: Double) async throws {
        let decoder = try await MPEGDecoder(try await file.bytes()).opened()
        #expect(!decoder.info.isDurationExact)
        let time = Double(file.seconds) * share
        let landing = try await decoder.seek(to: .seconds(time))
        let heard = try await pitched(decoder)
        let second = try #require(ToneAnalysis.second(of: heard, sampleRate: 44_100))
        let place = decoder.info.format.duration(of: landing.frame).seconds
        #expect(abs(place - time) < 0.1 * Double(file.seconds))
        #expect(abs(second - file.second(at: place)) <= file.seconds / 10 + 1, "\(second) at \(place)")
    }

    @Test(arguments: cases)
    func `joined files last as long as their parts`(file: Case) async throws {
        let bytes = try await file.bytes()
        let source = MemorySource(bytes, isStored: true)
        let decoder = try await MPEGDecoder(source: source).opened()
        // Before anything but the head was read, a factor of two is as good as can be.
        let stated = try #require(decoder.info.duration).seconds / Double(file.seconds)
        #expect((0.4...2.1).contains(stated), "\(stated)")
        while try await decoder.scanStored() {}
        let counted = try #require(decoder.info.duration).seconds
        #expect(abs(counted - Double(file.seconds)) < 0.5 && decoder.info.isDurationExact)
        let time = Double(file.seconds) * 0.95
        #expect(try await decoder.seek(to: .seconds(time)).isExact)
        let heard = try await pitched(decoder)
        let second = try #require(ToneAnalysis.second(of: heard, sampleRate: 44_100))
        #expect(abs(second - file.second(at: time)) <= 1)
    }

    /// A header that states other numbers of frames and bytes than there are, as factors; `nil` for 0 bytes.
    struct Lie: Sendable, CustomTestStringConvertible {
        var rate: MP3Fixtures.Rate
        var frames: Double
        var bytes: Double
        var testDescription: String { "\(rate): \(frames) of the frames, \(bytes) of the bytes" }
    }

    static let lies = [
        Lie(rate: .constant(128), frames: 43, bytes: 1), Lie(rate: .constant(128), frames: 0.4, bytes: 1),
        Lie(rate: .constant(128), frames: 0.4, bytes: 0.4), Lie(rate: variable, frames: 43, bytes: 1),
        Lie(rate: variable, frames: 43, bytes: 0),
        Lie(rate: variable, frames: 0.4, bytes: 0.4), Lie(rate: variable, frames: 1, bytes: 0),
        Lie(rate: variable, frames: 0.01, bytes: 1),
    ]

    @Test(arguments: lies)
    func `of frames and bytes, those are believed that fit the file`(lie: Lie) async throws {
        var bytes = try await Self.part(55, lie.rate)
        let mark = try #require(
            (0..<200).first { at in ["Xing", "Info"].contains { bytes[at...].starts(with: $0.utf8) } }
        )
        func scale(_ place: Int, _ factor: Double) {
            let old = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            bytes.replaceSubrange(place..<place + 4, with: big(Int(Double(old) * factor)))
        }
        scale(mark + 8, lie.frames)
        scale(mark + 12, lie.bytes)
        let decoder = try await MPEGDecoder(bytes).opened()
        let stated = try #require(decoder.info.duration).seconds
        #expect((30...80).contains(stated), "\(stated) of 55 s")
        let landing = try await decoder.seek(to: .seconds(44))
        let heard = try await pitched(decoder)
        let second = try #require(ToneAnalysis.second(of: heard, sampleRate: 44_100))
        let place = decoder.info.format.duration(of: landing.frame).seconds
        #expect(abs(place - 44) <= 6 && abs(Double(second) - 44) <= 6, "\(second) at \(place)")
    }
}
