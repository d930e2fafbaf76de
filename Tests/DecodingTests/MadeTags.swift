/// An ID3v2 frame; a name of three letters makes one of version 2.2.
func id3Frame(_ name: String, _ body: [UInt8], flags: [UInt8] = [0, 0]) -> [UInt8] {
    if name.utf8.count == 3 { return Array(name.utf8) + [0, 0, UInt8(body.count)] + body }
    return Array(name.utf8) + synchsafe(body.count) + flags + body
}

/// An ID3v2 tag around `content`.
func id3Tag(version: UInt8, flags: UInt8 = 0, _ content: [UInt8]) -> [UInt8] {
    Array("ID3".utf8) + [version, 0, flags] + synchsafe(content.count) + content
}

private func synchsafe(_ count: Int) -> [UInt8] { [21, 14, 7, 0].map { UInt8((count >> $0) & 0x7F) } }

func big(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

private func little(_ value: Int) -> [UInt8] { big(value).reversed() }

/// An ID3v2.3 tag of `length` bytes with a title, a picture that fills it, and an artist after the picture.
func tag(of length: Int) -> [UInt8] {
    // Sizes in 2.3 are plain numbers.
    func frame(_ name: String, _ body: [UInt8]) -> [UInt8] {
        Array(name.utf8) + big(body.count) + [0, 0] + body
    }
    let title = frame("TIT2", [0] + Array("Title".utf8))
    let artist = frame("TPE1", [0] + Array("Artist".utf8))
    // Looks like frames but is not: a decoder that does not skip it would play it.
    let picture = [UInt8](repeating: 0xFF, count: length - 10 - title.count - artist.count - 10)
    return id3Tag(version: 3, title + frame("APIC", picture) + artist)
}

/// An ID3v1 tag.
let id3v1 = Array("TAG".utf8) + [UInt8](repeating: 0x41, count: 125)

/// A header or footer of an APEv2 tag of 2,000 bytes.
let apeEnd = Array("APETAGEX".utf8) + [0xD0, 7, 0, 0, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xA0]

/// An APEv2 tag with header, footer, and `count` bytes between them that look like headers of frames.
func ape(_ count: Int) -> [UInt8] { ape((0..<count).map { [0xFF, 0xFB, 0x90, 0x00][$0 % 4] }) }

/// An APEv2 tag with these text items.
func ape(items: [(key: String, value: String)]) -> [UInt8] {
    var content: [UInt8] = []
    for item in items {
        content += little(item.value.utf8.count) + [0, 0, 0, 0]
        content += Array((item.key + "\0" + item.value).utf8)
    }
    return ape(content)
}

private func ape(_ content: [UInt8]) -> [UInt8] {
    func end(_ flags: UInt8) -> [UInt8] {
        let sizes = little(2_000) + little(content.count + 32)
        return Array("APETAGEX".utf8) + sizes + [1, 0, 0, 0, 0, 0, 0, flags] + [UInt8](repeating: 0, count: 8)
    }
    return end(0xA0) + content + end(0x80)
}

/// A first frame of 417 bytes (MPEG-1 Layer III, 128 kbit/s, 44.1 kHz, stereo) with a header of `mark`.
func xingFrame(
    _ mark: String,
    frames: Int? = nil,
    bytes: Int? = nil,
    shares: [UInt8]? = nil,
    delay: Int? = nil,
    padding: Int? = nil
) -> [UInt8] {
    var frame: [UInt8] = [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 32) + Array(mark.utf8)
    frame += [0, 0, 0, (frames == nil ? 0 : 1) + (bytes == nil ? 0 : 2) + (shares == nil ? 0 : 4)]
    if let frames { frame += big(frames) }
    if let bytes { frame += big(bytes) }
    if let shares { frame += shares }
    if let delay, let padding {
        let both = delay << 12 | padding
        frame += Array("LAME3.100".utf8) + [UInt8](repeating: 0, count: 12) + big(both).dropFirst()
    }
    return frame + [UInt8](repeating: 0, count: 417 - frame.count)
}

/// A first frame of 417 bytes with Fraunhofer's header: 40,000 bytes, 100 frames, and 4 entries for 25 frames
/// each.
let vbriFrame: [UInt8] = {
    var frame = [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 32) + Array("VBRI".utf8)
    // Version, delay, quality; bytes, frames; entries, scale, width, frames of an entry; entries.
    frame += [0, 1, 0, 0, 0, 0]
    frame += [0, 0, 0x9C, 0x40, 0, 0, 0, 100, 0, 4, 0, 2, 0, 1, 0, 25, 10, 10, 20, 60]
    return frame + [UInt8](repeating: 0, count: 417 - frame.count)
}()

/// Vorbis comments, with the name of a program in front.
func vorbisComments(_ comments: [String]) -> [UInt8] { vorbisComments(comments.map { Array($0.utf8) }) }

func vorbisComments(_ comments: [[UInt8]]) -> [UInt8] {
    let vendor = Array("tests".utf8)
    return little(vendor.count) + vendor + little(comments.count)
        + comments.flatMap { little($0.count) + $0 }
}
