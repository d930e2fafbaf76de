import System
import Testing

struct ObserversTests {
    private let log = EventLog()

    @Test func `observers are called in the order in which they were added`() {
        let observers = Observers<Int>()
        for name in ["first", "second", "third"] { _ = observers.add { [log] in log.add("\(name) \($0)") } }
        observers.send(1)
        #expect(log.lines == ["first 1", "second 1", "third 1"])
    }

    @Test(arguments: [0, 1, 2], [1, 2])
    func `an observer that was removed is not called any more, the others still are`(place: Int, times: Int) {
        let observers = Observers<Int>()
        let observations = (0..<3).map { number in observers.add { [log] in log.add("\(number): \($0)") } }
        observers.send(7)
        for _ in 0..<times { observations[place].end() }
        observers.send(8)
        #expect(log.lines.count == 5 && !log.lines.contains("\(place): 8"))
    }

    @Test func `an observer may remove itself, and add another one, while it is called`() {
        let observers = Observers<Void>()
        let own = LateBound<Observation>()
        own.value = observers.add { [log] in
            log.add("once")
            own.value?.end()
            _ = observers.add { log.add("from then on") }
        }
        for _ in 1...3 { observers.send(()) }
        #expect(log.lines == ["once", "from then on", "from then on"])
    }

    @Test func `an observation does not hold what it observes`() {
        var observers: Observers<Int>? = Observers()
        weak let held = observers
        let observation = observers?.add { _ in }
        observers = nil
        #expect(held == nil)
        observation?.end()
    }
}

private final class EventLog: Sendable {
    private let state = Locked<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    func add(_ line: String) { state.withLock { $0.append(line) } }
}
