import Media
import System
import Testing

@testable import TerminalUI

struct DeviceCommandTests {
    @Test func `the command alone offers all devices and the default, and Tab completes a name`() {
        var state = queueState(3)
        #expect(state.type(":device\n") == [.remember("device"), .listDevices("")])
        _ = state.apply(.devices(["usb", "hdmi"], word: ""))
        #expect(state.commandLine?.text == "device ")
        #expect(state.commandLine?.offer.candidates == ["usb", "hdmi", "default"])
        #expect(state.type("↓↓\n") == [.remember("device hdmi"), .send(.setDevice("hdmi"))])
        #expect(state.type(":device h\t") == [.listDevices("h")])
        _ = state.apply(.themes([], word: "h"))
        _ = state.apply(.devices(["usb", "hdmi"], word: "u"))
        #expect(state.commandLine?.text == "device h", "another word was asked for")
        _ = state.apply(.devices(["usb", "hdmi"], word: "h"))
        #expect(state.commandLine?.text == "device hdmi")
    }

    @Test func `without a screen the command alone asks the player, which prints the devices`() {
        var state = PlainState(keyMap: .standard, history: [], glyphs: .ascii)
        _ = state.typed(":")
        #expect(state.entered("device").actions == [.send(.listDevices)])
        #expect(!state.wantsLine)
    }

    @Test func `the present device is offered first`() async throws {
        let woken = OneShot<Void>()
        let lister = Lister(
            themes: { [] },
            devices: {
                [SoundDevice("a", title: "A"), SoundDevice("b", title: "B", isCurrent: true)]
            }
        ) { woken.give(()) }
        lister.listDevices("x")
        await woken.wait(ifCancelled: ())
        #expect(lister.take() == [.devices(["b", "a"], word: "x")])
    }
}
