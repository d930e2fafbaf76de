import Media
import Testing

struct SeekTargetTests {
    @Test(
        arguments: [
            ("+10", .by(.seconds(10))), ("-2.5", .by(.milliseconds(-2_500))), ("90", .to(.seconds(90))),
            ("1:30", .to(.seconds(90))), ("1:00:05.5", .to(.milliseconds(3_605_500))),
            ("-1:00", .by(.seconds(-60))), ("50%", .percent(50)), ("0%", .percent(0)),
            ("100%", .percent(100)), ("12.5%", .percent(12.5)), ("30m", .to(.seconds(1_800))),
            ("2h", .to(.seconds(7_200))), ("+90s", .by(.seconds(90))), ("-1.5m", .by(.seconds(-90))),
        ] as [(String, SeekTarget)]
    )
    func `a target is parsed from its text`(text: String, target: SeekTarget) {
        #expect(SeekTarget(parsing: text) == target)
    }

    @Test(arguments: [
        "", "x", "1:60", "1:2:60", "1:2:3:4", ":5", "5:", "+", "+-5", "1e3", "0x10", "٣", "nan", "101%",
        "-1%", "+5%", "%", "0x10%", "1.2.3", "m", "+h", "1:30m", "5M", "2 h", "99999h",
    ])
    func `any other text is refused`(text: String) {
        #expect(SeekTarget(parsing: text) == nil)
    }

    @Test(arguments: [
        (0, "0:00"), (59, "0:59"), (60, "1:00"), (3_599, "59:59"), (3_600, "1:00:00"), (-5, "0:00"),
        (36_061, "10:01:01"),
    ])
    func `a time is shown in clock form`(seconds: Int, expected: String) {
        #expect(Duration.seconds(seconds).clockTime == expected)
    }

    @Test func `every second of a long day is read back as it is shown`() {
        let seconds = Array(0..<4_000) + Array(stride(from: 4_000, to: 100_000, by: 37))
        #expect(seconds.allSatisfy { Duration(clockTime: Duration.seconds($0).clockTime) == .seconds($0) })
    }
}
