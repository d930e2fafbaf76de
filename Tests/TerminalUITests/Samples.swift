import Media

/// A queue that shows every kind of row.
func sampleSnapshot() -> PlayerSnapshot {
    var player = PlayerSnapshot()
    player.tracks = [
        track(1, "https://music.example/a/01%20Morning.mp3", title: "Morning", artist: "Edda", seconds: 185),
        track(2, "https://music.example/a/02.mp3", title: "夜の音楽", artist: "東京アンサンブル", seconds: 3_725),
        track(3, "https://music.example/a/gone.mp3", seconds: nil),
        track(4, "https://music.example/a/cafe\u{301}%20de%20nuit%20et%20de%20jour.mp3", seconds: 61),
    ]
    player.currentIndex = 1
    player.state = .playing
    player.position = .seconds(1_862)
    player.duration = .seconds(3_725)
    player.isExact = false
    player.buffered = .seconds(42)
    player.load.length = 8_000
    player.load.stored = ByteRangeSet([0..<2_000, 3_000..<6_000])
    player.load.inFlight = [6_000..<7_000]
    player.load.bytesPerSecond = 312_400
    player.byteOffset = 4_000
    player.volume = 80
    player.repeatMode = .all
    player.failures = [Track.ID(3): "404 Not Found"]
    player.messages = [message(1, "reconnected to music.example")]
    player.totalCachedBytes = 45_678_901
    player.totalFetchedBytes = 999_999
    return player
}

/// A message of the `number`th minute.
func message(_ number: Int, _ text: SafeText) -> PlayerMessage {
    PlayerMessage(number: number, time: .seconds(60 * number), text: text)
}

func track(
    _ id: UInt64,
    _ address: String,
    title: SafeText? = nil,
    artist: SafeText? = nil,
    seconds: Int? = nil
) -> Track {
    let location = WebURL(address).map(ResourceLocation.web) ?? .file(address)
    let tags = TrackTags(title: title, artist: artist)
    return Track(id: Track.ID(id), location: location, tags: tags, duration: seconds.map { .seconds($0) })
}

func manyTracks(_ count: Int) -> [Track] {
    (0..<count).map { Track(id: Track.ID(UInt64($0)), location: .file("/music/\($0 + 1).mp3")) }
}
