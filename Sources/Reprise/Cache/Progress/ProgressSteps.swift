/// When a progress is told again where no terminal can draw over it: at every tenth. Pure.
struct ProgressSteps: Sendable {
    private var toldTenths = 0

    /// The percents to tell now that `done` of `total` is there; nil where a line has nothing new to say.
    mutating func percent(done: Int64, total: Int64) -> Int? {
        guard total > 0 else { return nil }
        let tenths = Int(max(0, min(1, Double(done) / Double(total))) * 10)
        guard tenths > toldTenths else { return nil }
        toldTenths = tenths
        return tenths * 10
    }
}
