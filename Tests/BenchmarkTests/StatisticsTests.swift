import Testing

@testable import Benchmarks

struct StatisticsTests {
    @Test(
        arguments: [
            (values: [3.0, 1, 2], median: 2.0, least: 1.0, most: 3.0),
            (values: [4, 1, 3, 2], median: 2, least: 1, most: 4),
            (values: [5], median: 5, least: 5, most: 5),
        ] as [(values: [Double], median: Double, least: Double, most: Double)]
    )
    func `the median is a value that was measured, between the least and the most`(
        values: [Double],
        median: Double,
        least: Double,
        most: Double
    ) throws {
        let statistics = try #require(Statistics(values))
        #expect(statistics.median == median)
        #expect(statistics.least == least)
        #expect(statistics.most == most)
    }

    @Test func `no values have no median`() { #expect(Statistics([]) == nil) }
}
