import Media
import Testing

@Suite struct NormalFormTests {
    @Test(arguments: [
        ("Söng", "So\u{308}ng"), ("한국어", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}\u{110B}\u{1165}"),
        ("Åse", "A\u{30A}se"), ("が", "か\u{3099}"), ("ệ", "e\u{323}\u{302}"), ("plain", "plain"), ("", ""),
    ])
    func `a name has a composed and a decomposed form`(composed: String, decomposed: String) {
        // Strings are equal whatever their form.
        for text in [composed, decomposed] {
            #expect(Array(NormalForm.composed.form(of: text).utf8) == Array(composed.utf8))
            #expect(Array(NormalForm.decomposed.form(of: text).utf8) == Array(decomposed.utf8))
        }
    }
}
