import Media
import TestSupport
import Testing

@testable import Playback

/// The commands about the devices to which the sound can go.
struct SoundDeviceTests {
    private static let devices = [
        SoundDevice("a", title: "Loudspeaker", isCurrent: true), SoundDevice("b", title: "Headphones"),
    ]

    /// The effects of `command`, after the player has found `devices`.
    private func effects(
        of command: PlayerCommand,
        _ devices: [SoundDevice] = Self.devices,
        in state: inout PlayerState
    ) -> [PlayerEffect] {
        #expect(state.send(command) == [.findDevices(for: command)])
        return state.send(.devicesFound(devices, for: command))
    }

    @Test func `the list is an answer to the one who asked`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        #expect(
            effects(of: .listDevices, in: &state)
                == [.answer([.emit(.devices(Self.devices, chosen: nil))])]
        )
        _ = effects(of: .setDevice("b"), in: &state)
        #expect(
            effects(of: .listDevices, in: &state)
                == [.answer([.emit(.devices(Self.devices, chosen: "b"))])]
        )
    }

    @Test func `a device is chosen by its name, and the default one by none`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        #expect(
            effects(of: .setDevice("b"), in: &state) == [
                .setDevice("b"), .emit(.remark(code: "device", message: "Sound goes to Headphones")),
            ]
        )
        #expect(state.device == "b")
        #expect(
            effects(of: .setDevice(nil), in: &state) == [
                .setDevice(nil), .emit(.remark(code: "device", message: "Sound goes to the default device")),
            ]
        )
        #expect(state.device == nil)
    }

    @Test func `a name that no device has is refused, and so is any without a sound server`() {
        var settings = PlaybackSettings()
        settings.device = "b"
        var state = PlayerState(settings)
        #expect(
            effects(of: .setDevice("x"), in: &state)
                == [.emit(.notice(code: "bad-command", message: "No sound device is called x"))]
        )
        let message: SafeText = "No sound device can be chosen: there is no sound server"
        for command in [PlayerCommand.setDevice(nil), .setDevice("a"), .listDevices] {
            #expect(
                effects(of: command, [], in: &state)
                    == [.emit(.notice(code: "bad-command", message: message))]
            )
        }
        #expect(state.device == "b")
    }

    @Test func `the sink gets the device of the last session, and the player the one that is chosen`()
        async throws
    {
        let sink = TestSink(allowance: 10)
        sink.setDevices(Self.devices)
        let stage = Stage([FakeMusic(number: 1, frames: 1_000)], sink: sink, deviceName: "a")
        let run = Task { await stage.player.run(sources: ["x"]) }
        try await wait(for: "the device") { sink.chosenDevices == ["a"] }
        stage.player.send(.setDevice("b"))
        try await wait(for: "the choice") { stage.player.snapshot.device == "b" }
        #expect(sink.chosenDevices == ["a", "b"])
        stage.player.send(.quit)
        _ = await run.value
    }
}
