import Decoding
import Media

/// Decodes from where `decoder` stands, to the end or until `limit` samples are there.
func decodeRest(_ decoder: any AudioDecoder, limit: Int = .max) async throws -> [Int16] {
    Array(try await decodeOn(decoder, atLeast: limit).prefix(limit))
}

/// Decodes from where `decoder` stands, to the end or until at least so many samples are there; gives all of them.
func decodeOn(_ decoder: any AudioDecoder, atLeast limit: Int) async throws -> [Int16] {
    let pcm = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 8_192)
    defer { pcm.deallocate() }
    var samples: [Int16] = []
    while samples.count < limit {
        switch try await decoder.decode(into: pcm) {
        case .frames(let count):
            samples.append(contentsOf: pcm.prefix(count * decoder.info.format.channelCount))
        case .formatChanged: continue
        case .end: return samples
        }
    }
    return samples
}

extension MPEGDecoder {
    convenience init(_ bytes: [UInt8]) {
        self.init(source: MemorySource(bytes), subject: "song.mp3")
    }
}
