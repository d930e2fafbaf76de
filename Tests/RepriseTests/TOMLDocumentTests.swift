import Media
import Testing

@testable import Reprise

@Suite struct TOMLDocumentTests {
    @Test func `values come in the order of their lines, with their paths`() throws {
        let document = try TOMLDocument(
            parsing: """
                # music
                volume = 70
                [network]
                read-ahead = "1:30"
                fill = true
                [cache]
                identity = ["host=a strip=b", "host=c strip=d"]
                ratio = 1.5
                """
        )
        #expect(
            document.values == [
                .init(path: ["volume"], content: .number("70"), line: 2),
                .init(path: ["network", "read-ahead"], content: .text("1:30"), line: 4),
                .init(path: ["network", "fill"], content: .boolean(true), line: 5),
                .init(path: ["cache", "identity", "0"], content: .text("host=a strip=b"), line: 7),
                .init(path: ["cache", "identity", "1"], content: .text("host=c strip=d"), line: 7),
                .init(path: ["cache", "ratio"], content: .number("1.5"), line: 8),
            ]
        )
    }

    @Test(
        arguments: [
            ("", []), ("# nothing\n", []), ("[keys]\n\nlist = []\nday = 2020-01-02\n", [.nothing, .date]),
        ]
            as [(String, [TOMLDocument.Content])]
    )
    func `an empty array is a value, and an empty document has none`(
        text: String,
        contents: [TOMLDocument.Content]
    ) throws {
        #expect(try TOMLDocument(parsing: text).values.map(\.content) == contents)
    }

    @Test func `quoted names keep their dots and blanks`() throws {
        let document = try TOMLDocument(parsing: "[keys]\n\".\" = \"seek +60\"\n\"Ctrl-L\" = \"redraw\"\n")
        #expect(document.values.map(\.path) == [["keys", "."], ["keys", "Ctrl-L"]])
    }

    @Test(arguments: [
        ("volume = 70\nvolume = 80\n", 2), ("a = 1\n\nb == 2\n", 3), ("[cache\n", 1), ("x = \"\u{1}\"\n", 1),
    ])
    func `a document that is not TOML is refused with the line of the error`(_ text: String, _ line: Int) {
        let refusal = #expect(throws: TOMLDocument.Refusal.self) { try TOMLDocument(parsing: text) }
        #expect(refusal?.line == line)
        #expect(refusal?.reason.string.isEmpty == false)
    }
}
