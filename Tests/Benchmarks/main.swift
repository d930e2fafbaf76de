// Figures of this machine, each as the median of some runs: `make bench`. Asserts nothing.

func measureAll() async throws -> FigureTable {
    var table = FigureTable()
    try await CacheScale.measure(into: &table)
    try await LineLatency.measure(into: &table)
    return table
}

print(try await measureAll().text)
