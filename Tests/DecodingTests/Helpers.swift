import Decoding
import Media
import Testing

/// Decodes from where `decoder` stands, to the end or until there are `limit` samples.
func decodeRest(_ decoder: any AudioDecoder, limit: Int = .max) async throws -> [Int16] {
    Array(try await decodeOn(decoder, atLeast: limit).prefix(limit))
}

/// Decodes from where `decoder` stands, to the end or until there are at least `limit` samples; returns all
/// of them.
func decodeOn(_ decoder: any AudioDecoder, atLeast limit: Int) async throws -> [Int16] {
    let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
    defer { pcm.deallocate() }
    var samples: [Int16] = []
    while samples.count < limit {
        switch try await decoder.decode(into: pcm) {
        case .frames(let count):
            let given = UnsafeRawBufferPointer(rebasing: pcm[..<(count * decoder.info.format.bytesPerFrame)])
            samples.append(contentsOf: given.bindMemory(to: Int16.self))
        case .formatChanged: continue
        case .end: return samples
        }
    }
    return samples
}

/// Decodes from where `decoder` stands, to the end or until there are `limit` bytes of PCM.
func decodeBytes(_ decoder: any AudioDecoder, atMost limit: Int = .max) async throws -> [UInt8] {
    try await decoder.open()
    let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 48_000, alignment: 16)
    defer { pcm.deallocate() }
    var bytes: [UInt8] = []
    while bytes.count < limit, case .frames(let count) = try await decoder.decode(into: pcm) {
        bytes += pcm[..<(count * decoder.info.format.bytesPerFrame)]
    }
    return Array(bytes.prefix(limit))
}

/// Expects equal samples or bytes. `#expect` itself would look for the shortest edit between millions of
/// them.
func expectSame<Element: Equatable>(
    _ left: some Sequence<Element>,
    _ right: some Sequence<Element>,
    _ place: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let left = Array(left)
    let right = Array(right)
    guard left != right else { return }
    let index = zip(left, right).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    let difference = index.map { "differ at \($0)" } ?? "lengths \(left.count) and \(right.count)"
    Issue.record("\(place) \(difference)", sourceLocation: sourceLocation)
}

/// Expects samples that differ by at most `limit`.
func expectNear(
    _ left: [Int16],
    _ right: some Collection<Int16>,
    within limit: Int,
    _ place: String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let worst = zip(left, right).lazy.map { abs(Int($0) - Int($1)) }.max() ?? 0
    #expect(
        left.count == right.count && worst <= limit,
        "\(place): off by \(worst)",
        sourceLocation: sourceLocation
    )
}

extension MPEGDecoder {
    convenience init(_ bytes: [UInt8]) { self.init(source: MemorySource(bytes)) }

    convenience init(source: any ByteSource, subject: SafeText = "song.mp3", seekTable: [UInt8] = []) {
        self.init(ProbedStream(source: source, subject: subject, seekTable: seekTable))
    }

    /// This decoder after `open`.
    func opened() async throws -> MPEGDecoder {
        try await open()
        return self
    }
}

/// `content` of a stored seek table, followed by its checksum.
func checked(_ content: [UInt8]) -> [UInt8] {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in content { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return content + (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
}
