import Media
import Testing

@Suite struct AudioKindTests {
    /// The first bytes of a file of each kind that has a magic number.
    static let heads: [(kind: AudioKind, head: [UInt8])] = {
        let texts: [(AudioKind, String)] = [
            (.flac, "fLaC\0\0\0\u{22}"), (.ogg, "OggS\0\u{2}"), (.wave, "RIFF$\u{8}\0\0WAVEfmt "),
            (.wave, "RF64----WAVE"), (.aiff, "FORM\0\0\u{8}\0AIFF"), (.aiff, "FORM\0\0\u{8}\0AIFC"),
            (.mp4, "\0\0\0\u{1C}ftypM4A "), (.wavpack, "wvpkX\0\0\0"), (.musepack, "MPCKSH"),
            (.musepack, "MP+\u{7}"), (.trueAudio, "TTA1\u{1}\0"), (.dsd, "DSD \u{1C}\0\0\0"),
            (.dsd, "FRM8\0\0\0\0\0\0\0\u{9}DSD "), (.caf, "caff\0\u{1}"), (.au, ".snd\0\0\0\u{18}"),
            (.amr, "#!AMR\n"), (.midi, "MThd\0\0\0\u{6}"), (.midi, "RIFF----RMID"),
            (.avi, "RIFF----AVI "), (.mpeg, "RIFF----RMP3"),
        ]
        let numbers: [(AudioKind, [UInt8])] = [
            (.monkeysAudio, [0x4D, 0x41, 0x43, 0x20, 0x96, 0x0F]),
            (.monkeysAudio, [0x4D, 0x41, 0x43, 0x20, 0xD8, 0x0E]),
            (.asf, [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]), (.matroska, [0x1A, 0x45, 0xDF, 0xA3]),
            (.mpegVideo, [0, 0, 1, 0xBA, 0x44]), (.mpegVideo, [0, 0, 1, 0xB3]),
        ]
        return texts.map { ($0.0, Array($0.1.utf8)) } + numbers
    }()

    @Test(arguments: heads)
    func `a magic number tells the kind, and a part of it tells nothing`(kind: AudioKind, head: [UInt8]) {
        #expect(AudioKind.byMagicNumber(head) == kind)
        #expect(AudioKind.byMagicNumber(head + [UInt8](repeating: 1, count: 99)) == kind)
        #expect(AudioKind.byMagicNumber(head.prefix(2)) == nil)
        #expect(AudioKind.byMagicNumber([0] + head) == nil)
    }

    @Test(
        arguments: [
            "MAC Demarco/Salad Days.mp3", "OggSongs/a.mp3", "DSD Albums/a.mp3", ".snd/a.mp3", "caffeine.mp3",
            "MP+ Records/1.mp3", "RIFF and the chords.mp3", "FORM follows function.mp3", "ID3.mp3",
            "#EXTM3U\n",
        ]
    )
    func `a line of text is not taken for audio`(line: String) {
        #expect(AudioKind.byMagicNumber(line.utf8) == nil)
        #expect(ID3v2Header(Array(line.utf8)[...]) == nil)
    }

    @Test(
        arguments: [
            ("a.mp3", .mpeg), ("/x/song.OPUS", .ogg), ("a.b.m4b", .mp4), ("a.ape", .monkeysAudio),
            ("mp3", nil),
            ("a.", nil), ("", nil), ("a.jpg", nil), ("a.mp3/b", nil),
        ] as [(String, AudioKind?)]
    )
    func `a file name suggests the kind by its extension`(name: String, kind: AudioKind?) {
        #expect(AudioKind.byName(name) == kind)
    }

    @Test func `every kind has a name of its own`() {
        #expect(Set(AudioKind.allCases.map(\.name)).count == AudioKind.allCases.count)
    }
}
