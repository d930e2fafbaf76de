import Foundation
import Media
import TestSupport

@testable import Decoding

/// An Ogg file that `oggenc`, `opusenc` or `flac` made, and the decoders that show how it must sound.
struct MadeOgg: Sendable, CustomStringConvertible {
    enum Codec: String, Sendable { case vorbis, opus, flac }

    let description: String
    let codec: Codec
    /// Empty if the encoder is missing, so that the tests say so instead of crashing.
    var bytes: [UInt8]

    static let vorbis = MadeOgg(.vorbis)
    static let opus = MadeOgg(.opus)
    /// With short blocks, so that its first page is within the first request.
    static let flac = MadeOgg(.flac, ["--blocksize=1024"])

    init(_ name: String, _ codec: Codec, _ bytes: [UInt8]) {
        description = name
        self.codec = codec
        self.bytes = bytes
    }

    /// Encodes seeded noise, whose loudness changes each second.
    init(
        _ codec: Codec,
        _ arguments: [String] = [],
        seconds: Int = 12,
        rate: Int = 44_100,
        channels: Int = 2,
        seed: UInt64 = 1
    ) {
        description = (["\(codec)", "\(rate)", "\(channels)"] + arguments).joined(separator: " ")
        self.codec = codec
        let made: [UInt8]? = try? {
            let folder = try TemporaryFolder()
            let wave = MadeWave(channels: channels, rate: rate, frames: seconds * rate, seed: seed)
            var random = SeededGenerator(seed: seed)
            let levels = (0...seconds).map { _ in Double.random(in: 0.01...0.4, using: &random) }
            var file = wave.bytes
            let head = file.count - wave.pcm.count
            file.withUnsafeMutableBytes { bytes in
                let samples = UnsafeMutableRawBufferPointer(rebasing: bytes[head...])
                for index in 0..<samples.count / 2 {
                    let sample = samples.loadUnaligned(fromByteOffset: index * 2, as: Int16.self)
                    let level = levels[index / channels / rate]
                    samples.storeBytes(
                        of: Int16(Double(sample) * level),
                        toByteOffset: index * 2,
                        as: Int16.self
                    )
                }
            }
            let input = try folder.write(file, to: "in.wav")
            let output = folder.path("out.ogg")
            // Serial numbers would be random.
            let words = [codec == .flac ? "--serial-number=\(seed)" : "--serial=\(seed)"] + arguments
            switch codec {
            case .vorbis: try run("oggenc", ["-Q"] + words + ["-o", output, input])
            case .opus: try run("opusenc", ["--quiet"] + words + [input, output])
            case .flac: try run("flac", ["--silent", "--ogg"] + words + ["-o", output, input])
            }
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
        }()
        bytes = made ?? []
    }

    /// The 16-bit samples of `oggdec`.
    func oggdec() throws -> [Int16] {
        let folder = try TemporaryFolder()
        let input = try folder.write(bytes, to: "in.ogg")
        try run("oggdec", ["-Q", "-R", "-o", folder.path("out.raw"), input])
        return try Self.samples(folder.path("out.raw"), skipping: 0)
    }

    /// The floating-point samples of `opusdec`.
    func opusdec() throws -> [Float] {
        let folder = try TemporaryFolder()
        let input = try folder.write(bytes, to: "in.opus")
        try run("opusdec", ["--quiet", "--rate", "48000", "--float", input, folder.path("out.wav")])
        let wave = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("out.wav"))))
        var walk = ChunkWalk(at: 0, contents: [:])
        while let range = walk.wanted {
            let chunk = walk.took(wave[Int(range.lowerBound)..<min(wave.count, Int(range.upperBound))])
            guard let chunk, chunk.name == "data" else { continue }
            return try Self.samples(folder.path("out.wav"), skipping: Int(chunk.content.lowerBound))
        }
        throw ToolFailed(tool: "opusdec")
    }

    private static func samples<Sample>(_ path: String, skipping count: Int) throws -> [Sample] {
        let data = Data(try Data(contentsOf: URL(fileURLWithPath: path)).dropFirst(count))
        return data.withUnsafeBytes { Array($0.bindMemory(to: Sample.self)) }
    }

    /// The pages, and where they are.
    var pages: [OggPageWalk.Found] {
        var walk = OggPageWalk(at: 0, holding: bytes)
        var found: [OggPageWalk.Found] = []
        while let page = walk.next() { found.append(page) }
        return found
    }

    /// The parts of a page that tests change.
    struct Page {
        var flags: UInt8
        /// -1 if no packet ends on the page.
        var granule: Int64
        var lacing: [UInt8]
        var body: [UInt8]

        /// The pages of a header `packet` alone.
        static func pages(of packet: [UInt8]) -> [Page] {
            let most = 255 * 255
            return stride(from: 0, through: packet.count, by: most).map { start in
                let body = Array(packet[start...].prefix(most))
                let isLast = body.count < most
                return Page(
                    flags: start > 0 ? 1 : 0,
                    granule: isLast ? 0 : -1,
                    lacing: Array(repeating: 255, count: body.count / 255)
                        + (isLast ? [UInt8(body.count % 255)] : []),
                    body: body
                )
            }
        }
    }

    /// This file with the pages that `change` makes of its own, numbered in order; `how` describes it.
    func repaged(_ how: String, _ change: ([Page]) -> [Page]) -> MadeOgg {
        let pages = pages.map { found in
            let flags = [found.page.isContinued, found.page.isFirst, found.page.isLast]
            return Page(
                flags: flags.enumerated().reduce(0) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) },
                granule: found.page.granule ?? -1,
                lacing: found.page.lacing,
                body: found.body
            )
        }
        let serial = self.pages.first?.page.serial ?? 0
        return changed(how) { bytes in
            bytes = []
            for (number, page) in change(pages).enumerated() {
                bytes += Array("OggS".utf8) + [0, page.flags]
                bytes += little(UInt64(bitPattern: page.granule), 8)
                bytes += little(UInt64(serial), 4)
                bytes += little(UInt64(number), 4)
                bytes += little(0, 4)
                bytes.append(UInt8(page.lacing.count))
                bytes += page.lacing
                bytes += page.body
            }
            Self.mend(&bytes)
        }
    }

    /// Gives every page of `bytes` the checksum of its bytes.
    static func mend(_ bytes: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            let page = bytes.withUnsafeBytes { bytes in
                index = OggPage.firstMark(in: bytes, from: index)
                return OggPage(headAt: index, of: bytes)
            }
            guard let page, index + page.byteCount <= bytes.count else {
                index += 1
                continue
            }
            let sum = bytes[index..<index + page.byteCount].withUnsafeBytes { OggPage.checksum(of: $0) }
            bytes.replaceSubrange(index + 22..<index + 26, with: little(UInt64(sum), 4))
            index += page.byteCount
        }
    }

    /// This file after `change`, which `how` describes.
    func changed(_ how: String, _ change: (inout [UInt8]) -> Void) -> MadeOgg {
        var bytes = bytes
        change(&bytes)
        return MadeOgg(description + " " + how, codec, bytes)
    }
}

/// The samples in `bytes` of 32-bit floating point.
func floats(_ bytes: some Sequence<UInt8>) -> [Float] {
    Array(bytes).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
}

/// `samples` as 16 bits: rounded to the nearest, halves to the even one, and clipped.
func rounded(_ samples: [Float]) -> [Int16] {
    samples.map { Int16(min(max(($0 * 32_768).rounded(.toNearestOrEven), -32_768), 32_767)) }
}
