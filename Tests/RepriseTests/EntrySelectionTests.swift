@testable import Media
import Testing

@testable import Reprise

@Suite
struct EntrySelectionTests {
    private static let entries = [
        CachedItem(
            url: "http://h/b",
            tags: TrackTags(title: "Night", artist: "Somebody"),
            length: 10,
            stored: ByteRangeSet(0..<10),
            isPinned: true,
            created: 300,
            lastPlayed: 3
        ),
        CachedItem(
            url: "http://h/a",
            tags: TrackTags(title: "DAY"),
            length: 30,
            stored: ByteRangeSet(0..<20),
            created: 200,
            lastPlayed: 1
        ),
        CachedItem(url: "http://other/c", stored: ByteRangeSet(0..<5), isPinned: true, lastPlayed: 2),
    ]

    private func names(_ selection: EntrySelection) -> String {
        selection.applied(to: Self.entries).compactMap { $0.url.string.last.map(String.init) }.joined()
    }

    @Test(
        arguments: [
            (.played, "bca", "acb"), (.size, "abc", "cba"), (.stored, "abc", "cba"), (.age, "abc", "cba"),
            (.source, "abc", "cba"),
        ] as [(order: EntrySelection.Order, names: String, reversed: String)]
    )
    func `entries are sorted, and the other way round`(
        order: EntrySelection.Order,
        names: String,
        reversed: String
    ) {
        #expect(self.names(EntrySelection(order: order)) == names)
        #expect(self.names(EntrySelection(order: order, isReversed: true)) == reversed)
    }

    @Test(
        arguments: [
            (EntrySelection(isPinnedOnly: true), "bc"), (EntrySelection(isComplete: true), "b"),
            (EntrySelection(isComplete: false), "ca"), (EntrySelection(words: ["day"]), "a"),
            (EntrySelection(words: ["H/", "some"]), "b"), (EntrySelection(words: ["night", "day"]), ""),
            (EntrySelection(words: ["other"], isPinnedOnly: true), "c"),
        ] as [(selection: EntrySelection, names: String)]
    )
    func `entries are filtered by pins, completeness and words`(selection: EntrySelection, names: String) {
        #expect(self.names(selection) == names)
    }

    @Test(arguments: [["senor"], ["SEÑOR", "nino"], ["uber wolken"], ["04 über"]])
    func `words match without accents, and in names of files as they are shown`(words: [String]) {
        let entries = [
            CachedItem(
                url: "http://h/1.ogg",
                tags: TrackTags(title: "Señor Niño", artist: "Peña"),
                lastPlayed: 0
            ),
            CachedItem(url: "http://h/04%20%C3%9Cber%20Wolken.ogg", lastPlayed: 0),
        ]
        #expect(EntrySelection(words: words).applied(to: entries).count == 1)
        #expect(EntrySelection(words: ["senior"]).applied(to: entries).isEmpty)
    }
}
