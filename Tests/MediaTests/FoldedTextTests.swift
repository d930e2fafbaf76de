import Media
import TestSupport
import Testing

/// Texts as listeners compare them.
@Suite struct FoldedTextTests {
    @Test func `case and accents do not matter, and digits are numbers`() {
        let sorted = [
            "", "…And Oceans", "2 Become 1", "7 Seconds", "007 Theme", "10 000 Maniacs", "99 Luftballons",
            "Ebbe",
            "École", "ecole 2", "ÉCOLE 10", "Edda", "éléphant", "Eve", "Zoë", "Zu", "Жар", "桜",
        ].map { FoldedText($0) }
        // "7 Seconds" precedes "007 Theme" by the words after the same number.
        #expect(sorted.sorted() == sorted)
        #expect(
            FoldedText("Été") == FoldedText("ete") && FoldedText("E\u{301}t\u{E9} 01") == FoldedText("été 1")
        )
        #expect(sorted.allSatisfy { $0 < .last })
    }

    @Test(arguments: [
        ("2", "10"), ("a2b", "A10a"), ("x", "x1"), ("a1", "a1b"), ("a-1", "aa"), ("0", "1"), ("a0", "a00b"),
        ("99999999999999999999", "100000000000000000000"),
    ])
    func `the first of two texts sorts before the second`(first: String, second: String) {
        #expect(FoldedText(first) < FoldedText(second))
    }

    @Test func `letters with strokes and ligatures are those that are typed for them`() {
        for (letters, typed) in [
            ("Øre", "ore"), ("Łódź", "lodz"), ("Đorđe", "dorde"), ("Ænima", "aenima"), ("Œuvre", "oeuvre"),
            ("Þór", "thor"), ("Ísafjörður", "isafjordur"), ("ħŧı", "hti"), ("Straße", "strasse"),
            ("Жø", "жo"),
        ] {
            #expect(FoldedText.fold(letters) == Array(typed.utf8))
        }
        let names = ["Oslo", "Øre", "Ovid", "Zoë"].map { FoldedText($0) }
        #expect(names.sorted() == [names[1], names[0], names[2], names[3]])
    }

    @Test func `a second text decides among equal ones only`() {
        let pairs = [("Abba", "Zoo"), ("ABBA", "Zoo 2"), ("abba 1", "A"), ("abbas", "A")]
        let sorted = pairs.map { FoldedText($0).then(FoldedText($1)) }
        #expect(sorted.sorted() == sorted)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `the order is a total one`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "0", "1", "9", "10", "00", "a", "A", "é", "-", "½", "\u{301}", "999999999999999999999999",
        ]
        let keys = (0..<3).map { _ in
            FoldedText(
                (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in
                    pieces.randomElement(using: &random)
                }
                .joined()
            )
        }
        let a = keys[0]
        let b = keys[1]
        let c = keys[2]
        #expect((a == b) == (!(a < b) && !(b < a)))
        #expect(!(a < b && b < c) || a < c)
    }
}
