import Media
import System
import TestSupport
import Testing

@testable import Playback

@Suite struct InboxTests {
    @Test(
        arguments: [
            (.by(.seconds(5)), .by(.seconds(5)), .by(.seconds(10))),
            (.by(.seconds(-5)), .by(.seconds(-5)), .by(.seconds(-10))),
            (.by(.seconds(-500)), .by(.seconds(5)), nil),
            (.by(.seconds(5)), .to(.seconds(9)), .to(.seconds(9))),
            (.to(.seconds(9)), .by(.seconds(5)), nil),
            (.percent(10), .percent(20), .percent(20)),
            (.to(.seconds(9)), .percent(20), nil),
        ] as [(SeekTarget, SeekTarget, SeekTarget?)]
    )
    func `two seeks are merged only if one seek leads to the same position`(
        first: SeekTarget,
        second: SeekTarget,
        expected: SeekTarget?
    ) {
        #expect(first.merged(with: second) == expected)
    }

    @Test func `twenty waiting seeks are merged, but not across another input`() async {
        let inbox = Inbox()
        for _ in 0..<20 { inbox.put(.command(.seek(.by(.seconds(5))))) }
        inbox.put(.tick)
        inbox.put(.command(.seek(.by(.seconds(5)))))
        var taken: [String] = []
        for _ in 0..<3 {
            switch await inbox.next() {
            case .command(.seek(.by(let distance))): taken.append("seek by \(distance.components.seconds)")
            case .tick: taken.append("tick")
            default: taken.append("other")
            }
        }
        #expect(taken == ["seek by 100", "tick", "seek by 5"])
    }

    /// The commands that `state` still has, in the order in which it gives them.
    private func taken(from state: inout InboxState) -> [PlayerCommand] {
        var commands: [PlayerCommand] = []
        while let input = state.take() { if let command = input.command { commands.append(command) } }
        return commands
    }

    @Test func `quit overtakes what waits, and in its turn it overtakes nothing`() {
        var state = InboxState()
        for command in [PlayerCommand.play, .pause] { state.append(.command(command)) }
        state.put(.command(.quit))
        state.put(.command(.stop))
        #expect(taken(from: &state) == [.quit, .play, .pause, .stop])
        for command in [PlayerCommand.play, .save("a"), .pause] { state.append(.command(command)) }
        state.put(.command(.quit))
        #expect(taken(from: &state) == [.save("a"), .quit, .play, .pause])
        for command in [PlayerCommand.play, .quit, .pause] { state.append(.scripted(command)) }
        #expect(taken(from: &state) == [.play, .quit, .pause])
    }

    @Test func `seeks that are answered are not merged`() {
        var state = InboxState()
        for distance in [1, 2] { state.append(.scripted(.seek(.by(.seconds(distance))), answer: { _ in })) }
        #expect(taken(from: &state) == [.seek(.by(.seconds(1))), .seek(.by(.seconds(2)))])
    }

    @Test func `a command without room is not taken, and does not wait`() {
        let inbox = Inbox()
        for _ in 0..<InboxState.mostCommands { #expect(inbox.offerInTurn(.play) { _ in }) }
        #expect(!inbox.offerInTurn(.play) { _ in } && inbox.count == InboxState.mostCommands)
    }

    @Test func `inputs come out in their order, however adding and taking alternate`() {
        var state = InboxState()
        var random = SeededGenerator(seed: 1)
        var added = 0
        var taken = 0
        for _ in 0..<2_000 {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                state.put(.command(.jump(added)))
                added += 1
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) where taken < added {
                guard case .command(.jump(taken)) = state.take() else {
                    Issue.record("not \(taken)")
                    return
                }
                taken += 1
            }
            #expect(state.count == added - taken)
        }
    }

    // If an input cost as much as the inputs that wait, this would take hours.
    @Test(.timeLimit(.minutes(1))) func `an input costs the same however many wait`() {
        var state = InboxState()
        for number in 0..<1_000_000 { state.put(.command(.jump(number))) }
        for number in 0..<1_000_000 {
            guard case .command(.jump(number)) = state.take() else {
                Issue.record("not \(number)")
                return
            }
        }
        #expect(state.count == 0)
    }

    @Test func `a script has room for 1000 commands, those that are not carried out yet included`() {
        var state = InboxState()
        for number in 0..<999 { state.append(.command(.jump(number))) }
        state.append(.tick)
        #expect(state.hasRoom)
        state.unfinished = 1
        #expect(!state.hasRoom)
        _ = state.take()
        #expect(state.hasRoom)
        state.unfinished = 1_000
        #expect(!state.hasRoom)
        // Nobody waits for a player that has ended.
        #expect(state.close().count == 999)
        #expect(state.hasRoom)
        state.append(.tick)
        #expect(state.count == 0)
    }

    @Test func `a script waits for room, and neither a key nor a signal does`() async throws {
        let inbox = Inbox()
        let script = WorkThread(name: "script")
        defer { script.stop() }
        script.submit { for number in 0..<1_500 { inbox.putInTurn(.jump(number)) } }
        try await wait(for: "a full inbox") { inbox.count == InboxState.mostCommands }
        inbox.put(.command(.stop))
        inbox.put(.command(.quit))
        guard case .command(.quit) = await inbox.next() else {
            Issue.record("quit waits")
            return
        }
        var taken: [PlayerCommand] = []
        while taken.count < 1_501 {
            if let command = await inbox.next()?.command { taken.append(command) }
        }
        #expect(taken.filter { $0 != .stop } == (0..<1_500).map { .jump($0) })
    }
}
