import System
import TestSupport
import Testing

@Suite struct OptionalLibraryTests {
    @Test func `a library is opened once, however many callers ask for it`() async {
        let count = Locked(0)
        let library = OptionalLibrary {
            count.withLock { $0 += 1 }
            return nil
        }
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { await library.open() } }
            for await reason in group { #expect(reason == nil) }
        }
        #expect(await library.open() == nil)
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `every caller gets the reason of a failure`() async {
        let library = OptionalLibrary { "no such file" }
        #expect(await library.open() == "no such file")
        let again = Locked<String??>(nil)
        library.open { reason in again.withLock { $0 = .some(reason) } }
        #expect(again.withLock { $0 } == .some("no such file"), "a library that was tried answers at once")
    }

    @Test func `libraries are opened one after the other, in the order in which they are asked for`()
        async throws
    {
        let gate = Gate()
        let log = Locked<[String]>([])
        let libraries = ["first", "second", "third"].map { name in
            OptionalLibrary {
                log.withLock { $0.append(name) }
                if name == "first" { gate.wait() }
                return nil
            }
        }
        for (number, library) in libraries.enumerated() {
            library.open { _ in log.withLock { $0.append("\(number) is open") } }
        }
        try await wait(for: "the first") { log.withLock { $0 == ["first"] } }
        gate.open()
        try await wait(for: "all") { log.withLock { $0.count } == 6 }
        let opened = ["first", "0 is open", "second", "1 is open", "third", "2 is open"]
        #expect(log.withLock { $0 } == opened)
    }

    @Test func `a library that is asked for when the thread has ended is opened too`() async {
        for _ in 0..<50 { #expect(await OptionalLibrary { nil }.open() == nil) }
    }
}
