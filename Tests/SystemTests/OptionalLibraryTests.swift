import System
import TestSupport
import Testing

@Suite struct OptionalLibraryTests {
    @Test func `a library is opened once, whoever asks and however often`() async {
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

    @Test func `the reason of a failure is what every caller gets`() async {
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
        let story = Locked<[String]>([])
        let tell = { @Sendable (text: String) in story.withLock { $0.append(text) } }
        let first = OptionalLibrary {
            tell("first begins")
            gate.wait()
            tell("first ends")
            return nil
        }
        let others = ["second", "third"].map { name in
            OptionalLibrary {
                tell(name)
                return nil
            }
        }
        let done = Locked(0)
        for library in [first] + others { library.open { _ in done.withLock { $0 += 1 } } }
        try await wait(for: "the first") { story.withLock { $0 == ["first begins"] } }
        #expect(done.withLock { $0 } == 0)
        gate.open()
        try await wait(for: "all") { done.withLock { $0 } == 3 }
        #expect(story.withLock { $0 } == ["first begins", "first ends", "second", "third"])
    }

    @Test func `a library that is asked for when the thread has ended is opened too`() async {
        for _ in 0..<50 { #expect(await OptionalLibrary { nil }.open() == nil) }
    }
}
