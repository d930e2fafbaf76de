import Media
import Testing

/// Sizes and names as every view and table shows them.
struct ShownTextTests {
    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_000, "1 kB"), (1_499, "1 kB"), (1_500, "2 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"), (1_949_999, "1.9 MB"), (1_950_000, "2.0 MB"), (6_171_369, "6.2 MB"),
            (15_640_000, "15.6 MB"), (99_949_999, "99.9 MB"), (99_950_000, "100 MB"), (123_456_789, "123 MB"),
            (999_500_000, "1.0 GB"), (9_876_543_210, "9.9 GB"), (-5, "0 B"), (.max, "9223372 TB"),
        ] as [(bytes: Int64, text: String)]
    )
    func `a size is rounded half up, with one decimal from megabytes on`(bytes: Int64, text: String) {
        #expect(SizeText.text(bytes) == text)
    }

    @Test func `a rate of any size fits its column`() {
        #expect(SizeText.text(28_500_000, decimalsBelow: 10) == "29 MB")
        #expect(SizeText.text(9_940_000, decimalsBelow: 10) == "9.9 MB")
        #expect(SizeText.text(9_960_000, decimalsBelow: 10) == "10 MB")
        for bytes in [0, 999, 999_999, 9_999_999, 999_999_999, 99_999_999_999_999] as [Int64] {
            #expect((SizeText.text(bytes, decimalsBelow: 10) + "/s").count <= 8)
        }
    }

    @Test(
        arguments: [
            (1_900_000_000, 10_000_000_000, "1.9 of 10 GB"), (900_000_000, 10_000_000_000, "900 MB of 10 GB"),
            (0, 1_500_000_000, "0 B of 1.5 GB"), (500, 999, "500 of 999 B"),
        ] as [(Int64, Int64, String)]
    )
    func `a unit that both amounts have is written once`(part: Int64, whole: Int64, text: String) {
        #expect(SizeText.text(part, of: whole) == text)
    }

    @Test(arguments: [
        ("https://music.example/a/02%20-%20song%202.mp3", "02 - song 2.mp3"),
        ("https://music.example/a/signed%3F.mp3?…", "signed?.mp3"), ("http://h:8000/", "h:8000"),
        ("http://h", "h"), ("https://h/albums/%C3%89t%C3%A9/", "Été"),
        ("/music/50%25 off.mp3", "50%25 off.mp3"),
        ("file:///music/caf%E9.mp3", "caf\u{FFFD}.mp3"), ("https://h/%1B%5B2J%0A.mp3", "\u{FFFD}[2J .mp3"),
        ("standard input", "standard input"),
    ])
    func `a resource without a title has the name of its file, unescaped and harmless`(
        source: SafeText,
        name: SafeText
    ) {
        #expect(TrackName.file(at: source) == name)
        #expect(TrackName.text(nil, "Nobody", at: source) == name)
        if let url = WebURL(source.string), url.fileName != nil {
            #expect(ResourceLocation.web(url).name == name, "as in the queue")
        }
    }

    @Test func `the title stands before the artist`() {
        #expect(TrackName.text("River", "Edda", at: "https://h/a.mp3") == "River – Edda")
        #expect(TrackName.text("River", "", at: "https://h/a.mp3", dash: "-") == "River")
        #expect(TrackName.text("River", "Edda", dash: "-") == "River - Edda")
    }
}
