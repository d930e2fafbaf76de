import Media

/// The tables of a transport stream, which state what its streams are (ISO/IEC 13818-1 §2.4.4). Pure.
struct ProgramTables {
    private static let mostPrograms = 64
    private static let associationStream = 0
    /// A stream that is played.
    struct Sound: Equatable {
        let stream: Int
        /// `true` for AAC in ADTS, `false` for MPEG audio.
        let isAAC: Bool
    }

    /// Types of streams that are played, and if they are AAC.
    private static let played: [UInt8: Bool] = [0x03: false, 0x04: false, 0x0F: true]
    private static let titlesType: UInt8 = 0x15
    private static let privateType: UInt8 = 0x06
    private static let names: [UInt8: SafeText] = [
        0x01: "MPEG video", 0x02: "MPEG video", 0x10: "MPEG-4 video", 0x11: "AAC in LATM", 0x1B: "H.264",
        0x1C: "AAC without ADTS", 0x24: "H.265", 0x81: "AC-3", 0x82: "DTS", 0x84: "E-AC-3", 0x87: "E-AC-3",
        0xC1: "encrypted AC-3 (SAMPLE-AES)", 0xC2: "encrypted E-AC-3 (SAMPLE-AES)",
        0xCF: "encrypted AAC (SAMPLE-AES)", 0xDB: "encrypted H.264 (SAMPLE-AES)",
    ]
    /// The names of private streams by their descriptors.
    private static let privateNames: [UInt8: SafeText] = [
        0x6A: "AC-3", 0x7A: "E-AC-3", 0x7B: "DTS", 0x7C: "AAC in LATM",
    ]

    private var association = SectionWalk()
    /// The sections of each program, by the number of their stream.
    private var programs: [Int: SectionWalk] = [:]
    /// The names of the streams in programs whose sound is not played.
    private var refused: [Int: [SafeText]] = [:]
    /// The program with the sound.
    private var program: Int?
    /// The streams of the sound and of the titles; `nil` if unknown.
    private(set) var sound: Sound?
    private(set) var titles: Int?

    /// Reads `packet`, if it has a table. Throws if no program has sound that is played.
    mutating func receive(_ packet: TransportPacket) throws(Refusal) {
        if packet.stream == Self.associationStream {
            for section in association.receive(packet) { readAssociation(section) }
        } else if let sections = programs[packet.stream]?.receive(packet) {
            for section in sections { try readProgram(packet.stream, section) }
        }
    }

    mutating func forgetCounters() {
        association.counter = PacketCounter()
        for stream in programs.keys { programs[stream]?.counter = PacketCounter() }
    }

    /// Reads the list of programs.
    private mutating func readAssociation(_ section: Section) {
        guard section.table == 0 else { return }
        var listed: [Int] = []
        var reader = BigEndianReader(section.content)
        while let number = reader.next(2), let stream = reader.next(2), listed.count < Self.mostPrograms {
            if number != 0 { listed.append(Int(stream & 0x1FFF)) }
        }
        programs = programs.filter { listed.contains($0.key) }
        refused = refused.filter { listed.contains($0.key) }
        for stream in listed where programs[stream] == nil { programs[stream] = SectionWalk() }
        if let program, programs[program] == nil { self.program = nil }
    }

    /// Reads the list of the streams of `program`.
    private mutating func readProgram(_ program: Int, _ section: Section) throws(Refusal) {
        guard section.table == 2, self.program == nil || self.program == program else { return }
        var reader = BigEndianReader(section.content, at: 2)
        _ = reader.take(Int(reader.next(2) ?? 0) & 0xFFF)
        var playable: [Sound] = []
        var titles: Int?
        var others: [SafeText] = []
        while let type = reader.next(1), let stream = reader.next(2), let length = reader.next(2) {
            let descriptors = reader.take(Int(length & 0xFFF))
            let type = UInt8(type)
            if let isAAC = Self.played[type] {
                playable.append(Sound(stream: Int(stream & 0x1FFF), isAAC: isAAC))
            }
            if type == Self.titlesType { titles = titles ?? Int(stream & 0x1FFF) }
            let name = type == Self.privateType ? Self.name(descriptors) : Self.names[type]
            if let name, !others.contains(name) { others.append(name) }
        }
        guard let first = playable.first else {
            refused[program] = others
            if self.program == nil, refused.count < programs.count { return }
            let all = refused.values.joined()
            let names = all.dropFirst().reduce(all.first ?? "no sound") { $0 + " and " + $1 }
            throw Refusal("MPEG-TS with " + names, played: "MPEG-TS with AAC or MP3")
        }
        self.program = program
        self.titles = titles
        // A stream of the same number may have another codec now.
        if sound.map(playable.contains) != true {
            sound = playable.first { $0.stream == sound?.stream } ?? first
        }
    }

    /// The name of the private stream with `descriptors`; `nil` if they do not state it.
    private static func name(_ descriptors: ArraySlice<UInt8>) -> SafeText? {
        var reader = BigEndianReader(Array(descriptors))
        while let tag = reader.next(1), let length = reader.next(1) {
            let content = reader.take(Int(length))
            if let name = privateNames[UInt8(tag)] { return name }
            if tag == 5, content.starts(with: "Opus".utf8) { return "Opus" }
        }
        return nil
    }
}

/// A section of a table (§2.4.4.3), without the fields that all of them have.
struct Section {
    private static let headByteCount = 8
    private static let checkByteCount = 4

    let table: UInt8
    let content: [UInt8]

    /// `nil` if the section is damaged, not valid yet, or not the first one of its table.
    init?(_ bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count >= Self.headByteCount + Self.checkByteCount, bytes[5] & 1 == 1, bytes[6] == 0,
            Self.check(bytes) == 0
        else { return nil }
        table = bytes[0]
        content = Array(bytes[Self.headByteCount..<bytes.count - Self.checkByteCount])
    }

    /// The CRC of `bytes` (annex A), by Ogg's polynomial; 0 if they end with that of the bytes before.
    static func check(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(UInt32.max) { $0 << 8 ^ OggPage.checksums[Int(UInt8($0 >> 24) ^ $1)] }
    }
}

/// Finds the sections in packets of one stream. Pure.
struct SectionWalk {
    private static let stuffing: UInt8 = 0xFF

    var counter = PacketCounter()
    /// The bytes from the start of a section on; empty if none has begun.
    private var bytes: [UInt8] = []

    /// The sections that `packet` completes.
    mutating func receive(_ packet: TransportPacket) -> [Section] {
        if counter.hasGap(before: packet) { bytes = [] }
        guard packet.isStart else {
            if !bytes.isEmpty { bytes += packet.payload }
            return complete()
        }
        // The first byte states how many bytes of the section before come first.
        let pointer = Int(packet.payload.first ?? 0)
        if !bytes.isEmpty { bytes += packet.payload.dropFirst().prefix(pointer) }
        let before = complete()
        bytes = Array(packet.payload.dropFirst(1 + pointer))
        return before + complete()
    }

    private mutating func complete() -> [Section] {
        var sections: [Section] = []
        while bytes.count >= 3, bytes.first != Self.stuffing {
            let length = Int(bytes[1...2].bigEndianNumber & 0xFFF)
            guard bytes.count >= 3 + length else { return sections }
            if let section = Section(bytes.prefix(3 + length)) { sections.append(section) }
            bytes.removeFirst(3 + length)
        }
        if bytes.first == Self.stuffing { bytes = [] }
        return sections
    }
}
