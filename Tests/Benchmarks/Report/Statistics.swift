/// What some measured values come to: the middle one, and how far apart they lie.
struct Statistics: Equatable {
    var median: Double
    var least: Double
    var most: Double

    /// Nil for no values at all. Of an even number the lower of the two in the middle is taken: a value that
    /// was really measured.
    init?(_ values: [Double]) {
        let sorted = values.sorted()
        guard let least = sorted.first, let most = sorted.last else { return nil }
        median = sorted[(sorted.count - 1) / 2]
        self.least = least
        self.most = most
    }
}
