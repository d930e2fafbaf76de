import Testing

@testable import Benchmarks

struct NumbersSectionTests {
    private let section = NumbersSection(
        tables: "| a |",
        date: "2026-01-02",
        machine: "2 × processor",
        target: "bench-quick"
    )

    @Test func `the section of the README is replaced, and nothing around it`() throws {
        let old = "# Reprise\n\ntext\n\n## Numbers\n\nold\n\n### more of old\n\n## Tests\n\nlast\n"
        let new = try #require(section.replacing(in: old))
        #expect(new.hasPrefix("# Reprise\n\ntext\n\n## Numbers\n\nAs measured on 2026-01-02 by"))
        #expect(new.hasSuffix("\n\n| a |\n\n## Tests\n\nlast\n"))
        #expect(!new.contains("old") && new.contains("`make bench-quick BENCH="))
        #expect(section.replacing(in: new) == new)
    }

    @Test func `a README without the section is left alone`() {
        #expect(section.replacing(in: "# Reprise\n\n## Tests\n") == nil)
        #expect(section.replacing(in: "## Numbers\n\nthe end\n") == nil)
    }
}
