import Glibc
import Media

/// Writes PCM into files, with or without a RIFF header.
final class FileWriter: @unchecked Sendable {
    // Unchecked: only the output's thread touches the variables.

    enum Container {
        case raw
        case wav
    }

    /// The path, in which `%n` stands for the number of the file; `nil` for standard output, which stays
    /// open.
    private let pattern: String?
    private let container: Container
    let sample: SinkSample
    private let name: SafeText
    private var file: OutputFile?
    /// The paths of the files created by this writer, which may be replaced; no other file may.
    private var created: Set<String> = []
    /// The number of `file`, or of the next file if none is open.
    private var number = 1
    /// The format of the first music in `file`; later music may differ only in its sample format. `nil` until
    /// it is known.
    private var format: AudioFormat?
    private var dataBytes: Int64 = 0

    init(pattern: String?, container: Container, sample: SinkSample) {
        #if _endian(big)
            #error("samples are native-endian in memory and little-endian in files; swap them here")
        #endif
        self.pattern = pattern
        self.container = container
        self.sample = sample
        name = pattern.map { SafeText($0) } ?? "standard output"
    }

    /// `true` if each track has a file of its own.
    var isNumbered: Bool { pattern?.contains("%n") == true }

    /// Creates the first file, so that an unwritable folder is detected before the first track.
    func connect() throws(MediaError) { if file == nil { try create() } }

    private func create() throws(MediaError) {
        if let pattern {
            let path = pattern.replacing("%n", with: String(number))
            file = try OutputFile(creating: path, replaces: created.contains(path))
            created.insert(path)
        } else {
            file = OutputFile(duplicating: STDOUT_FILENO, name: name)
        }
    }

    /// Declares that the samples that follow are music of the format `next`, and begins a new file if files
    /// are numbered.
    ///
    /// Throws `.sinkFormat` if one file would have to hold two rates, or other channels.
    func begin(_ next: AudioFormat) throws {
        if let format {
            guard isNumbered else {
                guard format.sampleRate == next.sampleRate, format.channels == next.channels else {
                    throw refusal(of: next, after: format)
                }
                return
            }
            end()
            try create()
        }
        format = next
        dataBytes = 0
        if container == .wav {
            // Until `end`, the header states the largest sizes, which players understand as "until the end of
            // the file", so that the file still plays if this process is killed.
            let header = WAVHeader(format: next, sample: sample, dataBytes: .max).bytes
            _ = try header.withUnsafeBytes { try write($0, until: nil) }
            // The header is no data.
            dataBytes = 0
        }
    }

    /// Writes a prefix of `bytes` and returns its length: all of them, or fewer once `interruption` is
    /// raised.
    func write(_ bytes: UnsafeRawBufferPointer, until interruption: Interruption?) throws(MediaError) -> Int {
        guard file != nil else { throw MediaError(.sinkFailed, name, "the file was closed before") }
        let written = try file?.write(bytes, until: interruption) ?? 0
        dataBytes += Int64(written)
        return written
    }

    /// Finishes and closes the file; may be called more than once.
    func end() {
        if let format {
            if container == .wav {
                let header = WAVHeader(format: format, sample: sample, dataBytes: dataBytes).bytes
                // A chunk of odd length is followed by a byte that its size does not count.
                if dataBytes % 2 == 1 { _ = try? [UInt8(0)].withUnsafeBytes { try write($0, until: nil) } }
                file?.rewriteStart(header)
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

/// The bytes in front of PCM in a RIFF/WAVE file (Multimedia Programming Interface 1.0, 1991).
struct WAVHeader {
    /// The music; the file has `sample` instead of its samples.
    var format: AudioFormat
    var sample: SinkSample
    /// The number of PCM bytes that follow. Sizes in RIFF have 32 bits: a larger number is written as the
    /// largest that fits, which players take for "until the end of the file".
    var dataBytes: Int64

    var bytes: [UInt8] {
        let fields = formatFields
        // `WAVE`, and two heads of chunks.
        let behindSize = Int64(4 + 8 + fields.count + 8)
        let largest = (Int64(UInt32.max) - behindSize - 1) / Int64(bytesPerFrame) * Int64(bytesPerFrame)
        let data = UInt32(clamping: min(max(dataBytes, 0), largest))
        var bytes = Array("RIFF".utf8)
        append(data + data % 2 + UInt32(behindSize), to: &bytes)
        bytes += "WAVEfmt ".utf8
        append(UInt32(fields.count), to: &bytes)
        bytes += fields + "data".utf8
        append(data, to: &bytes)
        return bytes
    }

    private var bytesPerFrame: Int { format.channelCount * sample.byteCount }

    /// The content of the chunk `fmt `.
    private var formatFields: [UInt8] {
        let codec: UInt16 = sample == .f32 ? 3 : 1  // WAVE_FORMAT_IEEE_FLOAT, WAVE_FORMAT_PCM
        let bits = UInt16(sample.byteCount * 8)
        // Only WAVE_FORMAT_EXTENSIBLE states the order of channels, and only it may have floating point
        // without a chunk `fact`.
        let isExtensible = format.channelCount > 2 || sample == .f32
        var fields: [UInt8] = []
        append(isExtensible ? 0xFFFE : codec, to: &fields)
        append(UInt16(clamping: format.channelCount), to: &fields)
        append(UInt32(clamping: format.sampleRate), to: &fields)
        append(UInt32(clamping: format.sampleRate * bytesPerFrame), to: &fields)
        append(UInt16(clamping: bytesPerFrame), to: &fields)
        append(bits, to: &fields)
        guard isExtensible else { return fields }
        append(UInt16(22), to: &fields)
        append(bits, to: &fields)
        append(ChannelPosition.mask(of: format.channels), to: &fields)
        append(codec, to: &fields)
        // The rest of KSDATAFORMAT_SUBTYPE_PCM and KSDATAFORMAT_SUBTYPE_IEEE_FLOAT.
        return fields + [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
    }

    private func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }
}
