import Testing

@testable import Desktop

/// A dialogue with the buffers of one client.
@Suite struct SocketClientTests {
    private func answer(_ pieces: String...) -> AnyIterator<String> { AnyIterator(pieces.makeIterator()) }

    private func line(_ count: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: "x"), count: count - 1) + [10]
    }

    /// Sends all that waits, as a client that reads gets it.
    private func read(_ client: inout SocketClientState) -> String {
        var text = ""
        while !client.unsent.isEmpty {
            // In pieces of any length.
            let piece = client.unsent.prefix(7)
            text += String(decoding: piece, as: UTF8.self)
            client.sent(piece.count)
        }
        return text
    }

    @Test func `lines are carried out one at a time, in their order, and blank ones not at all`() {
        var client = SocketClientState()
        client.received("play\r\n\n  \nsta".utf8)
        #expect(client.popLine() == .init(text: "play"))
        #expect(client.popLine() == nil && client.isAnswering)
        client.received("tus\nlist".utf8)
        client.inputEnded()
        client.answered()
        #expect(client.popLine() == .init(text: "status"))
        client.answered()
        #expect(client.popLine() == .init(text: "list"))
        client.answered()
        #expect(client.popLine() == nil && !client.isOver)
    }

    @Test func `the last line of a client that was killed is not whole`() {
        var client = SocketClientState()
        client.received("play\nremove 1".utf8)
        client.inputEnded(isCutOff: true)
        #expect(client.popLine() == .init(text: "play"))
        client.answered()
        #expect(!client.hasLine)
    }

    @Test func `what a client has read is forgotten, though it is always a little behind`() {
        final class Queue {}
        var client = SocketClientState()
        client.add(line(20_000), lastWord: [])
        weak var queue: Queue?
        do {
            let long = Queue()
            queue = long
            client.add(
                answer: AnyIterator {
                    withExtendedLifetime(long) { nil }
                }
            )
        }
        for _ in 1...3 { client.add(line(20_000), lastWord: []) }
        #expect(queue != nil)
        client.sent(20_000)
        #expect(queue == nil && !client.unsent.isEmpty)
    }

    @Test func `no more is received while lines wait`() {
        var client = SocketClientState()
        client.received("play\nnext\n".utf8)
        _ = client.popLine()
        #expect(!client.wantsInput)
        client.answered()
        _ = client.popLine()
        #expect(client.wantsInput)
        client.inputEnded()
        #expect(!client.wantsInput)
    }

    @Test func `an answer and events are sent in their order, and an answer of pieces as one line`() {
        var client = SocketClientState()
        client.add(Array("a\n".utf8), lastWord: [])
        client.add(answer: answer("[1", ",2", "]"))
        client.add(Array("b\n".utf8), lastWord: [])
        #expect(read(&client) == "a\n[1,2]\nb\n")
    }

    @Test func `the next line waits until the answer to the last one was nearly all sent`() {
        var client = SocketClientState()
        client.received("list\nplay\n".utf8)
        _ = client.popLine()
        let piece = String(repeating: "x", count: 10_000)
        client.add(answer: answer(piece, piece, piece))
        client.answered()
        #expect(client.unsent.count < 30_000 && client.popLine() == nil)
        _ = read(&client)
        #expect(client.popLine() == .init(text: "play"))
    }

    @Test func `a client that does not read is dropped with a word behind whole lines`() {
        var client = SocketClientState()
        let count = 40_000
        for _ in 0...SocketClientState.mostUnreadEvents / count { client.add(line(count), lastWord: []) }
        #expect(!client.isDropped)
        client.received("play\n".utf8)
        client.add(line(count), lastWord: Array("dropped\n".utf8))
        client.add(line(count), lastWord: Array("again\n".utf8))
        #expect(client.isDropped && !client.isOver && !client.wantsInput && client.popLine() == nil)
        let lines = read(&client).split(separator: "\n")
        #expect(lines.last == "dropped" && lines.dropLast().allSatisfy { $0.count == count - 1 })
        #expect(client.isOver)
    }

    @Test func `a long answer that is not read ends with its line before the last word`() {
        var client = SocketClientState()
        client.add(answer: answer(String(repeating: "x", count: 20_000), "rest"))
        while !client.isDropped { client.add(line(40_000), lastWord: Array("dropped\n".utf8)) }
        #expect(read(&client).hasSuffix("xx\ndropped\n"))
    }

    @Test func `one event may be longer than all that may wait`() {
        var client = SocketClientState()
        client.add(line(1_000_000), lastWord: [])
        #expect(!client.isDropped && read(&client).utf8.count == 1_000_000)
    }

    @Test func `the lines of a client that is gone are still carried out`() {
        var client = SocketClientState()
        client.received("play\nnext\n".utf8)
        client.inputEnded()
        client.outputFailed()
        client.add(line(10), lastWord: [])
        #expect(client.unsent.isEmpty)
        for text in ["play", "next"] {
            #expect(!client.isOver && client.popLine() == .init(text: text))
            client.answered()
        }
        #expect(client.isOver)
    }

    @Test func `a line that is too long is one line, and takes bounded memory`() {
        var client = SocketClientState()
        for _ in 1...100 { client.received(repeatElement(UInt8(ascii: "a"), count: 4096)) }
        #expect(client.popLine() == nil)
        client.received("\nplay\n".utf8)
        #expect(client.popLine() == .init(text: nil))
    }
}
