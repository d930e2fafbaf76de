import Testing

@testable import HTTP

@Suite struct AES128Tests {
    /// NIST SP 800-38A §F.2.2.
    @Test func `blocks are decrypted with the block before them`() async throws {
        let key = hex("2b7e151628aed2a6abf7158809cf4f3c")
        let vector = hex("000102030405060708090a0b0c0d0e0f")
        let cipher = hex("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2")
        let plain = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
        #expect(try await AES128.decrypt(cipher[...], key: key, vector: vector) == plain)
        let second = try await AES128.decrypt(cipher[16...], key: key, vector: Array(cipher[..<16]))
        #expect(second == Array(plain[16...]))
        #expect(try await AES128.decrypt([], key: key, vector: vector).isEmpty)
    }

    private func hex(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.count, by: 2).map { index in
            let start = text.index(text.startIndex, offsetBy: index)
            return UInt8(text[start..<text.index(start, offsetBy: 2)], radix: 16) ?? 0
        }
    }
}
