import Media
import Testing

@testable import Decoding

/// An open decoder of the file `bytes`, none of which are stored, or all of them.
func openedPCM(_ bytes: [UInt8], isStored: Bool = false) async throws -> PCMDecoder {
    let decoder = PCMDecoder(MemorySource(bytes, isStored: isStored))
    try await decoder.open()
    return decoder
}

/// The reason why the file `bytes` is refused.
func refusalOfPCM(_ bytes: [UInt8]) async -> SafeText? {
    let error = await #expect(throws: MediaError.self) { try await openedPCM(bytes) }
    #expect(error?.code == .notAudio)
    return error?.cause
}
