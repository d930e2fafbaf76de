import Decoding
import Media

/// Decodes from where `decoder` stands, to the end or until `limit` samples are there.
func decodeRest(_ decoder: any AudioDecoder, limit: Int = .max) async throws -> [Int16] {
    Array(try await decodeOn(decoder, atLeast: limit).prefix(limit))
}

/// Decodes from where `decoder` stands, to the end or until at least so many samples are there; gives all of them.
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

extension MPEGDecoder {
    convenience init(_ bytes: [UInt8]) { self.init(source: MemorySource(bytes)) }

    convenience init(source: any ByteSource, subject: SafeText = "song.mp3", seekTable: [UInt8] = []) {
        self.init(ProbedStream(source: source, subject: subject, seekTable: seekTable))
    }
}
