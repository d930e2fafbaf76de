import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Cached bytes are used as they are, until the user requests a check.
@Suite(.serialized) struct FreshnessTests {
    private let old = ExactMusic.asset("01-cbr.mp3")
    private let new = ExactMusic.asset("02-vbr.mp3")

    @Test func `a file that changed is noticed with --refresh, and not before`() async throws {
        let stage = try await Stage(try await old.bytes)
        _ = try await stage.samples()
        stage.server.set(try await new.bytes, at: Stage.path(0))
        stage.server.log.reset()

        let unasked = try await stage.samples()
        try await expectSame(unasked, as: old.reference)
        #expect(stage.server.log.requests.isEmpty)

        let asked = try await stage.samples(options: ["--refresh"])
        try await expectSame(asked, as: new.reference)
        #expect(try stage.claims().firstFalseByte(comparedWith: await new.bytes) == nil)
    }

    @Test func `--refresh of a current file sends one request and no byte of it`() async throws {
        let stage = try await Stage(try await old.bytes)
        _ = try await stage.samples()
        stage.server.log.reset()
        try await expectSame(stage.samples(options: ["--refresh"]), as: old.reference)
        #expect(stage.server.log.requests.map(\.status) == [304])
        #expect(stage.server.log.bytesSent == 0)
    }

    @Test func `reload plays on at the same place in the file that is there now`() async throws {
        let stage = try await Stage(try await old.bytes)
        let run = try stage.session([stage.url()], options: ["--sink", "null"])
        try await run.event("playing")
        stage.server.set(try await new.bytes, at: Stage.path(0))
        let before = run.process.lines.count
        try run.command("reload")
        try await run.event("playing", from: before)
        try await run.quit()
        let claims = try stage.claims()
        #expect(!claims.ranges.isEmpty)
        #expect(try claims.firstFalseByte(comparedWith: await new.bytes) == nil)
    }
}
