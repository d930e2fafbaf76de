import CFLAC
import Media
import System

/// Owns a decoder of libFLAC, which is given whole frames and never reads or waits on its own. A packet is a
/// frame.
final class FLACHandle: PacketCodec {
    private static let library = OptionalLibrary { cflac_load().map { String(cString: $0) } }

    private let decoder: UnsafeMutablePointer<FLAC__StreamDecoder>
    private let exchange: Exchange
    private let stream: FLACStreamInfo
    private let checksDigest: Bool

    /// Creates a decoder of `stream`; `nil` if memory ran out. The library must be open.
    ///
    /// With `checksDigest`, `finish` compares the MD5 of the samples, if all frames were decoded in order.
    init?(_ stream: FLACStreamInfo, checksDigest: Bool = false) {
        guard let decoder = FLAC__stream_decoder_new() else { return nil }
        self.decoder = decoder
        self.checksDigest = checksDigest
        self.stream = stream
        exchange = Exchange(stream)
        if checksDigest { FLAC__stream_decoder_set_md5_checking(decoder, 1) }
        let isReady = exchange.start(of: stream).withUnsafeBytes { bytes in
            exchange.input = bytes
            defer { exchange.input = UnsafeRawBufferPointer(start: nil, count: 0) }
            let context = Unmanaged.passUnretained(exchange).toOpaque()
            // libFLAC pulls bytes, and cannot seek.
            let status = FLAC__stream_decoder_init_stream(
                decoder,
                Exchange.read,
                nil,
                nil,
                nil,
                nil,
                Exchange.write,
                nil,
                Exchange.fail,
                context
            )
            return status == FLAC__STREAM_DECODER_INIT_STATUS_OK
                && FLAC__stream_decoder_process_until_end_of_metadata(decoder) != 0
        }
        guard isReady else {
            FLAC__stream_decoder_delete(decoder)
            return nil
        }
    }

    /// Opens the library, if it is not open yet, and creates a decoder of `stream` in the resource `subject`.
    ///
    /// Throws `.missingLibrary` if the library is not installed, and `.decodingFailed` without memory.
    static func opened(
        for stream: FLACStreamInfo,
        of subject: SafeText,
        checksDigest: Bool = false
    ) async throws -> FLACHandle {
        try await library.load("libFLAC", install: "libFLAC (Debian: libflac12 or libflac14)")
        guard let handle = FLACHandle(stream, checksDigest: checksDigest) else {
            throw MediaError(.decodingFailed, subject, "the FLAC decoder failed (out of memory)")
        }
        return handle
    }

    deinit { FLAC__stream_decoder_delete(decoder) }

    var name: SafeText { SafeText("FLAC, \(stream.bitsPerSample) bits") }

    var format: AudioFormat { stream.format }

    /// All blocks but the last one usually have the largest size.
    var packetFrames: Int { stream.largestBlock }

    /// Does nothing: frames do not depend on each other.
    func reset() {}

    /// A packet with a damaged header counts as one of the largest block size.
    func frames(in packets: ArraySlice<[UInt8]>) -> Int {
        packets.reduce(0) { count, packet in
            let header = packet.withUnsafeBytes { FLACFrameHeader($0, at: 0, in: stream) }
            return count + (packet.isEmpty ? 0 : header?.count ?? packetFrames)
        }
    }

    /// `true` if the decoder is ready for the next frame.
    private var isReady: Bool {
        let state = FLAC__stream_decoder_get_state(decoder)
        return state == FLAC__STREAM_DECODER_SEARCH_FOR_FRAME_SYNC || state == FLAC__STREAM_DECODER_READ_FRAME
    }

    func decode(_ packet: ArraySlice<UInt8>) -> Int {
        packet.withUnsafeBytes { bytes in
            guard let header = FLACFrameHeader(bytes, at: 0, in: stream) else { return 0 }
            // Bytes after the end of the previous frame may be left in libFLAC's buffer.
            if !checksDigest || !isReady { FLAC__stream_decoder_flush(decoder) }
            exchange.begin(header, bytes)
            while exchange.isPending, FLAC__stream_decoder_process_single(decoder) != 0, isReady {}
            return exchange.isDecoded ? header.count : 0
        }
    }

    /// The frames come from libFLAC's own buffers, which stay as they are until the next packet is decoded,
    /// or `finish`: a copy of the longest packet would take 2 MB.
    func copy(_ range: Range<Int>, into pcm: UnsafeMutableRawBufferPointer) {
        exchange.copy(range, into: pcm)
    }

    /// Returns `false` if the samples do not have the MD5 that the stream states. Nothing can be decoded
    /// afterwards.
    func finish() -> Bool { FLAC__stream_decoder_finish(decoder) != 0 }
}

