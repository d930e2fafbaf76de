import Glibc
import Media
import System
import Testing

@testable import Reprise

@Suite
struct CommandReaderTests {
    /// The commands and notices of an input that ends after `text`.
    private func read(_ text: String) -> (commands: [PlayerCommand], notices: [PlayerEvent]) {
        let pipe = PipeEnds()
        pipe.send(text)
        pipe.closeWriting()
        let player = RecordingPlayer()
        let notices = Locked<[PlayerEvent]>([])
        CommandReader.read(descriptor: pipe.reading, control: player) { event in
            notices.withLock { $0.append(event) }
        }
        #expect(player.commands.isEmpty, "a line overtakes others")
        return (player.turns, notices.withLock { $0 })
    }

    @Test func `each line is a command, with either line end and without the last`() {
        let (commands, notices) = read("pause\r\nseek +5\n\n  \nadd my file.mp3\nquit")
        #expect(commands == [.pause, .seek(.by(.seconds(5))), .add("my file.mp3"), .quit])
        #expect(notices.isEmpty && read("").commands.isEmpty)
    }

    @Test func `a line that is no command becomes a notice and reading goes on`() {
        let (commands, notices) = read("fly\nplay\n")
        #expect(commands == [.play])
        #expect(notices == [.notice(code: "bad-command", message: "Unknown command \"fly\"")])
    }

    @Test func `each line is announced before it is read, so that a flood can be stopped`() {
        let pipe = PipeEnds()
        pipe.send("play\nfly\npause")
        pipe.closeWriting()
        let player = RecordingPlayer()
        var seen: [Int] = []
        CommandReader.read(descriptor: pipe.reading, control: player) { _ in
            seen.append(player.turns.count)
        } report: { _ in
        }
        #expect(seen == [0, 1, 1])
    }

    @Test func `a line that is too long is refused whole and the next is taken`() {
        var splitter = LineSplitter()
        let long = [UInt8](repeating: UInt8(ascii: "a"), count: LineSplitter.longestByteCount + 1)
        #expect(splitter.append(long).isEmpty)
        #expect(splitter.append(Array("\nplay\n".utf8)) == [nil, "play"])
        #expect(splitter.finish().isEmpty)
    }

    @Test func `bytes may come in any pieces`() {
        var splitter = LineSplitter()
        var lines: [String?] = []
        for byte in Array("é\r\nb".utf8) { lines += splitter.append([byte]) }
        #expect(lines + splitter.finish() == ["é", "b"])
    }
}
