/// What is typed of what servers are told, not yet checked.
struct NetworkText: Equatable {
    var headers: [String] = []
    var userAgent: String?
    var cacert: String?

    /// The options, typed and checked. Reads the files of `--header @FILE`, and sees whether that of
    /// `--cacert` can be read.
    func options() throws(UsageError) -> NetworkOptions {
        var options = NetworkOptions()
        options.userAgent = try userAgent.map { text throws(UsageError) in
            try CheckedValue.check(
                !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F },
                "--user-agent takes one line of text"
            )
            return text
        }
        options.certificateFile = try cacert.map { file throws(UsageError) in
            try Self.certificates(try CheckedValue.text(file, "--cacert needs a file"))
        }
        for argument in headers { options.headers += try Self.headers(argument) }
        return options
    }

    /// `path`, refused where no file can be read: else every server would be, much later.
    private static func certificates(_ path: String) throws(UsageError) -> String {
        do {
            try TextFile.check(path)
        } catch {
            throw UsageError("--cacert \(error)")
        }
        return path
    }

    private static func headers(_ argument: String) throws(UsageError) -> [RequestHeader] {
        guard argument.first == "@" else {
            return [
                try CheckedValue.value(
                    RequestHeader(parsing: argument),
                    "--header takes 'Name: value' or @FILE, and no field like Range that is the player's own"
                )
            ]
        }
        let path = try CheckedValue.text(String(argument.dropFirst()), "--header @ needs a file after it")
        let content: String
        do {
            content = try TextFile.read(path)
        } catch {
            throw UsageError("--header @\(error)")
        }
        switch RequestHeader.parse(file: content) {
        case .success(let headers): return headers
        case .failure(let line):
            throw UsageError("--header @\(path): line \(line.number) is not 'Name: value'")
        }
    }
}
