import Media
import TestSupport
import Testing

@testable import Playback

/// Seeks to chapters, and the answers to them.
@Suite struct ChapterTests {
    private static let music: StreamInfo = {
        var info = StreamInfo.music(seconds: 60)
        info.chapters = ChapterList([
            Chapter(start: .zero, title: "Start"), Chapter(start: .seconds(20), title: "Middle"),
            Chapter(start: .seconds(40), title: ""), Chapter(start: .seconds(90), title: "Nowhere"),
        ])
        return info
    }()

    private func notice(_ text: SafeText) -> PlayerEffect {
        .emit(.notice(code: "bad-command", message: text))
    }

    @Test(
        arguments: [
            (.next, 5, 20, "Chapter 2 of 4: Middle"), (.next, 25, 40, "Chapter 3 of 4"),
            (.previous, 22, 0, "Chapter 1 of 4: Start"), (.previous, 30, 20, "Chapter 2 of 4: Middle"),
            (.previous, 2, 0, "Chapter 1 of 4: Start"), (.number(3), 5, 40, "Chapter 3 of 4"),
        ] as [(ChapterTarget, Int, Int, SafeText)]
    )
    func `a chapter is a seek to its start, answered by its name`(
        target: ChapterTarget,
        heard: Int,
        start: Int,
        name: SafeText
    ) {
        var state = PlayerState.sounding(1, Self.music)
        let effects = state.send(.chapter(target), heard: FrameCount(heard * 1_000), now: .seconds(heard))
        #expect(effects.start?.position == .seconds(start) && state.position == .seconds(start))
        #expect(effects.contains(.emit(.remark(code: "chapter", message: name))))
    }

    @Test func `the chapters before and after one that was just sought follow each other`() {
        var state = PlayerState.sounding(1, Self.music)
        let command = { (target: ChapterTarget) in
            state.send(.chapter(target), heard: 1_000, now: .seconds(1)).start?.position
        }
        #expect(command(.next) == .seconds(20))
        #expect(command(.next) == .seconds(40))
        #expect(command(.previous) == .seconds(20))
        #expect(command(.previous) == .zero)
        #expect(command(.previous) == .zero)
    }

    @Test func `a chapter that is missing, or begins behind the end, is refused, and the music plays on`() {
        var state = PlayerState.sounding(1, Self.music)
        let refusals: [(ChapterTarget, SafeText)] = [
            (.number(5), "No chapter 5 (there are 4)"), (.number(4), "The track is 1:00 long"),
        ]
        for (target, text) in refusals {
            let effects = state.send(.chapter(target), heard: 5_000, now: .seconds(5))
            #expect(effects.contains(notice(text)) && effects.start == nil)
        }
        var plain = PlayerState.sounding(1, .music(seconds: 60))
        #expect(plain.send(.chapter(.next), heard: 5_000).contains(notice("This track has no chapters")))
        var opening = PlayerState(exitsAtEnd: true, seed: 1)
        opening.send(.launched(numbered(1...1)))
        let unknown = notice("The chapters are not known yet: the track is being opened")
        #expect(opening.send(.chapter(.next)).contains(unknown))
    }

    @Test func `the track event counts the chapters`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        state.send(.launched(numbered(1...1)))
        let counts = state.send(.ready(1, Self.music)).compactMap { effect -> Int? in
            guard case .emit(.track(let report)) = effect else { return nil }
            return report.chapters
        }
        #expect(counts == [4])
        // Some are found later; titles alone are no event.
        var more = Self.music
        more.chapters = ChapterList(more.chapters.chapters + [Chapter(start: .seconds(50), title: "Late")])
        let isAnnounced = { (info: StreamInfo) in
            state.send(.infoChanged(1, info)).contains { if case .emit(.track) = $0 { true } else { false } }
        }
        #expect(isAnnounced(more) && !isAnnounced(more))
    }
}
