internal import Glibc
package import Media
package import System

/// The user names and passwords that are sent besides those of URLs and `.netrc`: those that the user has
/// entered in this session, and those that earlier sessions have kept in a file.
///
/// A request that a server refuses for the lack of a log-in waits here for the user's answer. Nothing of a
/// log-in leaves this class except to its server and into the file.
package final class Logins: LoginControl {
    private struct Guarded {
        var state: LoginState
        /// The requests that wait for the answer to a question, by its number.
        var waiting: [Int: [OneShot<Bool>]] = [:]
    }

    /// The longest file that is read, in bytes.
    private static let longestFile = 1 << 20

    private let file: String?
    private let guarded: Locked<Guarded>
    private let observers = Observers<Void>()

    /// Reads the log-ins in `file`, where they are kept too, if there is one. With `asks`, there is a screen
    /// to ask on.
    package init(keptIn file: String?, asks: Bool) {
        self.file = file
        let kept = file.flatMap { Self.read($0) } ?? NetrcFile()
        guarded = Locked(Guarded(state: LoginState(asks: asks, canKeep: file != nil, kept: kept)))
    }

    /// An empty file if there is none; `nil` if it can't be read or parsed.
    private static func read(_ path: String) -> NetrcFile? {
        let descriptor = open(FileName.cString(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? NetrcFile() : nil }
        defer { close(descriptor) }
        guard let bytes = try? WholeFile.read(descriptor, limit: longestFile) else { return nil }
        return NetrcFile(parsing: String(decoding: bytes, as: UTF8.self))
    }

    // MARK: Requests

    func login(for url: WebURL) -> WebURL.UserInfo? { guarded.withLock { $0.state.login(for: url) } }

    func refused(_ refusal: LoginRefusal) -> LoginState.Step {
        let (step, isNew) = guarded.withLock { guarded in
            let before = guarded.state.question
            let step = guarded.state.refused(refusal)
            return (step, guarded.state.question != before)
        }
        if isNew { observers.send(()) }
        return step
    }

    /// Waits for the answer to the question `number`; `true` if it is a log-in. Returns early, with `false`,
    /// if the task is cancelled; the question stays.
    func waitForAnswer(to number: Int, from url: WebURL) async -> Bool {
        let answer = OneShot<Bool>()
        let early: Bool? = guarded.withLock { guarded in
            guard guarded.state.isAsking(number) else { return guarded.state.login(for: url) != nil }
            guarded.waiting[number, default: []].append(answer)
            return nil
        }
        if let early { return early }
        return await answer.wait(ifCancelled: false)
    }

    /// The user has named `url` as a source: its server may ask, even if it was declined before.
    package func named(_ url: WebURL) { guarded.withLock { $0.state.named(url) } }

    // MARK: Questions

    package var question: LoginQuestion? { guarded.withLock { $0.state.question } }

    package func answer(_ number: Int, _ answer: LoginAnswer) throws(MediaError) {
        let (origin, waiting) = guarded.withLock { guarded in
            (guarded.state.answered(number, answer), guarded.waiting.removeValue(forKey: number) ?? [])
        }
        defer {
            for request in waiting { request.give(answer != .declined) }
            observers.send(())
        }
        guard let origin, case .login(let login, isKept: true) = answer else { return }
        try keep(login, for: origin)
    }

    package func observe(_ observer: @escaping @Sendable () -> Void) -> Observation {
        observers.add { observer() }
    }

    private func keep(_ login: WebURL.UserInfo, for origin: String) throws(MediaError) {
        guard let file else { return }
        let subject = SafeText(file)
        // Read again, since another player may have changed it.
        guard var kept = Self.read(file) else {
            throw MediaError(.unreadable, subject, "can't parse it; mend or remove it")
        }
        kept.set(login, for: origin)
        do {
            // A folder that can't be made shows itself when the file can't be.
            for end in file.indices.dropFirst() where file[end] == "/" {
                mkdir(FileName.cString(String(file[..<end])), 0o700)
            }
            try WholeFile.replace(file, with: kept.text.utf8, mode: 0o600)
        } catch {
            throw MediaError(.unreadable, subject, SafeText(error.reason))
        }
    }
}
