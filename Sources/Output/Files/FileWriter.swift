import Glibc
import Media

/// Writes PCM into files, with or without a RIFF header.
final class FileWriter: @unchecked Sendable {
    // Unchecked: only the output's thread touches the variables.

    enum Container {
        case raw
        case wav
    }

    /// The path, in which `%n` stands for the number of the file; `nil` for standard output, which stays open.
    private let pattern: String?
    private let container: Container
    private let name: SafeText
    private var file: OutputFile?
    /// The number of `file`, or of the next file if none is open.
    private var number = 1
    /// The format of the samples in `file`; `nil` until it is known.
    private var format: AudioFormat?
    private var dataBytes: Int64 = 0

    init(pattern: String?, container: Container) {
        #if _endian(big)
            #error("samples are native-endian in memory and little-endian in files; swap them here")
        #endif
        self.pattern = pattern
        self.container = container
        name = pattern.map { SafeText($0) } ?? "standard output"
    }

    /// `true` if each track has a file of its own.
    var isNumbered: Bool { pattern?.contains("%n") == true }

    /// Creates the first file, so that an unwritable folder is detected before the first track.
    func connect() throws(MediaError) {
        if file == nil { try create() }
    }

    private func create() throws(MediaError) {
        if let pattern {
            file = try OutputFile(creating: pattern.replacing("%n", with: String(number)))
        } else {
            file = OutputFile(duplicating: STDOUT_FILENO, name: name)
        }
    }

    /// Declares that the bytes that follow have the format `next`, and begins a new file if files are numbered.
    ///
    /// Throws `.sinkFormat` if one file would have to hold two formats, or samples that are not of 16 bits.
    func begin(_ next: AudioFormat) throws {
        guard next.sample == .s16 else { throw MediaError(.sinkFormat, name, "takes 16-bit samples only") }
        if let format {
            guard isNumbered else {
                guard format == next else { throw refusal(of: next, after: format) }
                return
            }
            end()
            try create()
        }
        format = next
        dataBytes = 0
        guard container == .wav else { return }
        // Until `end`, the header has the largest sizes, which players take for "until the end of the file".
        // So the file still plays if this process is killed.
        let header = WAVHeader(format: next, dataBytes: .max).bytes
        _ = try header.withUnsafeBytes { try append($0, until: nil) }
    }

    /// Writes a prefix of `bytes` and returns its length: all of them, or fewer once `interruption` is raised.
    func write(_ bytes: UnsafeRawBufferPointer, until interruption: Interruption) throws(MediaError) -> Int {
        let written = try append(bytes, until: interruption)
        dataBytes += Int64(written)
        return written
    }

    private func append(
        _ bytes: UnsafeRawBufferPointer,
        until interruption: Interruption?
    ) throws(MediaError) -> Int {
        guard file != nil else { throw MediaError(.sinkFailed, name, "the file was closed before") }
        return try file?.write(bytes, until: interruption) ?? 0
    }

    /// Finishes and closes the file; may be called more than once.
    func end() {
        if let format {
            if container == .wav {
                file?.rewriteStart(WAVHeader(format: format, dataBytes: dataBytes).bytes)
            }
            number += 1
        }
        file = nil
        format = nil
    }

    private func refusal(of next: AudioFormat, after first: AudioFormat) -> MediaError {
        func describe(_ format: AudioFormat) -> String { "\(format.sampleRate) Hz, \(format.channelName)" }
        return MediaError(
            .sinkFormat,
            name,
            SafeText(
                "the next track has another format (\(describe(next)) after \(describe(first)));"
                    + " use %n in the path for one file per track"
            )
        )
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
