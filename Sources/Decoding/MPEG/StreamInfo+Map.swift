import Media

extension StreamInfo {
    /// A new estimate is told only when it is off by more than this share.
    private static let toldChange = 0.01

    /// This, with what `map` knows better.
    func refined(by map: StreamMap) -> StreamInfo {
        var info = self
        info.audioStart = map.origin
        info.codec = Self.codec(of: map)
        let format = map.format
        let isExact = map.isLengthExact || map.mixedLength != nil
        if let duration = map.mixedLength ?? map.estimatedLength.map(format.duration(of:)) {
            let change = abs((info.duration ?? .zero).seconds - duration.seconds)
            if isExact || change > Self.toldChange * duration.seconds { info.duration = duration }
        }
        info.isDurationExact = isExact
        let rate = map.meanFrameLength * Double(format.sampleRate) / Double(map.samplesPerFrame)
        if abs(info.bytesPerSecond - rate) > Self.toldChange * rate { info.bytesPerSecond = rate }
        return info
    }

    private static func codec(of map: StreamMap) -> SafeText {
        let version: SafeText =
            switch map.header.version {
            case .mpeg1: "MPEG-1"
            case .mpeg2: "MPEG-2"
            case .mpeg25: "MPEG-2.5"
            }
        let layer: SafeText = map.header.layer == 1 ? "I" : map.header.layer == 2 ? "II" : "III"
        // Free format has one length for all frames, whatever it is.
        let isVariable =
            map.xing.map { $0.kind != .info } ?? !(map.hasConstantRate || map.freeByteCount != nil)
        return version + " Layer " + layer + (isVariable ? ", VBR" : ", CBR")
    }
}
