import Testing

@testable import Benchmarks

struct BenchOptionsTests {
    @Test func `no word measures everything, and words choose`() throws {
        #expect(BenchOptions([])?.task == .table(isQuick: false))
        let options = try #require(
            BenchOptions(
                "--quick --json a.json --report b.md --only keys --peers none".split(separator: " ").map(
                    String.init
                )
            )
        )
        #expect(options.task == .table(isQuick: true))
        #expect(options.json == "a.json" && options.report == "b.md")
        #expect(options.only == "keys")
        #expect(!options.hasPeers)
        #expect(BenchOptions(["counts"])?.task == .counts)
        #expect(BenchOptions(["micro", "ring", "20"])?.task == .micro(name: "ring", repetitions: 20))
    }

    @Test(arguments: [
        ["--fast"], ["--json"], ["micro"], ["micro", "ring"], ["micro", "ring", "x"], ["--peers", "some"],
    ])
    func `other words are refused`(words: [String]) { #expect(BenchOptions(words) == nil) }

    @Test func `a count holds within its bounds, and says so`() {
        #expect(Counted("requests", 1, atMost: 1).holds)
        #expect(!Counted("requests", 2, atMost: 1).holds)
        #expect(!Counted("sounds", 0, atLeast: 1).holds)
        #expect(Counted("requests", 2, atMost: 1).text == "FAILED requests: 2, at most 1")
    }
}
