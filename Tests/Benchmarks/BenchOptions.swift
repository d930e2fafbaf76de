/// What is to be measured, as the command line says.
struct BenchOptions: Equatable {
    enum Task: Equatable {
        /// Everything, or with fewer rounds and without what takes long.
        case table(isQuick: Bool)
        /// Only what is a count, checked.
        case counts
        /// One piece of code again and again, for those who count its instructions.
        case micro(name: String, repetitions: Int)
    }

    static let usage = """
        usage: Benchmarks [--quick] [--json FILE] [--readme FILE] [--only WORD] [--peers none]
               Benchmarks counts
               Benchmarks micro NAME REPETITIONS
        """

    var task = Task.table(isQuick: false)
    /// Where the values go besides the table.
    var json = ".build/bench.json"
    /// A README whose section of numbers is made anew.
    var readme: String?
    /// Only the parts whose name holds this word.
    var only = ""
    var hasPeers = true

    /// Nil for words that are none of `usage`.
    init?(_ words: [String]) {
        var rest = words[...]
        if rest.first == "micro" {
            guard rest.count == 3, let repetitions = Int(words[2]) else { return nil }
            task = .micro(name: words[1], repetitions: repetitions)
            return
        }
        if rest.first == "counts" {
            task = .counts
            rest = rest.dropFirst()
        }
        while let word = rest.popFirst() {
            switch word {
            case "--quick": task = .table(isQuick: true)
            case "--json":
                guard let value = rest.popFirst() else { return nil }
                json = value
            case "--readme":
                guard let value = rest.popFirst() else { return nil }
                readme = value
            case "--only":
                guard let value = rest.popFirst() else { return nil }
                only = value
            case "--peers":
                guard rest.popFirst() == "none" else { return nil }
                hasPeers = false
            default: return nil
            }
        }
    }
}
