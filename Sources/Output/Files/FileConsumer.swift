import Glibc
import Media

/// Writes PCM into files, with or without a RIFF header.
final class FileConsumer: FrameConsumer, @unchecked Sendable {
    // Unchecked: only the output's thread touches the variables.

    enum Container {
        case raw
        case wav
    }

    private let container: Container
    private let makeFile: @Sendable (String) throws(MediaError) -> OutputFile
    private var naming: FileNaming
    private var file: OutputFile?
    private var format: AudioFormat?
    private var dataBytes: Int64 = 0
    /// The path of the file that `connect` created, until its first format begins.
    private var preparedPath: String?

    let opensEachTrack: Bool

    init(
        pattern: String,
        container: Container,
        makeFile: @escaping @Sendable (String) throws(MediaError) -> OutputFile = { path throws(MediaError) in
            try OutputFile(creating: path)
        }
    ) {
        #if _endian(big)
            #error("samples are native-endian in memory and little-endian in files; swap them here")
        #endif
        naming = FileNaming(pattern: pattern)
        opensEachTrack = naming.isNumbered
        self.container = container
        self.makeFile = makeFile
    }

    /// Writes samples to standard output, which stays open.
    static func standardOutput() -> FileConsumer {
        FileConsumer(pattern: "standard output", container: .raw) { _ throws(MediaError) in
            OutputFile(borrowing: STDOUT_FILENO, name: "standard output")
        }
    }

    func connect() throws(MediaError) {
        guard file == nil else { return }
        file = try makeFile(naming.firstPath)
        preparedPath = naming.firstPath
    }

    func begin(_ format: AudioFormat) throws(MediaError) {
        switch try naming.opened(format) {
        case .sameFile:
            return
        case .file(let path):
            if path != preparedPath {
                end()
                file = try makeFile(path)
            }
            preparedPath = nil
            self.format = format
            dataBytes = 0
        }
        guard case .wav = container else { return }
        // Until `end`, the header has the largest sizes, which players take for "until the end of the file".
        // So the file still plays if this process is killed.
        let header = WAVHeader(format: format, dataBytes: .max).bytes
        let uninterrupted = Interruption()
        let outcome = header.withUnsafeBytes { bytes in
            Result { () throws(MediaError) in try write(bytes, until: uninterrupted) }
        }
        _ = try outcome.get()
    }

    func consume(_ bytes: UnsafeRawBufferPointer, until interruption: Interruption) throws(MediaError) -> Int
    {
        let written = try write(bytes, until: interruption)
        dataBytes += Int64(written)
        return written
    }

    func end() {
        if case .wav = container, let format {
            file?.rewriteStart(WAVHeader(format: format, dataBytes: dataBytes).bytes)
        }
        file = nil
        format = nil
        preparedPath = nil
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer,
        until interruption: Interruption
    ) throws(MediaError) -> Int {
        guard file != nil else {
            throw MediaError(.sinkFailed, SafeText(naming.pattern), "the file was closed before")
        }
        return try file?.write(bytes, until: interruption) ?? 0
    }
}

/// Chooses the file for a format: one file for all, or, with `%n` in the path, a new numbered file for each
/// track.
struct FileNaming: Sendable {
    let pattern: String
    private var format: AudioFormat?
    private var number = 0

    init(pattern: String) { self.pattern = pattern }

    var isNumbered: Bool { pattern.contains("%n") }

    /// The path of the first file, which is created before any format is known.
    var firstPath: String { path(numbered: 1) }

    enum Choice: Equatable {
        case file(String)
        case sameFile
    }

    /// Returns the file for frames of `next`; throws `.sinkFormat` if one file would have to hold two
    /// formats, or samples that are not of 16 bits.
    mutating func opened(_ next: AudioFormat) throws(MediaError) -> Choice {
        guard next.sample == .s16 else {
            throw MediaError(.sinkFormat, SafeText(pattern), "takes 16-bit samples only")
        }
        defer { format = format ?? next }
        if isNumbered {
            number += 1
            return .file(path(numbered: number))
        }
        guard let format else { return .file(firstPath) }
        guard format == next else { throw refusal(of: next, after: format) }
        return .sameFile
    }

    private func path(numbered number: Int) -> String {
        var path = ""
        var rest = pattern[...]
        while let character = rest.first {
            if rest.hasPrefix("%n") {
                path += String(number)
                rest = rest.dropFirst(2)
            } else {
                path.append(character)
                rest = rest.dropFirst()
            }
        }
        return path
    }

    private func refusal(of next: AudioFormat, after first: AudioFormat) -> MediaError {
        MediaError(
            .sinkFormat,
            SafeText(pattern),
            SafeText(
                "the next track has another format (\(Self.describe(next)) after \(Self.describe(first)));"
                    + " use %n in the path for one file per track"
            )
        )
    }

    private static func describe(_ format: AudioFormat) -> String {
        "\(format.sampleRate) Hz, \(format.channelName)"
    }
}

/// The 44 bytes in front of PCM in a RIFF/WAVE file (Multimedia Programming Interface 1.0, 1991).
struct WAVHeader {
    static let byteCount = 44

    var format: AudioFormat
    /// The number of PCM bytes that follow. Sizes in RIFF have 32 bits: a larger number is written as the largest that
    /// fits, which players take for "until the end of the file".
    var dataBytes: Int64

    var bytes: [UInt8] {
        let behindSize = Int64(Self.byteCount - 8)
        let largest =
            (Int64(UInt32.max) - behindSize) / Int64(format.bytesPerFrame) * Int64(format.bytesPerFrame)
        let data = UInt32(clamping: min(max(dataBytes, 0), largest))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes += "RIFF".utf8
        append(data + UInt32(behindSize), to: &bytes)
        bytes += "WAVEfmt ".utf8
        append(UInt32(16), to: &bytes)
        append(UInt16(1), to: &bytes)  // WAVE_FORMAT_PCM
        append(UInt16(clamping: format.channelCount), to: &bytes)
        append(UInt32(clamping: format.sampleRate), to: &bytes)
        append(UInt32(clamping: format.sampleRate * format.bytesPerFrame), to: &bytes)
        append(UInt16(clamping: format.bytesPerFrame), to: &bytes)
        append(UInt16(format.sample.byteCount * 8), to: &bytes)
        bytes += "data".utf8
        append(data, to: &bytes)
        return bytes
    }

    private func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }
}
