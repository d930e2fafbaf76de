import Media

/// Puts PCM into files, as bare samples or with a RIFF header.
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
    /// The path of the file that `connect` made and that no format has claimed yet.
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
        // Sizes beyond all bounds until `end`: what players take for "until the end of the file",
        // so that a file whose writer was killed still plays.
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