/// The bytes of one frame, which libFLAC's callbacks read, and the samples, which they write.
private final class Exchange: CallbackContext {
    /// The bytes to read next.
    var input = UnsafeRawBufferPointer(start: nil, count: 0)
    /// libFLAC's samples of the frame decoded last, by channel.
    private var channels: [UnsafePointer<FLAC__int32>] = []
    private var header: FLACFrameHeader?
    /// `true` until the frame was decoded or decoding failed.
    private(set) var isPending = false
    private(set) var isDecoded = false
    private let channelCount: Int
    private let sample: SampleFormat
    /// Moves the samples into the upper bits.
    private let shift: Int32

    init(_ stream: FLACStreamInfo) {
        channelCount = stream.channelCount
        sample = stream.format.sample
        shift = Int32(sample.byteCount * 8 - stream.bitsPerSample)
    }

    /// The head of a FLAC stream, with STREAMINFO as its only block. The smallest block size is replaced by
    /// the largest, so that libFLAC can compute positions from the numbers of frames.
    func start(of stream: FLACStreamInfo) -> [UInt8] {
        Array("fLaC".utf8) + [0x80, 0, 0, UInt8(FLACStreamInfo.byteCount)] + stream.bytes[2..<4]
            + stream.bytes[2...]
    }

    func begin(_ header: FLACFrameHeader, _ bytes: UnsafeRawBufferPointer) {
        self.header = header
        input = bytes
        isPending = true
        isDecoded = false
        channels.removeAll(keepingCapacity: true)
    }

    // MARK: Callbacks

    /// Aborts at the end of the frame's bytes, and after a failure, so that libFLAC does not look for other
    /// frames.
    static let read: FLAC__StreamDecoderReadCallback = { _, buffer, count, client in
        guard let exchange = Exchange.from(client), let buffer, let count else {
            return FLAC__STREAM_DECODER_READ_STATUS_ABORT
        }
        let given = min(count.pointee, exchange.input.count)
        count.pointee = given
        guard given > 0, exchange.isPending || exchange.header == nil else {
            return FLAC__STREAM_DECODER_READ_STATUS_ABORT
        }
        UnsafeMutableRawBufferPointer(start: buffer, count: given)
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: exchange.input[..<given]))
        exchange.input = UnsafeRawBufferPointer(rebasing: exchange.input[given...])
        return FLAC__STREAM_DECODER_READ_STATUS_CONTINUE
    }

    static let write: FLAC__StreamDecoderWriteCallback = { _, frame, buffer, client in
        guard let exchange = Exchange.from(client), let frame, let buffer else {
            return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT
        }
        exchange.receive(frame.pointee.header, buffer)
        return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE
    }

    static let fail: FLAC__StreamDecoderErrorCallback = { _, _, client in
        Exchange.from(client)?.isPending = false
    }

    private func receive(
        _ written: FLAC__FrameHeader,
        _ channels: UnsafePointer<UnsafePointer<FLAC__int32>?>
    ) {
        // libFLAC may invent frames in the place of missing ones, and delivers them just before the requested
        // frame. It frees the buffers of each frame before it delivers the next.
        guard isPending else {
            isDecoded = false
            self.channels = []
            return
        }
        guard let header, written.number.sample_number == UInt64(header.statedPosition),
            Int(written.blocksize) == header.count, Int(written.channels) == channelCount
        else { return }
        self.channels += (0..<channelCount).compactMap { channels[$0] }
        isPending = false
        isDecoded = self.channels.count == channelCount
    }

    func copy(_ range: Range<Int>, into pcm: UnsafeMutableRawBufferPointer) {
        let shift = shift
        switch sample {
        case .s16: interleave(range, pcm) { Int16(truncatingIfNeeded: $0 << shift) }
        case .s32: interleave(range, pcm) { $0 << shift }
        case .f32: preconditionFailure("FLAC has integers")
        }
    }

    private func interleave<Sample>(
        _ range: Range<Int>,
        _ pcm: UnsafeMutableRawBufferPointer,
        _ sample: (Int32) -> Sample
    ) {
        precondition(range.count * channelCount * MemoryLayout<Sample>.stride <= pcm.count)
        let pcm = pcm.assumingMemoryBound(to: Sample.self)
        let channels = channels.map { $0 + range.lowerBound }
        if channels.count == 2 {
            // The compiler makes vector instructions of this loop, and most music is stereo.
            let left = channels[0]
            let right = channels[1]
            for index in 0..<range.count {
                pcm[2 * index] = sample(left[index])
                pcm[2 * index + 1] = sample(right[index])
            }
            return
        }
        for (channel, samples) in channels.enumerated() {
            for index in 0..<range.count { pcm[index * channels.count + channel] = sample(samples[index]) }
        }
    }
}
