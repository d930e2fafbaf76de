import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Cached bytes are used as they are, until the user requests a check.
@Suite(.serialized) struct FreshnessTests {
    private let old = ExactMusic.asset("01-cbr.mp3")
    private let new = ExactMusic.asset("02-vbr.mp3")

    @Test func `a file that changed is noticed with --refresh, and not before`() async throws {
        let stage = try ExactStage(try await old.bytes)
        _ = try await stage.play()
        stage.server.set(try await new.bytes, at: ExactStage.path(0))
        stage.server.log.reset()

        let unasked = try await stage.play()
        #expect(try await unasked.firstDifference(from: old.reference) == nil)
        #expect(stage.server.log.requests.isEmpty)

        let asked = try await stage.play(options: ["--refresh"])
        #expect(try await asked.firstDifference(from: new.reference) == nil)
        #expect(try stage.claims().firstFalseByte(comparedWith: await new.bytes) == nil)
    }

    @Test func `--refresh of a current file sends one request and no byte of it`() async throws {
        let stage = try ExactStage(try await old.bytes)
        _ = try await stage.play()
        stage.server.log.reset()
        let sound = try await stage.play(options: ["--refresh"])
        #expect(try await sound.firstDifference(from: old.reference) == nil)
        #expect(stage.server.log.requests.map(\.status) == [304])
        #expect(stage.server.log.bytesSent == 0)
    }

    @Test func `reload plays on at the same place in the file that is there now`() async throws {
        let stage = try ExactStage(try await old.bytes)
        let run = try ExactRun([stage.url()], on: stage, options: ["--sink", "null"])
        try await run.event("playing")
        stage.server.set(try await new.bytes, at: ExactStage.path(0))
        let before = run.process.lines.count
        try run.command("reload")
        try await run.event("playing", from: before)
        try run.command("quit")
        try await run.finish()
        let claims = try stage.claims()
        #expect(!claims.ranges.isEmpty)
        #expect(try claims.firstFalseByte(comparedWith: await new.bytes) == nil)
    }
}
