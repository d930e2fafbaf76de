package import Media

/// The setting that decides which variant is played.
package enum StreamQuality: String, Sendable, CaseIterable {
    case high
    case low
}

/// A media playlist that a master playlist offers, chosen to be played.
package struct RenditionChoice: Sendable, Equatable {
    /// The same for the same music, whatever server, path and token the list names today: a part of the cache
    /// key.
    package struct Identity: Sendable, Hashable {
        /// Empty, as name and language, if the variant itself is played.
        package var groupID: String
        package var name: String
        package var language: String
        /// CODECS of the variant, as the list states it.
        package var codecs: String
        /// The number of higher bandwidths in the list.
        package var rank: Int
    }

    package var location: ResourceLocation
    package var identity: Identity
    /// `true` unless the list shows that there is sound only. Pictures are not decoded.
    package var hasPictures: Bool
}

extension MasterPlaylist {
    /// A variant that states no codecs and no resolution counts as sound up to this bandwidth, which AAC of
    /// 320 kbit/s in MPEG-TS stays below.
    private static let mostBandwidthOfSound: Int64 = 400_000

    /// The media playlist to play, if the codecs `played` can be decoded. Candidates are the variants that
    /// state one of these codecs, or none.
    ///
    /// - If some have sound only, it is the one with the highest bandwidth, or the lowest for `.low`. Those
    ///   that state codecs go first, since the others may have pictures.
    /// - Otherwise it is an audio rendition with a URI of such a variant: the default one, or the first.
    /// - Otherwise it is the variant with the lowest bandwidth, since its pictures are not needed.
    ///
    /// Throws `.notAudio` and `.badPlaylist`.
    package func choice(
        quality: StreamQuality,
        playing played: Set<StreamCodec>
    ) throws(MediaError) -> RenditionChoice {
        guard !variants.isEmpty else { throw .badPlaylist(location, "the HLS playlist names no streams") }
        let ranked = variants.indices.filter { variants[$0].isPlayed(by: played) }
            .sorted { (variants[$0].bandwidth, $1) > (variants[$1].bandwidth, $0) }
        let sounds = ranked.filter { isSound(variants[$0]) }
        let stated = sounds.filter { !variants[$0].codecs.isEmpty }
        if let best = best(of: stated.isEmpty ? sounds : stated, quality) { return choice(best) }
        for variant in quality == .high ? ranked : ranked.reversed() {
            let group = renditions.filter { isOffered($0, by: variants[variant]) }
            if let rendition = group.first(where: \.isDefault) ?? group.first {
                return choice(variant, rendition)
            }
        }
        guard let lowest = best(of: ranked, .low) else {
            let names = Set(variants.flatMap(\.sounds).map(\.name)).sorted().prefix(3)
            let codecs = names.isEmpty ? "no sound" : names.joined(separator: ", ") + " only"
            throw MediaError(
                .notAudio,
                location.safeText,
                SafeText("the HLS playlist offers \(codecs) – try another stream of the station")
            )
        }
        return choice(lowest)
    }

    /// The media playlist that is the same rendition as that of `identity`, chosen from an earlier answer of
    /// the same server or of another one; `nil` if it is not offered any more.
    package func choice(like identity: RenditionChoice.Identity) -> RenditionChoice? {
        for variant in variants.indices {
            let group = renditions.filter { isOffered($0, by: variants[variant]) }
            let offered = [choice(variant)] + group.map { choice(variant, $0) }
            if let same = offered.first(where: { $0.identity == identity }) { return same }
        }
        return nil
    }

    /// The first or the last of `ranked`, variants that are sorted by falling bandwidth. Of equal ones it is
    /// the first in the list, since the others are on spare servers.
    private func best(of ranked: [Int], _ quality: StreamQuality) -> Int? {
        guard let end = quality == .high ? ranked.first : ranked.last else { return nil }
        return ranked.first { variants[$0].bandwidth == variants[end].bandwidth }
    }

    private func isSound(_ variant: VariantStream) -> Bool {
        guard variant.resolution == nil else { return false }
        if variant.codecs.isEmpty { return variant.bandwidth <= Self.mostBandwidthOfSound }
        return variant.sounds.count == variant.codecs.count
    }

    private func isOffered(_ rendition: AudioRendition, by variant: VariantStream) -> Bool {
        rendition.groupID == variant.audioGroup && rendition.location != nil
    }

    /// The choice of variant `index`, or of one of its renditions.
    private func choice(_ index: Int, _ rendition: AudioRendition? = nil) -> RenditionChoice {
        let variant = variants[index]
        let higher = variants.lazy.map(\.bandwidth).filter { $0 > variant.bandwidth }
        return RenditionChoice(
            location: rendition?.location ?? variant.location,
            identity: RenditionChoice.Identity(
                groupID: rendition?.groupID ?? "",
                name: rendition?.name ?? "",
                language: rendition?.language ?? "",
                codecs: variant.codecs.joined(separator: ","),
                rank: Set(higher).count
            ),
            hasPictures: rendition == nil && !isSound(variant)
        )
    }
}

extension VariantStream {
    /// The codecs that are sound.
    fileprivate var sounds: [StreamCodec] { codecs.compactMap { StreamCodec($0) } }

    fileprivate func isPlayed(by played: Set<StreamCodec>) -> Bool {
        codecs.isEmpty || sounds.contains { played.contains($0) }
    }
}
