/// A WAV file of seeded noise, with the PCM that it must play as.
package struct MadeWave: Sendable, Hashable, CustomStringConvertible {
    package enum Samples: Int, Sendable, CaseIterable {
        case u8, s16, s24, s32, f32, f64

        package var byteCount: Int { [1, 2, 3, 4, 4, 8][rawValue] }
        var isFloat: Bool { self == .f32 || self == .f64 }
    }

    /// How the header states the samples.
    package enum Header: Hashable, Sendable { case plain, extensible(mask: UInt32) }

    package var samples: Samples
    package var channels: Int
    package var rate: Int
    package var frames: Int
    package var seed: UInt64
    /// The largest sample; 1 is full scale.
    package var loudness = 1.0
    package var header = Header.plain
    /// The upper bits of a sample that are used, which the extensible header states; `nil` for all of them.
    package var validBits: Int?
    /// Chunks in front of the samples and after them.
    package var before: [UInt8]
    package var after: [UInt8]
    /// The size that the chunk of the samples states; `nil` for the real one.
    package var statedSize: UInt32?
    package var mark = "RIFF"

    package init(
        samples: Samples = .s16,
        channels: Int = 2,
        rate: Int = 8_000,
        frames: Int = 8_000 * 12,
        seed: UInt64 = 1,
        loudness: Double = 1,
        before: [UInt8] = [],
        after: [UInt8] = []
    ) {
        self.samples = samples
        self.channels = channels
        self.rate = rate
        self.frames = frames
        self.seed = seed
        self.loudness = loudness
        self.before = before
        self.after = after
    }

    package var description: String { "WAV \(samples), \(channels) channels, \(rate) Hz" }

    /// The samples: integers of 32 bits, of which the file has the upper ones, and the PCM too.
    package var numbers: [Int32] {
        var random = SeededGenerator(seed: seed)
        let mask = Int32(truncatingIfNeeded: Int64(-1) << Int64(32 - (validBits ?? 32)))
        return (0..<frames * channels).map { _ in
            let number = Int32(truncatingIfNeeded: random.next())
            return (loudness == 1 ? number : Int32(Double(number) * loudness)) & mask
        }
    }

    /// The samples as the file has them.
    package var data: [UInt8] {
        Self.bytes(of: numbers, width: samples.byteCount) { number in
            switch samples {
            case .u8: UInt64(UInt8(truncatingIfNeeded: number >> 24) &+ 0x80)
            case .f32: UInt64(Self.float(number).bitPattern)
            case .f64: (Double(number) / 0x8000_0000).bitPattern
            case .s16, .s24, .s32: UInt64(UInt32(bitPattern: number) >> UInt32(32 - 8 * samples.byteCount))
            }
        }
    }

    /// The PCM that the file must play as: integers of 16 bits up to that size, of 32 above, and floating
    /// point.
    package var pcm: [UInt8] {
        Self.bytes(of: numbers, width: samples == .u8 || samples == .s16 ? 2 : 4) { number in
            switch samples {
            case .u8: UInt64(UInt16(truncatingIfNeeded: (number >> 24) << 8))
            case .s16: UInt64(UInt16(truncatingIfNeeded: number >> 16))
            case .s24: UInt64(UInt32(bitPattern: number & ~0xFF))
            case .s32: UInt64(UInt32(bitPattern: number))
            case .f32, .f64: UInt64(Self.float(number).bitPattern)
            }
        }
    }

    /// The `width` lowest bytes of the bits of each number.
    private static func bytes(of numbers: [Int32], width: Int, bits: (Int32) -> UInt64) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: numbers.count * width) { buffer, count in
            for number in numbers {
                let bits = bits(number)
                for byte in 0..<width {
                    buffer[count + byte] = UInt8(truncatingIfNeeded: bits >> UInt64(8 * byte))
                }
                count += width
            }
        }
    }

    private static func float(_ number: Int32) -> Float { Float(number) / 0x8000_0000 }

    /// The whole file.
    package var bytes: [UInt8] {
        let data = data
        let size = statedSize ?? UInt32(data.count)
        let content =
            Array("WAVE".utf8) + before + chunk("fmt ", fields) + Array("data".utf8) + little(UInt64(size), 4)
            + data
            + [UInt8](repeating: 0, count: data.count % 2) + after
        return Array(mark.utf8) + little(UInt64(mark == "RIFF" ? content.count : 0xFFFF_FFFF), 4) + content
    }

    /// The content of `fmt `.
    private var fields: [UInt8] {
        let codec: UInt64 = samples.isFloat ? 3 : 1
        let bits = little(UInt64(samples.byteCount * 8), 2)
        let frame = UInt64(channels * samples.byteCount)
        func common(_ codec: UInt64) -> [UInt8] {
            little(codec, 2) + little(UInt64(channels), 2) + little(UInt64(rate), 4)
                + little(UInt64(rate) * frame, 4) + little(frame, 2) + bits
        }
        guard case .extensible(let mask) = header else { return common(codec) }
        let valid = validBits.map { little(UInt64($0), 2) } ?? bits
        return common(0xFFFE) + [22, 0] + valid + little(UInt64(mask), 4)
            + little(codec, 2) + [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
    }
}

/// A chunk of a RIFF file, padded, which states `size`, by default its real one.
package func chunk(_ name: String, _ content: [UInt8], size: UInt32? = nil) -> [UInt8] {
    Array(name.utf8) + little(UInt64(size ?? UInt32(content.count)), 4) + content
        + [UInt8](repeating: 0, count: content.count % 2)
}

/// A chunk with tags.
package func informationList(_ items: [(name: String, text: String)]) -> [UInt8] {
    chunk("LIST", Array("INFO".utf8) + items.flatMap { chunk($0.name, Array($0.text.utf8) + [0]) })
}

/// The lowest `count` bytes of `value`, the lowest first.
package func little(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
}
