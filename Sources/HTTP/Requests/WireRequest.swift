internal import Media

/// One request as libcurl sends it: to one URL, with all its header fields.
struct WireRequest: Sendable, Equatable {
    /// Without user name and password.
    var url: String
    /// The host's name, for error messages.
    var host: SafeText
    /// What the listener asked for, for error messages.
    var subject: SafeText
    var credentials: WebURL.UserInfo?
    /// `Name: value`, free of line breaks.
    var headerLines: [String]

    /// The request for the place that `redirects` has come to.
    init(_ request: RangeRequest, at redirects: RedirectState, headers: [RequestHeader]) {
        url = redirects.current.requestString
        host = SafeText(redirects.current.host)
        subject = redirects.original.safeText
        credentials = redirects.mayCarrySecrets ? redirects.original.userInfo : nil
        // Offsets only mean something in the bytes as they are stored (RFC 9110 §14.1.2 counts the
        // encoded ones), so no coding is wanted.
        var lines = ["Accept-Encoding: identity"]
        let add = { (lines: inout [String], name: String, value: String?) in
            guard let value, HeaderFields.isValue(value) else { return }
            // libcurl's way to send a field without a value; `Name:` would remove the field.
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if let range = request.range {
            add(&lines, "Range", RangeHeader.value(for: range))
            add(&lines, "If-Range", request.ifRange)
        }
        add(&lines, "If-None-Match", request.unlessMatches?.etag)
        if request.unlessMatches?.etag == nil {
            add(&lines, "If-Modified-Since", request.unlessMatches?.lastModified)
        }
        if redirects.mayCarrySecrets {
            for header in headers { add(&lines, header.name, header.value) }
        }
        headerLines = lines
    }
}
