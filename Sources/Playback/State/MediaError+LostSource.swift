import Media

extension MediaError.Code {
    /// Whether a notice with this code means that something asked for is not played.
    var isLostSource: Bool {
        switch self {
        case .notFound, .unreadable, .emptyFolder, .emptyResource, .notAudio, .badPlaylist,
            .unsupportedScheme, .badURL,
            .refusedLocalFile, .unknownHost, .connectionRefused, .networkUnreachable, .connectionFailed,
            .badAnswer, .tlsFailed, .timedOut, .cut,
            .httpStatus, .tooManyRedirects, .offline, .missingLibrary:
            true
        case .resourceChanged, .notKept, .damaged, .damagedExtent, .damagedIndex, .badState, .cacheSecret,
            .decodingFailed, .audioServer, .audioLost, .sinkFailed,
            .sinkFormat,
            .internalError:
            false
        }
    }
}
