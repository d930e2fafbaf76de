import Media
import Testing

@Suite
struct LegacyTextTests {
    @Test(
        arguments: [
            "Ångström", "Motörhead", "Sigur Rós", "Ágætis byrjun", "Mötley Crüe", "ÀÉÈÊ", "Blue Öyster Cult",
            "Queensrÿche",
            "Þú ert jörðin", "Svefn-g-englar", "Með blóðnasir", "óð", "þíð", "Ærø", "ÆØÅ", "æøå", "ÆØÅæøå",
            "åäö", "ÅÄÖ",
            "äöüß", "ÄÖÜß", "Über den Wolken", "Fünf Äpfel", "Größe", "Où est-elle à l'été ?", "Çà et là",
            "Été", "À bout",
            "ÀÂÇÉÈÊËÎÏÔÙÛÜ", "àâçéèêëîïôùûü", "áéíóú", "ÁÉÍÓÚ", "Canção do mar", "Não há", "É ó à è", "Õ",
            "São João",
            "¿Qué será?", "Nº 5", "1º de Maio", "Año", "Ñandú", "ÿ", "Ö", "ÖÖÖÖÖ", "éééééé", "Kärlek är ÅÄÖ",
            "MÖTLEY CRÜE",
            "CÉLINE À L'OLYMPIA", "½ × 2", "ðæþý",
        ]
    )
    func `Western text is never taken for Cyrillic`(text: String) {
        #expect(LegacyText.string(text.unicodeScalars.map { UInt8($0.value) }) == text)
    }

    @Test(
        arguments: [
            "Кино - Группа крови", "Кино", "Земфира", "Сплин - Выхода нет", "ДДТ - Что такое осень", "Ария",
            "Би-2 - Полковник",
            "КИНО - ГРУППА КРОВИ", "Аквариум – «Город золотой»", "Алла Пугачёва - Миллион алых роз",
            "Наутилус Помпилиус",
            "Король и Шут - Кукла колдуна (live)", "Кот и пёс", "Руки Вверх! - Крошка моя",
            "DJ Грув - Счастье есть",
        ]
    )
    func `text that can only be Cyrillic is`(text: String) {
        #expect(LegacyText.string(Self.cyrillic(text)) == text)
    }

    @Test func `UTF-8 comes first, then the named encoding, then the guess`() throws {
        let koi = try #require(TextEncoding("koi8-r"))
        #expect(LegacyText.string("Кино".utf8, or: koi) == "Кино")
        #expect(LegacyText.string([0xEB, 0xC9, 0xCE, 0xCF], or: koi) == "Кино")
        #expect(LegacyText.string(Self.cyrillic("Кино"), or: .windows1252) == "Êèíî")
        #expect(LegacyText.string([0xD6, 0xD0, 0xCE, 0xC4], or: TextEncoding("gbk")) == "中文")
    }

    @Test(arguments: [
        ("é", 1, ""), ("aé", 2, "a"), ("é", 2, "é"), ("é🎵", 4, "é"), ("é🎵", 5, "é"), ("é🎵", 6, "é🎵"),
    ])
    func `text may be cut within a letter`(text: String, count: Int, expected: String) {
        // Without any other letter of UTF-8, a cut letter is as likely one of Windows.
        let bytes = Array(text.utf8.prefix(count))
        let legacy = LegacyText.string(bytes)
        #expect(LegacyText.string(cut: bytes) == (expected.utf8.contains { $0 >= 0x80 } ? expected : legacy))
    }

    /// `text` in CP1251.
    private static func cyrillic(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "А"..."я": UInt8(0xC0 + scalar.value - 0x410)
            case "ё": 0xB8
            case "«": 0xAB
            case "»": 0xBB
            case "–": 0x96
            default: UInt8(scalar.value)
            }
        }
    }
}
