import Foundation
import Media
import TestSupport
import Testing

@testable import Decoding

/// A FLAC file that another program made, with the PCM that it must play as.
struct MadeFLAC: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var wave: MadeWave
    var bytes: [UInt8]

    /// The file that `flac` makes of `wave` with `arguments`; empty if that fails.
    static func byFlac(_ arguments: [String], _ wave: MadeWave = quiet) -> MadeFLAC {
        let file = make(wave) { input, output in
            try run("flac", ["--silent", "--force", "--lax"] + arguments + ["-o", output, input])
        }
        return MadeFLAC(
            testDescription: "flac \(arguments.joined(separator: " ")) of \(wave)",
            wave: wave,
            bytes: file
        )
    }

    /// The file that ffmpeg makes of `wave`.
    static func byFFmpeg(_ arguments: [String], _ wave: MadeWave = quiet, container: String = "flac")
        -> MadeFLAC
    {
        let file = make(wave) { input, output in
            try run(
                "ffmpeg",
                ["-v", "error", "-nostdin", "-i", input] + arguments + ["-f", container, output]
            )
        }
        return MadeFLAC(
            testDescription: "ffmpeg \(arguments.joined(separator: " ")) of \(wave), \(container)",
            wave: wave,
            bytes: file
        )
    }

    /// The file that sox makes of `wave`.
    static func bySox(_ wave: MadeWave = quiet) -> MadeFLAC {
        let file = make(wave) { input, output in try run("sox", ["-D", input, "-t", "flac", output]) }
        return MadeFLAC(testDescription: "sox of \(wave)", wave: wave, bytes: file)
    }

    private static func make(_ wave: MadeWave, _ tool: (String, String) throws -> Void) -> [UInt8] {
        let made = try? {
            let folder = try TemporaryFolder()
            let input = try folder.write(wave.bytes, to: "in.wav")
            let output = folder.path("out.flac")
            try tool(input, output)
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
        }()
        return made ?? []
    }

    /// Noise that can be compressed.
    static let quiet = MadeWave(frames: 8_000 * 12, loudness: 0.05)
    static let plain = byFlac([])
    static let bare = byFlac(["--no-seektable", "--no-padding"])

    /// The head of the file and its frames, as the decoder's own parts find them.
    var frames: (head: FLACHead, places: [Range<Int>], headers: [FLACFrameHeader]) {
        var head = FLACHead(at: 0)
        while let range = head.wanted {
            let end = min(Int(range.upperBound), bytes.count)
            guard (try? head.took(bytes[min(Int(range.lowerBound), end)..<end])) != nil else { break }
        }
        guard let stream = head.stream, let start = head.audioStart else { return (head, [], []) }
        var walk = FLACFrameWalk(stream, at: start, expecting: 0)
        walk.append(Array(bytes[Int(start)...]))
        walk.finish()
        var (places, headers): ([Range<Int>], [FLACFrameHeader]) = ([], [])
        while case .frame(let header, let range) = walk.next() {
            places.append(range.lowerBound + Int(start)..<range.upperBound + Int(start))
            headers.append(header)
        }
        return (head, places, headers)
    }

    /// This file with blocks of varying size: frames of another file of the same music, whose blocks are
    /// longer, replace some runs of its own. The frames state the number of their first sample, or with
    /// `countingFrames` their own number, as those of equal blocks do.
    ///
    /// Its blocks must divide those of 4,096 samples.
    func withVariableBlocks(countingFrames: Bool = false, from start: Int = 4, every step: Int = 8)
        -> MadeFLAC
    {
        let (head, places, headers) = frames
        let whole = MadeFLAC.byFlac(["--blocksize=4096", "--no-seektable", "--no-padding"], wave)
        let (_, longPlaces, longHeaders) = whole.frames
        var result = Array(bytes[..<Int(head.audioStart ?? 0)])
        // The smallest and the largest block.
        let smallest = headers.first?.count ?? 0
        result.replaceSubrange(8..<12, with: [UInt8(smallest >> 8), UInt8(smallest & 0xFF), 0x10, 0x00])
        var index = 0
        var count: Int64 = 0
        while index < headers.count {
            let long = longHeaders.firstIndex { $0.position == headers[index].position }
            let isLong = index % step == start % step && long.map { longHeaders[$0].count == 4_096 } == true
            let number = countingFrames ? count : headers[index].position
            if isLong, let long {
                let frame = Array(whole.bytes[longPlaces[long]])
                result += renumbered(frame, longHeaders[long], as: number, isVariable: !countingFrames)
                index += 4_096 / smallest
            } else {
                let frame = Array(bytes[places[index]])
                result += renumbered(frame, headers[index], as: number, isVariable: !countingFrames)
                index += 1
            }
            count += 1
        }
        let kind = countingFrames ? "numbered variable blocks" : "variable blocks"
        return MadeFLAC(
            testDescription: "\(kind) of \(smallest), every \(step), of \(wave)",
            wave: wave,
            bytes: result
        )
    }

    /// The frames of this file and those of `others`, numbered on, behind the head of this file, which states
    /// no total.
    func changing(to others: [MadeFLAC]) -> [UInt8] {
        let (head, _, headers) = frames
        var result = Array(bytes[..<Int(head.audioStart ?? 0)])
        result[21] &= 0xF0
        result.replaceSubrange(22..<26, with: [0, 0, 0, 0])
        result += bytes[result.count...]
        var number = headers.count
        for other in others {
            let (_, places, headers) = other.frames
            for (place, header) in zip(places, headers) {
                result += renumbered(Array(other.bytes[place]), header, as: Int64(number), isVariable: false)
                number += 1
            }
        }
        return result
    }

    /// The frame `bytes` with `number` in place of its own.
    private func renumbered(_ bytes: [UInt8], _ header: FLACFrameHeader, as number: Int64, isVariable: Bool)
        -> [UInt8]
    {
        let first = bytes[4]
        let length = first < 0x80 ? 1 : (~first).leadingZeroBitCount
        let value = UInt32(number)
        var number: [UInt8] = []
        if value < 0x80 {
            number = [UInt8(value)]
        } else {
            // Four bytes carry 21 bits.
            number = [
                0xF0 | UInt8(value >> 18), 0x80 | UInt8(value >> 12 & 0x3F), 0x80 | UInt8(value >> 6 & 0x3F),
                0x80 | UInt8(value & 0x3F),
            ]
        }
        var result = [bytes[0], isVariable ? bytes[1] | 1 : bytes[1], bytes[2], bytes[3]] + number
        result += bytes[(4 + length)..<(header.byteCount - 1)]
        result.append(FLACFrameHeader.check(result))
        result += bytes[header.byteCount..<bytes.count - 2]
        return result + Self.frameCheck(result)
    }

    /// CRC-16 with the polynomial x¹⁶ + x¹⁵ + x² + 1, which ends a frame.
    static func frameCheck(_ bytes: [UInt8]) -> [UInt8] {
        var value: UInt16 = 0
        for byte in bytes {
            value ^= UInt16(byte) << 8
            for _ in 0..<8 { value = value << 1 ^ (value & 0x8000 != 0 ? 0x8005 : 0) }
        }
        return [UInt8(value >> 8), UInt8(value & 0xFF)]
    }
}

/// A decoder of `bytes`, none of which are stored, or all of them.
func openedFLAC(_ bytes: [UInt8], isStored: Bool = false, seekTable: [UInt8] = []) async throws -> FLACDecoder
{
    let source = MemorySource(bytes, isStored: isStored)
    let decoder = FLACDecoder(ProbedStream(source: source, subject: "song.flac", seekTable: seekTable))
    try await decoder.open()
    return decoder
}
