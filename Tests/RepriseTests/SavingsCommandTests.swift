@testable import Cache
@testable import Media
import TestSupport
import Testing

@testable import Reprise

/// The output of `reprise cache savings`.
@Suite struct SavingsCommandTests {
    private var cache: FixedCache {
        var cache = FixedCache()
        cache.saved.today = HeardBytes(heard: 4_000_000, saved: 4_000_000)
        cache.saved.month = HeardBytes(heard: 4_940_000_000, saved: 4_100_000_000)
        cache.saved.total = HeardBytes(heard: 100_000_000_000, saved: 9_000_000_000)
        cache.saved.hosts = [
            Savings.Host(name: "music.example", total: HeardBytes(heard: 9_000_000, saved: 9_000_000)),
            Savings.Host(name: "radio.example", total: HeardBytes(heard: 91_000_000_000)),
        ]
        return cache
    }

    @Test func `savings are said by day, month, in all, and by server`() async throws {
        #expect(
            try await CommandRun(.savings, cache: cache).output == [
                "  4.0 MB  100 %  today", "  4.1 GB   82 %  this month", "  9.0 GB    9 %  in all",
                "  9.0 MB  100 %  music.example", "     0 B    0 %  radio.example",
            ]
        )
        #expect(
            try await CommandRun(.savings, cache: cache, isJSON: true).output == [
                #"{"today":{"saved":4000000,"heard":4000000},"month":{"saved":4100000000,"heard":4940000000},"#
                    + #""total":{"saved":9000000000,"heard":100000000000},"hosts":["#
                    + #"{"host":"music.example","saved":9000000,"heard":9000000},"#
                    + #"{"host":"radio.example","saved":0,"heard":91000000000}]}"#
            ]
        )
    }
}
