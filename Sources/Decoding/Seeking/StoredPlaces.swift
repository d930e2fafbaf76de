/// The known places of a stream in the form that is stored with its entry, which is the same for all formats.
///
/// It consists of a magic number with the version, a check of the key that identifies the stream, the numbers
/// that the format adds, the places, and a check of all that. A decoder that finds another form or version
/// makes the table again.
struct StoredPlaces {
    typealias Place = PlaceTable.Place

    private static let mark: [UInt8] = Array("RPL".utf8) + [2]

    /// In rising order of both position and offset.
    let places: [Place]
    /// Numbers that the format adds, such as the length of the music. None is negative.
    let numbers: [Int64]

    init(_ places: [Place], adding numbers: [Int64] = []) {
        self.places = places
        self.numbers = numbers
    }

    /// The form to store for the stream `key`; empty if no place is known.
    func bytes(for key: [Int64]) -> [UInt8] {
        guard !places.isEmpty else { return [] }
        var bytes = Self.start(for: key)
        StoredNumbers.append(numbers + [Int64(places.count)], to: &bytes)
        Self.append(places.map(\.position), to: &bytes)
        Self.append(places.map(\.offset), to: &bytes)
        return bytes + StoredNumbers.check(of: bytes[...])
    }

    /// Parses the result of `bytes(for:)`; `nil` if a byte was changed, or if it is not of the stream `key`.
    ///
    /// No value is trusted: the places may be wrong, but they are at most `most`, rise, and their offsets are
    /// below `end`, if that is known.
    init?(
        _ bytes: [UInt8],
        for key: [Int64],
        adding count: Int = 0,
        atMost most: Int = PlaceTable.mostPlaces,
        before end: Int64?
    ) {
        let start = Self.start(for: key)
        guard var rest = StoredNumbers.checked(bytes), rest.starts(with: start) else { return nil }
        rest = rest.dropFirst(start.count)
        numbers = (0..<count).compactMap { _ in StoredNumbers.take(&rest) }
        let farthest = PlaceTable.farthest
        guard numbers.count == count, let places = StoredNumbers.take(&rest), places <= Int64(most),
            let positions = Self.takeColumn(of: Int(places), below: farthest, &rest),
            let offsets = Self.takeColumn(of: Int(places), below: min(end ?? farthest, farthest), &rest),
            rest.isEmpty
        else { return nil }
        self.places = zip(positions, offsets).map { Place(position: $0, offset: $1) }
    }

    private static func start(for key: [Int64]) -> [UInt8] {
        var bytes: [UInt8] = []
        StoredNumbers.append(key, to: &bytes)
        return mark + StoredNumbers.check(of: bytes[...])
    }

    /// Appends for each of `values`, which rise, the difference between the step to it and the step before,
    /// which is small if frames have about the same length. A difference is written as an even number; an odd
    /// number *n* stands for (*n* - 1) / 2 differences of 0.
    private static func append(_ values: [Int64], to bytes: inout [UInt8]) {
        var value: Int64 = 0
        var step: Int64 = 0
        var zeros: Int64 = 0
        for next in values {
            let difference = next - value - step
            step = next - value
            value = next
            if difference == 0 {
                zeros += 1
                continue
            }
            if zeros > 0 { StoredNumbers.append([zeros << 1 | 1], to: &bytes) }
            zeros = 0
            // Zigzag encoding: small differences of either sign become small numbers.
            StoredNumbers.append([(difference < 0 ? -2 * difference - 1 : 2 * difference) << 1], to: &bytes)
        }
        if zeros > 0 { StoredNumbers.append([zeros << 1 | 1], to: &bytes) }
    }

    /// Removes `count` values from `bytes`; `nil` unless they rise from 0 or more and stay below `end`.
    private static func takeColumn(of count: Int, below end: Int64, _ bytes: inout ArraySlice<UInt8>)
        -> [Int64]?
    {
        var values: [Int64] = []
        var value: Int64 = 0
        var step: Int64 = 0
        while values.count < count {
            guard let code = StoredNumbers.take(&bytes) else { return nil }
            let repeats = code & 1 == 1 ? code >> 1 : 1
            if code & 1 == 0 {
                let folded = code >> 1
                step += folded & 1 == 1 ? -(folded / 2) - 1 : folded / 2
            }
            guard repeats > 0, repeats <= Int64(count - values.count) else { return nil }
            for _ in 0..<repeats {
                guard step >= (values.isEmpty ? 0 : 1), step < end - value else { return nil }
                value += step
                values.append(value)
            }
        }
        return values
    }
}
