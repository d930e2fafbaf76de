import TestSupport
import Testing

@testable import Media

@Suite struct SampleConversionTests {
    /// `samples` as bytes of `target`.
    private func converted<Sample>(_ samples: [Sample], _ source: SampleFormat, to target: SinkSample)
        -> [UInt8]
    {
        let file = UnsafeMutableRawBufferPointer.allocate(byteCount: samples.count * 4 + 1, alignment: 16)
        defer { file.deallocate() }
        let count = samples.withUnsafeBytes { pcm in
            guard let conversion = SampleConversion(from: source, to: target) else {
                file.copyMemory(from: pcm)
                return pcm.count
            }
            return conversion.convert(pcm, into: file)
        }
        #expect(count == samples.count * target.byteCount)
        return Array(file[..<count])
    }

    /// The integers of `bytes`, each of as many bytes as `target` has.
    private func integers(_ bytes: [UInt8], _ target: SinkSample) -> [Int] {
        let width = target.byteCount
        return stride(from: 0, to: bytes.count, by: width).map { index in
            let value = bytes[index..<index + width].reversed().reduce(0) { $0 << 8 | Int($1) }
            return value >= 1 << (8 * width - 1) ? value - 1 << (8 * width) : value
        }
    }

    private func floats(_ bytes: [UInt8]) -> [Float] {
        stride(from: 0, to: bytes.count, by: 4).map { index in
            Float(bitPattern: bytes[index..<index + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
        }
    }

    @Test(
        arguments: [
            (0, 0), (0x7FFF, 0), (0x8000, 0), (0x8001, 1), (0x17FFF, 1), (0x18000, 2), (-0x8000, 0),
            (-0x8001, -1),
            (-0x18000, -2), (-0x28000, -2), (0x7FFF_7FFF, 0x7FFF), (0x7FFF_8000, 0x7FFF), (.max, 0x7FFF),
            (.min, -0x8000),
        ] as [(Int32, Int)]
    )
    func `an integer is rounded to the nearest, a half to the even one, and clipped`(
        sample: Int32,
        expected: Int
    ) {
        #expect(integers(converted([sample], .s32, to: .s16), .s16) == [expected])
    }

    @Test(
        arguments: [
            (0, 0), (1, 0x7FFF), (-1, -0x8000), (0.5 / 0x8000, 0), (1.5 / 0x8000, 2), (-0.5 / 0x8000, 0),
            (-2.5 / 0x8000, -2), (0.75 / 0x8000, 1), (7, 0x7FFF), (-1e30, -0x8000), (.infinity, 0x7FFF),
            (.nan, 0),
        ] as [(Float, Int)]
    )
    func `a floating-point sample is rounded to the nearest, a half to the even one, and clipped`(
        sample: Float,
        expected: Int
    ) {
        #expect(integers(converted([sample], .f32, to: .s16), .s16) == [expected])
    }

    @Test func `every 16-bit sample survives every other kind of sample`() {
        let all = (Int16.min...Int16.max).map { $0 }
        for target in [SinkSample.s16, .s24, .s32] {
            let step = 1 << (8 * target.byteCount - 16)
            #expect(integers(converted(all, .s16, to: target), target) == all.map { Int($0) * step })
        }
        let floats = floats(converted(all, .s16, to: .f32))
        #expect(floats == all.map { Float($0) / 32_768 })
        #expect(integers(converted(floats, .f32, to: .s16), .s16) == all.map { Int($0) })
    }

    @Test func `24 bits survive 32 bits and floating point`() {
        var random = SeededGenerator(seed: 1)
        let samples = (0..<20_000).map { _ in Int32.random(in: -1 << 23..<1 << 23, using: &random) << 8 }
        let expected = samples.map { Int($0) >> 8 }
        #expect(integers(converted(samples, .s32, to: .s24), .s24) == expected)
        let floats = floats(converted(samples, .s32, to: .f32))
        #expect(integers(converted(floats, .f32, to: .s24), .s24) == expected)
        #expect(integers(converted(floats, .f32, to: .s32), .s32) == samples.map { Int($0) })
    }
}
