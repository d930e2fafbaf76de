/// Serves the requests of one connection, one after the other.
struct OriginConnection {
    let socket: StreamSocket
    let origin: Origin

    /// Returns when the connection has ended; the socket is closed after that.
    func serve() async {
        let number = origin.log.connected()
        defer { origin.log.disconnected() }
        do {
            try await charge(origin.shaping.connectionCost)
            var buffer: [UInt8] = []
            while let head = try await readHead(&buffer) {
                guard let request = RequestHead(parsing: head) else {
                    try await socket.write(Self.refusal(400).head)
                    break
                }
                guard try await answer(request, number: origin.log.received(request, on: number)) else {
                    break
                }
            }
        } catch {
            // The client has left or the origin is stopping; the log has recorded it.
        }
        socket.shutDown()
        await SocketWaiting.settle()
    }

    /// The next head without its empty line; `nil` at the end, and after a head that is too long.
    private func readHead(_ buffer: inout [UInt8]) async throws -> ArraySlice<UInt8>? {
        while true {
            while buffer.first == 0x0D || buffer.first == 0x0A { buffer.removeFirst() }
            if let end = Self.endOfHead(buffer) {
                let head = buffer[..<end.lowerBound]
                buffer = Array(buffer[end.upperBound...])
                return head
            }
            guard buffer.count < RequestHead.longest else {
                try await socket.write(Self.refusal(431).head)
                return nil
            }
            guard let bytes = try await socket.read(atMost: 16 * 1024) else { return nil }
            buffer += bytes
        }
    }

    /// The empty line that ends a head, with or without carriage returns.
    private static func endOfHead(_ buffer: [UInt8]) -> Range<Int>? {
        var index = 0
        while let feed = buffer[index...].firstIndex(of: 0x0A) {
            if feed + 1 < buffer.count, buffer[feed + 1] == 0x0A { return feed + 1..<feed + 2 }
            if feed + 2 < buffer.count, buffer[feed + 1] == 0x0D, buffer[feed + 2] == 0x0A {
                return feed + 1..<feed + 3
            }
            index = feed + 1
        }
        return nil
    }

    private static func refusal(_ status: Int) -> Answer {
        Answer(
            status: status,
            fields: [HTTPField("Content-Length", "0"), HTTPField("Connection", "close")],
            body: .none
        )
    }

    /// Answers one request. Returns `true` if the connection continues.
    private func answer(_ request: RequestHead, number: Int) async throws -> Bool {
        var outcome = LoggedRequest.Outcome.cut
        defer { origin.log.ended(number, outcome) }
        do {
            let faults = origin.nextFaults(for: request.path)
            let representation = origin.representation(of: request.path)?.changed(by: faults, for: request)
            let answer = Answer(to: request, with: representation, faults: faults)
            for gate in origin.gates(for: request.path) where gate.place == .beforeHead {
                try await wait(at: gate, number)
            }
            try await charge(origin.shaping.roundTrip)
            if answer.isSilent { try await stall(number) }
            origin.log.answering(number, with: answer)
            try await sendHead(answer.head, for: request.path, number)
            guard try await sendBody(of: answer, representation, for: request, number) else { return false }
            outcome = .finished
            return !answer.closes
        } catch is ClientLeft {
            outcome = .aborted
            throw ClientLeft()
        }
    }

    /// Sends the head in the pieces that the gates permit.
    private func sendHead(_ head: [UInt8], for path: String, _ number: Int) async throws {
        var rest = head[...]
        while !rest.isEmpty {
            let granted = try await leave(toSend: rest.count, of: .head, for: path, number)
            try await socket.write(Array(rest.prefix(granted)))
            rest = rest.dropFirst(granted)
        }
    }

