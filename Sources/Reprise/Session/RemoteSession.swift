import Desktop
import Glibc
import Media
import System

/// Sends commands to the player that runs, and prints its events, on the thread of the caller, which waits.
struct RemoteSession {
    private enum End: Error {
        /// The player closed the connection.
        case playerEnded
        case done(ExitCode)
    }

    private let request: RemoteRequest
    private let descriptor: Int32
    private var input: [UInt8] = []
    /// The index in `input` at which the next event begins.
    private var start = 0
    /// `true` while the player carries out a command.
    private var isSending = false
    /// The number of the commands that were sent.
    private var sentCount = 0
    /// `true` once the event that is waited for has come.
    private var sawAwaited = false
    /// `true` once nobody reads what is printed.
    private var isUnread = false
    /// Why the player has refused the command at hand.
    private var refusal: SafeText?
    /// The last notice since it was sent: it says why the command has failed.
    private var notice: SafeText?
    /// The longest pause of the player before it answers a command. It may be stopped by Ctrl-Z.
    private static let longestPause = Duration.seconds(10)

    static func run(_ request: RemoteRequest) -> ExitCode {
        let folder = BasePaths.runtimeFolder.map { SocketFolder(runtimeFolder: $0) }
        guard let descriptor = folder?.connect(to: request.process) else {
            Messages.show("No player to control: none runs with a screen or with --socket")
            return .couldNotStart
        }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, 0)
        var session = RemoteSession(request: request, descriptor: descriptor)
        do throws(End) {
            for line in request.lines { try session.send(line) }
            while !session.isUnread, request.awaited != nil ? !session.sawAwaited : request.follows {
                _ = try session.receive()
            }
            return .success
        } catch {
            if case .done(let code) = error { return code }
            let isDone = session.sentCount == request.lines.count && request.awaited == nil
            if isDone, request.lines.last == "quit" || (request.follows && !session.isSending) {
                return .success
            }
            Messages.show("The player has ended")
            return .couldNotStart
        }
    }

    private init(request: RemoteRequest, descriptor: Int32) {
        self.request = request
        self.descriptor = descriptor
    }

    /// Sends a command, and returns once it was carried out.
    private mutating func send(_ line: String) throws(End) {
        do {
            try WholeFile.write(FileName.bytes(of: line) + [UInt8(ascii: "\n")], to: descriptor)
        } catch {
            // The last word of the player may say why.
            while true { _ = try receive() }
        }
        sentCount += 1
        isSending = true
        notice = nil
        while try receive() != "answered" {}
        isSending = false
    }

    /// Waits for the next event, prints it if it is to be printed, and returns its name.
    private mutating func receive() throws(End) -> Substring {
        let line = try nextLine()
        let name = line.dropFirst(#"{"event":""#.count).prefix { $0 != "\"" }
        if name == "answered" {
            guard line.hasSuffix("true}") else {
                Messages.show(refusal ?? notice ?? "The player has refused the command")
                throw .done(.nothingPlayed)
            }
            return name
        }
        let isRefusal =
            isSending
            && ["bad-command", "not-seekable"].contains { line.contains(#","code":"\#($0)","#) }
        if isRefusal { refusal = Self.message(of: line) }
        if name == "notice" { notice = Self.message(of: line) }
        if line.contains(#","code":"client-dropped","#) {
            Messages.show(Self.message(of: line))
            throw .done(.couldNotStart)
        }
        let isAwaited = !isRefusal && request.awaited.map { name == $0 } ?? false
        let answers = ["track", "position", "paused", "loaded", "status", "list"]
        let isAnswer = isSending && request.printsAnswers && answers.contains(String(name))
        if !isUnread, request.follows || isAwaited || isAnswer { try show(line) }
        // The commands behind the one that brings it are sent, too.
        if isAwaited { sawAwaited = true }
        return name
    }

    private mutating func show(_ line: String) throws(End) {
        do {
            try WholeFile.write((line + "\n").utf8, to: STDOUT_FILENO)
        } catch {
            isUnread = true
            guard error.number != EPIPE else { return }
            Messages.show(SafeText("Can't write the events: \(error.reason)"))
            throw .done(.couldNotStart)
        }
    }

    /// The message of a notice, the last field of its JSON.
    static func message(of line: String) -> SafeText {
        var text = ""
        var rest = line.split(separator: #""message":""#, maxSplits: 1).last?.dropLast(2) ?? ""
        while let character = rest.popFirst() {
            guard character == "\\", let escaped = rest.popFirst() else {
                text.append(character)
                continue
            }
            guard escaped == "u" else {
                text.append(escaped)
                continue
            }
            let scalar = UInt32(rest.prefix(4), radix: 16).flatMap { Unicode.Scalar($0) }
            rest = rest.dropFirst(4)
            if let scalar { text.unicodeScalars.append(scalar) }
        }
        return SafeText(text)
    }

    private mutating func nextLine() throws(End) -> String {
        var searched = start
        while true {
            if let end = input[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return String(decoding: input[start..<end], as: UTF8.self)
            }
            input.removeFirst(start)
            start = 0
            searched = input.count
            if isSending, Poll.wait(reading: [descriptor], atMost: Self.longestPause)?.first == 0 {
                Messages.show("The player does not answer: it is stopped, or too busy")
                throw .done(.couldNotStart)
            }
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            let count = retryingInterrupted { read(descriptor, &buffer, buffer.count) }
            guard count > 0 else { throw .playerEnded }
            input += buffer[..<count]
        }
    }
}
