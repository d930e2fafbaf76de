import Media
import Testing

@Suite struct FeedDateTests {
    @Test(
        arguments: [
            // RFC 2822, and what feeds write instead.
            ("Mon, 23 Nov 2026 08:05:30 +0100", 1_795_417_530, "2026-11-23"),
            ("23 Nov 2026 08:05 GMT", 1_795_421_100, "2026-11-23"),
            ("Monday, 23 November 2026 03:05:30 EST", 1_795_421_130, "2026-11-23"),
            ("Tues, 1 dec 26 00:30:00 +0200", 1_796_077_800, "2026-12-01"),
            ("Mon,23 Nov 2026 08:05:30 WEST", 1_795_421_130, "2026-11-23"),
            ("Mon, 23 Nov 2026", 1_795_392_000, "2026-11-23"),
            ("Thu, 29 Feb 1996 23:59:60 -0000", 825_638_400, "1996-03-01"),
            // RFC 3339, in RSS too.
            ("2026-11-23T08:05:30Z", 1_795_421_130, "2026-11-23"),
            ("2026-11-23t08:05:30.123-05:00", 1_795_439_130, "2026-11-23"),
            ("2026-11-23 23:05:30 -0500", 1_795_493_130, "2026-11-23"),
            ("2026-11-23", 1_795_392_000, "2026-11-23"),
            ("1970-01-01T00:00:00+01:00", -3_600, "1970-01-01"),
            ("2000-02-29T12:00:00Z", 951_825_600, "2000-02-29"),
            // Neither.
            ("Mon Nov 23 08:05:30 2026", 1_795_421_130, "2026-11-23"),
            ("Mon Nov 23 03:05:30 EST 2026", 1_795_421_130, "2026-11-23"),
            ("November 23, 2026 8:05 pm", 1_795_464_300, "2026-11-23"),
            ("Nov. 23rd, 2026", 1_795_392_000, "2026-11-23"), ("23. Nov. 2026", 1_795_392_000, "2026-11-23"),
            ("11/23/2026 12:05:30 AM", 1_795_392_330, "2026-11-23"),
            ("23/11/2026", 1_795_392_000, "2026-11-23"), ("23.11.2026 08:05", 1_795_421_100, "2026-11-23"),
            ("2026/11/23 08:05:30 +0100", 1_795_417_530, "2026-11-23"),
            ("Mon, 23-Nov-2026 08:05:30 GMT", 1_795_421_130, "2026-11-23"),
            ("20261123T080530Z", 1_795_421_130, "2026-11-23"), ("20261123", 1_795_392_000, "2026-11-23"),
            ("Mon, 23 Nov 2026 09:05:30 GMT+1", 1_795_421_130, "2026-11-23"),
            ("Mon, 23 Nov 2026 09:05:30 UTC+01:00", 1_795_421_130, "2026-11-23"),
            ("Mo, 23 Okt 2026 08:05:30 CEST", 1_792_735_530, "2026-10-23"),
            ("lun., 23 août 2026", 1_787_443_200, "2026-08-23"),
            ("23 juil. 2026", 1_784_764_800, "2026-07-23"),
        ] as [(String, Int64, String)]
    )
    func `a date is a moment, and a day of its publisher`(text: String, seconds: Int64, day: String) throws {
        let date = try #require(FeedDate(parsing: text))
        #expect(date.seconds == seconds)
        #expect(date.day == day)
    }

    @Test(
        arguments: [
            "", " ", "yesterday", "Mon", "23 Nov", "32 Nov 2026", "23 Foo 2026", "23 Nov 2026 8h05",
            "23 Nov 2026 25:00:00", "23 Nov 2026 08:61", "2026-13-01", "2026-11",
            "2026-11-23T8",
            "99999-01-01", "2026-11-23Tx", "-2026-11-23", "1234567890", "२३ Nov 2026",
        ]
    )
    func `what is not a date is none`(text: String) {
        #expect(FeedDate(parsing: text) == nil)
    }

    @Test func `days and their numbers lead to each other`() {
        for days in stride(from: Int64(-700_000), through: 3_000_000, by: 97) {
            let day = CalendarDay(daysSince1970: days)
            #expect(day.daysSince1970 == days)
            #expect((1...12).contains(day.month) && (1...31).contains(day.day))
        }
        #expect(CalendarDay(daysSince1970: 0) == CalendarDay(year: 1970, month: 1, day: 1))
        #expect(CalendarDay(daysSince1970: 11_016) == CalendarDay(year: 2000, month: 2, day: 29))
    }
}
