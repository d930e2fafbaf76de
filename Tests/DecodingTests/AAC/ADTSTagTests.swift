import Media
import TestSupport
import Testing

@testable import Decoding

/// Tags between the frames of ADTS take no time.
@Suite struct ADTSTagTests {
    enum Place: String, CaseIterable {
        case everySecond, everyFrame, pictureInTheMiddle, longPictureInTheMiddle, apeAndID3v1, severalInARow,
            last

        /// `frames` with tags among them.
        func bytes(_ frames: [[UInt8]]) -> [UInt8] {
            let middle = frames.count / 2
            func joined(_ step: Int, _ tags: (Int) -> [UInt8]) -> [UInt8] {
                frames.enumerated().flatMap {
                    ($0.offset % step == 0 ? tags($0.offset / step) : []) + $0.element
                }
            }
            func halfway(_ tags: [UInt8]) -> [UInt8] { joined(middle) { $0 == 1 ? tags : [] } }
            switch self {
            case .everySecond: return joined(43) { _ in tag(of: 73) }
            case .everyFrame: return joined(1) { tag(of: 60 + $0 % 50) }
            case .pictureInTheMiddle: return halfway(tag(of: 40_000))
            case .longPictureInTheMiddle: return halfway(tag(of: 700_000))
            case .apeAndID3v1: return halfway(ape(3_000) + id3v1)
            case .severalInARow: return halfway((1...40).flatMap { tag(of: 60 + 100 * $0) })
            case .last: return joined(frames.count) { _ in [] } + tag(of: 300) + ape(500) + id3v1
            }
        }
    }

    static let files: [MadeAAC] = [
        .adts, MadeAAC("aac", seconds: 4, rate: 22_050, channels: 1, bitRate: 24),
        MadeAAC("aac", seconds: 4, rate: 48_000, channels: 6, bitRate: 320),
    ]

    @Test(arguments: files, Place.allCases)
    func `tags between frames leave no gap`(made: MadeAAC, place: Place) async throws {
        let frames = made.adtsFrames.map { Array(made.bytes[$0]) }
        let bytes = place.bytes(frames)
        #expect(bytes.count > made.bytes.count)
        for size in [65_536, 4_099] {
            let source = MemorySource(bytes, requestByteCount: size)
            let heard = try await decodeBytes(ADTSDecoder(ProbedStream(source: source, subject: "song")))
            let plain = ADTSDecoder(ProbedStream(source: MemorySource(made.bytes), subject: "song"))
            expectSame(heard, try await decodeBytes(plain), "\(size)")
        }
    }
}
