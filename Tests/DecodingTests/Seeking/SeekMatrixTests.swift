import Decoding
import Media
import TestSupport
import Testing

/// Seeks in every kind of stream, with nothing, half or all of it stored: their positions and requests.
@Suite struct SeekMatrixTests {
    /// Offsets can be computed, are stated by a table in the header, or must be found by scanning.
    enum Law: Sendable { case constant, table, none }

    struct Kind: Sendable, CustomTestStringConvertible {
        var name: String
        var options: MP3Fixtures.Options
        var law: Law
        var coverByteCount = 0
        var hasVBRI = false
        var testDescription: String { name }

        func bytes() async throws -> [UInt8] {
            var bytes = try await MP3Fixtures.bytes(options)
            if hasVBRI { bytes = try OddStreams.withVBRI(Fixture(name: name, bytes: bytes)).bytes }
            return (coverByteCount > 0 ? tag(of: coverByteCount) : []) + bytes
        }

        /// Exact means bit for bit in MPEG-1 stereo; elsewhere rounding may depend on the filter bank's
        /// phase.
        var isBitwise: Bool { !options.isMono && options.sampleRate >= 32_000 }
    }

    enum Storage: CaseIterable, Sendable { case cold, half, whole }

    private static let seconds = 60
    /// 20 in all, 4 in the subset.
    private static let targetCount = TestCount.of(4, full: 20)
    /// The number of samples compared after each landing: several MPEG frames.
    private static let compared = 12_288

    private static let xing = MP3Fixtures.Rate.variable(quality: 4, hasXing: true)
    private static let bare = MP3Fixtures.Rate.variable(quality: 4, hasXing: false)

    static let kinds = [
        Kind(name: "CBR", options: options(.constant(128)), law: .constant),
        Kind(name: "VBR with Xing", options: options(xing), law: .table),
        Kind(name: "VBR bare", options: options(bare), law: .none),
        Kind(name: "VBRI", options: options(bare), law: .table, hasVBRI: true),
        Kind(name: "with a cover of 600 KB", options: options(xing), law: .table, coverByteCount: 600_000),
        Kind(name: "48 kHz", options: options(.constant(160), sampleRate: 48_000), law: .constant),
        Kind(name: "mono", options: options(.constant(64), isMono: true), law: .constant),
        Kind(name: "MPEG-2", options: options(.constant(64), sampleRate: 22_050), law: .constant),
    ]

    private static func options(
        _ rate: MP3Fixtures.Rate,
        sampleRate: Int = 44_100,
        isMono: Bool = false
    ) -> MP3Fixtures.Options { .init(seconds: seconds, rate: rate, sampleRate: sampleRate, isMono: isMono) }

    @Test(arguments: kinds, Storage.allCases)
    func `a seek reports where it lands, and if that is exact`(kind: Kind, storage: Storage) async throws {
        let bytes = try await kind.bytes()
        let whole = try await decodeRest(MPEGDecoder(bytes))
        let channels = kind.options.isMono ? 1 : 2
        let frames = whole.count / channels
        var random = SeededGenerator(seed: 11)
        let length = Int64(bytes.count)
        for _ in 0..<Self.targetCount {
            let stored: ByteRange? =
                switch storage {
                case .cold: nil
                // Half of the music, whatever stands before it.
                case .half: 0..<(length + Int64(kind.coverByteCount)) / 2
                case .whole: 0..<length
                }
            let source = MemorySource(bytes)
            if let stored { source.store(stored) }
            let decoder = try await MPEGDecoder(source: source).opened()
            let openCost = source.requests.count
            #expect(openCost == (stored != nil ? 0 : kind.coverByteCount > 0 ? 2 : 1))
            let format = decoder.info.format
            // Not into the last second, of which an estimate may know nothing.
            let target = Int.random(in: 0..<frames - format.sampleRate, using: &random)
            let landing = try await decoder.seek(to: format.duration(of: Int64(target)))
            let heard = try await decodeRest(decoder, limit: Self.compared)
            let cost = source.requests.dropFirst(openCost)
            let place: Comment = "\(kind.name), \(storage), frame \(target)"
            #expect(landing.frame == Int64(target), place)
            // Two samples of the rate, if nothing states it.
            let most = kind.law == .none ? 3 : 1
            #expect(cost.count <= most && cost.allSatisfy { $0.count <= 65_536 }, place)
            #expect(storage != .whole || cost.isEmpty, place)
            // Stored bytes are scanned once.
            #expect(storage != .whole || source.readByteCount <= bytes.count + 4 * 65_536, place)

            let share = Double(target) / Double(frames)
            let isKnown = storage == .whole || storage == .half && share < 0.4
            if kind.law == .constant || isKnown { #expect(landing.isExact, place) }
            if isKnown { #expect(cost.isEmpty, place) }
            if kind.law != .constant, !isKnown, share > 0.6 { #expect(!landing.isExact, place) }

            if landing.isExact {
                let expected = whole[(target * channels)...].prefix(Self.compared)
                expectNear(heard, expected, within: kind.isBitwise ? 0 : 1, place.rawValue)
            } else if kind.law == .table {
                let off = try #require(distance(of: heard, from: target * channels, in: whole), place)
                #expect(off <= whole.count / 128, "\(place.rawValue): off by \(off / channels) frames")
            } else {
                // The distance is unknown, but a tone of the music is heard.
                let mono = stride(from: 0, to: heard.count, by: channels).map { heard[$0] }.suffix(4_096)
                #expect(ToneAnalysis.second(of: mono, sampleRate: Double(format.sampleRate)) != nil)
            }
        }
    }

    /// The offset in samples of the decoded music from its place in `whole`; `nil` if it is not found. Leaves
    /// out the first frames, whose past was unknown.
    private func distance(of heard: [Int16], from place: Int, in whole: [Int16]) -> Int? {
        let settled = heard.suffix(4_096)
        let near = place + heard.count - settled.count
        func isThere(_ start: Int) -> Bool {
            let end = start + settled.count
            guard start >= 0, end <= whole.count, whole[start] == settled.first else { return false }
            return whole[start..<end].elementsEqual(settled)
        }
        // Nearest places first.
        return (0..<whole.count / 32).first { isThere(near - $0) || isThere(near + $0) }
    }
}
