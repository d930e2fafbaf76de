import Media
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
}
