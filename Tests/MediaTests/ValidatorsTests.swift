import Media
import Testing

@Suite
struct ValidatorsTests {
    @Test(
        arguments: [
            (Validators(), nil), (Validators(etag: "\"a\""), "\"a\""), (Validators(etag: "W/\"a\""), nil),
            (Validators(etag: "W/\"a\"", lastModified: "date"), "date"),
            (Validators(etag: "\"a\"", lastModified: "date"), "\"a\""),
        ] as [(Validators, String?)]
    )
    func `only a strong tag or a date may stand in If-Range`(validators: Validators, expected: String?) {
        #expect(validators.ifRange == expected)
        #expect(validators.isEmpty == (validators == Validators()))
    }
}
