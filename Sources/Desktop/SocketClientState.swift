import System

/// The lines of one client on their way to the player, and the events on their way to the client. Pure.
///
/// The lines are carried out one at a time, and none before nearly all of the last answer was sent. So a
/// client that sends lines faster than it reads answers has to wait, and takes no memory. A client that does
/// not read its events is dropped.
struct SocketClientState {
    /// A line of the client; `nil` if it was too long.
    struct Line: Equatable {
        var text: String?
    }

    /// A client is dropped at the next event if more bytes than this wait for it: the events of half an hour.
    static let mostUnreadEvents = 256 * 1024
    /// Pieces of a line are made once less than this is left to be sent.
    private static let pieceByteCount = 16 * 1024

    private enum Item {
        /// Lines of events; all clients share the bytes of one.
        case lines([UInt8])
        /// A line in pieces, so that that of a long queue is never in memory as a whole.
        case pieces(AnyIterator<String>)
    }

    private var splitter = LineSplitter()
    /// The lines that were read and not carried out; reversed, the next one is the last.
    private var lines: [Line] = []
    private var isInputOver = false
    /// `true` while the player carries out a line.
    private(set) var isAnswering = false
    /// Behind `unsent`, in their order; those before `next` have moved there.
    private var items: [Item] = []
    private var next = 0
    /// The byte counts of `items` from `next` on, pieces not included.
    private var waitingByteCount = 0
    /// The number of answers in `items` from `next` on.
    private var answerCount = 0
    /// The line of which `unsent` has the first pieces.
    private var cut: AnyIterator<String>?
    /// The bytes to be sent next.
    private(set) var unsent: ArraySlice<UInt8> = []
    /// `true` once the client gets nothing more but its last word.
    private(set) var isDropped = false
    /// `true` once nothing can be sent any more.
    private var isGone = false

    // MARK: Lines

    /// `true` if bytes of the client may be received now.
    var wantsInput: Bool { !isInputOver && !isDropped && lines.isEmpty }

    /// `true` if the client is to be neither read nor written now.
    var isIdle: Bool { !wantsInput && unsent.isEmpty && !isGone }

    mutating func received(_ bytes: some Sequence<UInt8>) { append(splitter.append(bytes)) }

    /// The client sends nothing more. Its last line may lack a line end, unless the input `isCutOff`: if the
    /// client was killed, that line is not whole.
    mutating func inputEnded(isCutOff: Bool = false) {
        isInputOver = true
        if !isCutOff { append(splitter.finish()) }
    }

    private mutating func append(_ texts: [String?]) {
        let new = texts.filter { $0?.allSatisfy(\.isWhitespace) != true }.map { Line(text: $0) }
        lines = new.reversed() + lines
    }

    /// `true` if the next line may be carried out now.
    var hasLine: Bool { !lines.isEmpty && !isAnswering && cut == nil && answerCount == 0 }

    /// Removes and returns the next line; `nil` unless `hasLine`. Later, `answered` has to follow.
    mutating func popLine() -> Line? {
        guard hasLine else { return nil }
        isAnswering = true
        return lines.popLast()
    }

    mutating func answered() { isAnswering = false }

    // MARK: Events

    /// Adds the line of an event. If too many were not read, drops the client with `lastWord` instead.
    mutating func add(_ event: [UInt8], lastWord: @autoclosure () -> [UInt8]) {
        guard unsent.count + waitingByteCount > Self.mostUnreadEvents else { return append(event) }
        if !isDropped, !isGone { drop(lastWord()) }
    }

    /// Adds a line of an answer, without its line end.
    mutating func add(answer: AnyIterator<String>) {
        guard !isDropped, !isGone else { return }
        items.append(.pieces(answer))
        answerCount += 1
        fill()
    }

    private mutating func append(_ line: [UInt8]) {
        guard !isDropped, !isGone else { return }
        items.append(.lines(line))
        waitingByteCount += line.count
        fill()
    }

    private mutating func drop(_ lastWord: [UInt8]) {
        isDropped = true
        lines = []
        forgetItems()
        if exchange(&cut, with: nil) != nil { unsent.append(UInt8(ascii: "\n")) }
        unsent += lastWord
    }

    /// These bytes of `unsent` were sent.
    mutating func sent(_ count: Int) {
        unsent.removeFirst(count)
        fill()
    }

    /// Nothing can be sent any more. The lines that were received are still carried out.
    mutating func outputFailed() {
        isGone = true
        cut = nil
        unsent = []
        forgetItems()
    }

    /// `true` if the connection can be closed.
    var isOver: Bool {
        if isDropped { return unsent.isEmpty }
        return isGone && isInputOver && lines.isEmpty && !isAnswering
    }

    private mutating func forgetItems() {
        items = []
        next = 0
        waitingByteCount = 0
        answerCount = 0
    }

    /// Moves lines and pieces to `unsent`, unless enough is there.
    private mutating func fill() {
        while unsent.count < Self.pieceByteCount {
            if let line = cut {
                if let piece = line.next() {
                    unsent += piece.utf8
                } else {
                    unsent.append(UInt8(ascii: "\n"))
                    cut = nil
                }
            } else if next < items.count {
                switch items[next] {
                case .lines(let bytes):
                    waitingByteCount -= bytes.count
                    // The bytes of the only line are shared.
                    if unsent.isEmpty { unsent = bytes[...] } else { unsent += bytes }
                case .pieces(let line):
                    answerCount -= 1
                    cut = line
                }
                next += 1
                if next == items.count {
                    forgetItems()
                } else if next * 2 >= items.count {
                    // A client may always stay a little behind.
                    items.removeFirst(next)
                    next = 0
                }
            } else {
                return
            }
        }
    }
}