    /// Sends the body. Returns `true` if all of it was sent.
    private func sendBody(
        of answer: Answer,
        _ representation: Representation?,
        for request: RequestHead,
        _ number: Int
    ) async throws -> Bool {
        let length = answer.length
        var sent: Int64 = 0
        while sent < length {
            var most = min(length - sent, Int64(origin.shaping.slice))
            switch answer.interruption {
            case .cut(let count):
                if sent >= count { return false }
                most = min(most, count - sent)
            case .stall(let count):
                if sent >= count { try await stall(number) }
                most = min(most, count - sent)
            case nil: break
            }
            let granted = try await leave(toSend: Int(most), of: .body, for: request.path, number)
            if granted == 0 { continue }
            let bytes = Self.bytes(of: answer.body, representation, at: sent, count: granted)
            // The file was truncated meanwhile, so the promised length cannot be sent.
            guard bytes.count == granted else { return false }
            try await origin.waitForLine(granted)
            try await send(bytes, of: answer, number)
            sent += Int64(granted)
        }
        if answer.framing == .chunked { try await socket.write(Array("0\r\n\r\n".utf8)) }
        return true
    }

    private func send(_ bytes: ArraySlice<UInt8>, of answer: Answer, _ number: Int) async throws {
        if answer.framing == .chunked {
            try await socket.write(Array((String(bytes.count, radix: 16) + "\r\n").utf8))
        }
        let isResource: Bool
        switch answer.body {
        case .resource, .pattern: isResource = true
        case .none, .page: isResource = false
        }
        var rest = bytes
        while !rest.isEmpty {
            // Checked before every write, since the first write to a client that has left would succeed.
            if socket.clientHasLeft { throw ClientLeft() }
            let sending = origin.log.sending(number, countsForResource: isResource) { socket.trySend(rest) }
            switch sending {
            case .sent(let count): rest = rest.dropFirst(count)
            case .wouldBlock: try await socket.waitUntilWritable()
            case .clientLeft: throw ClientLeft()
            }
        }
        if answer.framing == .chunked { try await socket.write([0x0D, 0x0A]) }
    }

    private static func bytes(
        of body: Answer.Body,
        _ representation: Representation?,
        at offset: Int64,
        count: Int
    ) -> ArraySlice<UInt8> {
        switch body {
        case .none: []
        case .page(let page): page[Int(offset)..<Int(offset) + count]
        case .resource(let range):
            representation?.source.bytes(at: range.lowerBound + offset, count: count) ?? []
        case .pattern(let pattern, let range):
            (0..<Int64(count)).map { pattern[Int((range.lowerBound + offset + $0) % Int64(pattern.count))] }[
                ...
            ]
        }
    }

    /// Asks every gate to permit up to `count` bytes. If one is closed, waits for it and returns 0.
    private func leave(
        toSend count: Int,
        of part: OriginGate.Part,
        for path: String,
        _ number: Int
    ) async throws -> Int {
        var granted = count
        var passed: [OriginGate] = []
        for gate in origin.gates(for: path) {
            let taken = gate.take(upTo: granted, of: part, for: number)
            for other in passed { other.giveBack(granted - taken, of: part, for: number) }
            granted = taken
            if granted == 0 {
                try await wait(at: gate, toSend: part, number)
                return 0
            }
            passed.append(gate)
        }
        return granted
    }

    private enum Wake {
        case passed
        case clientLeft
        /// The client sent more bytes, so its leaving can no longer be detected.
        case blind
    }

    /// Waits until `gate` permits bytes; throws `ClientLeft` if the client leaves first.
    private func wait(at gate: OriginGate, toSend part: OriginGate.Part? = nil, _ number: Int) async throws {
        origin.log.held(number, true)
        let clientHasLeft = await withTaskGroup(of: Wake.self) { group in
            group.addTask {
                await gate.passage(for: number, of: part)
                return .passed
            }
            group.addTask { await socket.waitUntilClientLeaves() ? .clientLeft : .blind }
            var wake = await group.next()
            if wake == .blind { wake = await group.next() }
            group.cancelAll()
            return wake == .clientLeft
        }
        origin.log.held(number, false)
        if clientHasLeft { throw ClientLeft() }
        try Task.checkCancellation()
    }

    /// Sends nothing until the client leaves or the origin stops.
    private func stall(_ number: Int) async throws -> Never {
        let never = OriginGate(path: nil, place: .beforeHead)
        try await wait(at: never, number)
        preconditionFailure("only leaving or stopping ends a gate that nobody releases")
    }

    private func charge(_ cost: Duration) async throws {
        if cost > .zero { try await Task.sleep(for: cost) }
    }
}
