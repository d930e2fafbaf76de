import CPulse
import Media

/// The volume of the stream at the server, which mixers change too. With the main loop's lock held.
extension PulseStream {
    func applyVolume() {
        guard isReady, volume.isChosen else { return }
        let index = pa_stream_get_index(stream)
        var levels = pa_cvolume()
        pa_cvolume_set(&levels, UInt32(clamping: format.channelCount), volume.level.volume)
        forget(pa_context_set_sink_input_volume(context, index, &levels, nil, nil))
        forget(pa_context_set_sink_input_mute(context, index, volume.level.isMuted ? 1 : 0, nil, nil))
    }

    /// The server says that something of the sink input `index` changed.
    func inputChanged(_ index: UInt32) {
        guard isReady, index == pa_stream_get_index(stream) else { return }
        act(on: volume.changeSignalled())
    }

    func act(on action: PulseVolumeState.Action) {
        switch action {
        case .none: break
        case .ask: askForVolume()
        case .report(let level): onEvent(.volumeChanged(percent: level.percent, isMuted: level.isMuted))
        }
    }

    func dropVolumeQuestion() {
        guard let question = volumeQuestion else { return }
        if pa_operation_get_state(question) == PA_OPERATION_RUNNING { pa_operation_cancel(question) }
        pa_operation_unref(question)
        volumeQuestion = nil
        volume.unanswered()
    }

    private func askForVolume() {
        let index = pa_stream_get_index(stream)
        let question = pa_context_get_sink_input_info(
            context,
            index,
            { _, info, endOfList, box in PulseStream.from(box)?.volumeAnswered(info, endOfList) },
            box
        )
        guard let question else { return volume.unanswered() }
        volumeQuestion = question
    }

    /// Called with the sink input, and once more with the end of the list of one.
    private func volumeAnswered(_ info: UnsafePointer<pa_sink_input_info>?, _ endOfList: CInt) {
        if endOfList == 0, let info {
            volumeHeard = withUnsafePointer(to: info.pointee.volume) { levels in
                PulseVolumeState.Level(volume: pa_cvolume_avg(levels), isMuted: info.pointee.mute != 0)
            }
            return
        }
        forget(volumeQuestion)
        volumeQuestion = nil
        guard endOfList > 0, let level = volumeHeard else { return volume.unanswered() }
        volumeHeard = nil
        act(on: volume.answered(level))
    }
}
