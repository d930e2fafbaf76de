import Media
import TestSupport
import Testing

@testable import Playlists

@Suite
struct ExpansionStateTests {
    private static func location(_ name: String) -> ResourceLocation { .file("/" + name) }

    private static func track(_ name: String) -> Track {
        Track(id: TrackIDs.next(), location: location(name))
    }

    /// A list of names; those with a final `/` are lists.
    private static func contents(_ names: [String], identity: String = "") -> ListContents {
        var contents = ListContents()
        contents.identity = identity
        for name in names {
            if name.hasSuffix("/") {
                contents.nested.append(ListContents.NestedList(location: location(name)))
            } else if contents.nested.isEmpty {
                contents.tracks.append(track(name))
            } else {
                contents.nested[contents.nested.count - 1].tracksBehind.append(track(name))
            }
        }
        return contents
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `tracks keep the order of the source, in whatever order its lists are read`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // A random tree: what each list contains.
        var lists = ["/": [String]()]
        var count = 0
        func fill(_ name: String, _ depth: Int) {
            lists[name] = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                count += 1
                let isList = depth < 5 && Bool.random(using: &random)
                let entry = "\(count)" + (isList ? "/" : "")
                if isList { fill(entry, depth + 1) }
                return entry
            }
        }
        fill("/", 0)
        func flat(_ name: String) -> [String] {
            (lists[name] ?? []).flatMap { $0.hasSuffix("/") ? flat($0) : [$0] }
        }
        var state = ExpansionState(root: Self.location("/"))
        var reading: [ExpansionState.Request] = []
        var taken: [String] = []
        while true {
            while reading.count < 4, let request = state.next() { reading.append(request) }
            guard let index = reading.indices.randomElement(using: &random) else { break }
            let request = reading.remove(at: index)
            let name = request.id == 0 ? "/" : request.location.name.string + "/"
            state.read(request.id, Self.contents(lists[name] ?? [], identity: name))
            taken += state.takeReady().tracks.map(\.location.name.string)
            // Nothing is handed out too early.
            #expect(flat("/").starts(with: taken))
        }
        #expect(taken == flat("/") && state.isComplete)
    }

    @Test func `the first list of the source is read first`() {
        var state = ExpansionState(root: Self.location("/"))
        #expect(state.next()?.id == 0 && state.next() == nil)
        state.read(0, Self.contents(["a/", "1", "b/"], identity: "root"))
        let first = state.next()
        #expect(first?.location.path == "/a/" && first?.ancestors == ["root"])
        // What the first one contains comes before the second.
        state.read(first?.id ?? 0, Self.contents(["c/"], identity: "a"))
        #expect(state.next()?.location.path == "/c/")
        #expect(state.next()?.location.path == "/b/" && state.next() == nil)
    }

    @Test func `a list that can't be used is a problem, and the others are read`() {
        var state = ExpansionState(root: Self.location("/"))
        _ = state.next()
        state.read(0, Self.contents(["a/", "1"], identity: "root"))
        let id = state.next()?.id ?? 0
        state.failed(id, MediaError(.notFound, "a", "gone"))
        let found = state.takeReady()
        #expect(
            found.tracks.map(\.location.path) == ["/1"]
                && found.problems.all(of: "x").map(\.code) == [.notFound]
        )
    }

    @Test func `once stopped, what was read is handed out, also behind a list that was not read`() {
        var state = ExpansionState(root: Self.location("/"))
        _ = state.next()
        state.read(0, Self.contents(["1", "a/", "2"], identity: "root"))
        #expect(state.takeReady().tracks.map(\.location.path) == ["/1"])
        #expect(state.takeAll().tracks.map(\.location.path) == ["/2"])
    }
}

struct SourceBudgetTests {
    @Test func `once a limit is exceeded, what was within it is left, and the error states it`() {
        var limits = PlaylistLimits()
        limits.entries = 3
        let budget = SourceBudget(limits)
        let tracks = (1...4).map { Track(id: TrackIDs.next(), location: .file("/\($0)")) }
        #expect(budget.limited(Array(tracks[..<2])).count == 2 && !budget.isExceeded)
        #expect(budget.error(about: "x") == nil)
        #expect(budget.limited(Array(tracks[2...])) == [tracks[2]] && budget.isExceeded)
        let error = budget.error(about: "x")
        #expect(error?.code == .listTooLarge && error?.cause == "more than 3 tracks; read 3 tracks")
    }
}
