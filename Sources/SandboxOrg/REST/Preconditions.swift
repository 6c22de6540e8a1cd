/// The conditional headers of a request for something with a time of change and, maybe, an entity tag.
///
/// Source: Salesforce, "Conditional requests": times count whole seconds, tags are looked at where the object has them.
struct Preconditions {
  let request: ServerRequest
  /// Seconds since 1970 UTC.
  let lastModified: Int64
  /// With its quotation marks; nil where there are none.
  var entityTag: String?

  /// For reads: what to answer in place of the whole.
  /// - Throws: ``SandboxError`` 412 when it has changed since.
  func shortReply() throws(SandboxError) -> ServerReply? {
    try requireUnchanged(isWrite: false)
    let unchanged = ServerReply(status: 304, headers: headers, body: [])
    if let tags = try self.tags("if-none-match", isWrite: false) { return matches(tags) ? unchanged : nil }
    if let text = request.header("if-modified-since"), let since = HTTPDate.seconds(parsing: text), lastModified <= since {
      return unchanged
    }
    return nil
  }

  /// For writes.
  /// - Throws: ``SandboxError`` 412 when it has changed since, 400 for a header that cannot be read.
  func requireForWrite() throws(SandboxError) {
    try requireUnchanged(isWrite: true)
    if let tags = try self.tags("if-none-match", isWrite: true), matches(tags) { throw Self.failed }
  }

  /// `Last-Modified` and `ETag` of the answer.
  var headers: [(name: String, value: String)] {
    [("Last-Modified", HTTPDate.text(lastModified))] + (entityTag.map { [("ETag", $0)] } ?? [])
  }

  private func requireUnchanged(isWrite: Bool) throws(SandboxError) {
    if let text = request.header("if-unmodified-since") {
      guard let since = HTTPDate.seconds(parsing: text) else {
        if isWrite { throw unreadable("If-Unmodified-Since", text) }
        return
      }
      if lastModified > since { throw Self.failed }
    }
    if let tags = try self.tags("if-match", isWrite: isWrite), !matches(tags) { throw Self.failed }
  }

  /// The tags of a header, without `-gzip`; nil without the header and where there are no tags to compare with.
  private func tags(_ name: String, isWrite: Bool) throws(SandboxError) -> [String]? {
    guard entityTag != nil, let text = request.header(name) else { return nil }
    let parts = text.split(separator: ",").map { $0.drop { $0 == " " }.filter { $0 != " " } }
    var tags: [String] = []
    for part in parts {
      let tag = part.hasPrefix("W/") ? String(part.dropFirst(2)) : String(part)
      guard tag == "*" || tag.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") else {
        if isWrite { throw unreadable(name, text) }
        return []
      }
      tags.append(tag.hasSuffix("-gzip\"") ? String(tag.dropLast(6)) + "\"" : tag)
    }
    return tags
  }

  private func matches(_ tags: [String]) -> Bool { tags.contains { $0 == "*" || $0 == entityTag } }

  private func unreadable(_ name: String, _ text: String) -> SandboxError {
    SandboxError(status: 400, code: "INVALID_HEADER", message: "the header \(name) cannot be read: \(text)")
  }

  private static let failed = SandboxError(
    status: 412, code: "PRECONDITION_FAILED", message: "The record was changed since, or has another entity tag")
}

/// Moments as HTTP headers spell them: `Tue, 10 Aug 2027 08:00:00 GMT`.
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// - Parameter seconds: Since 1970 UTC.
  static func text(_ seconds: Int64) -> String {
    let iso = Timestamp.text(seconds)
    let day = Int((seconds >= 0 ? seconds : seconds - 86_399) / 86_400)
    let date = CivilDate(dayNumber: day)
    let weekday = days[((day % 7) + 7) % 7]
    return "\(weekday), \(iso.dropFirst(8).prefix(2)) \(months[date.month - 1]) \(iso.prefix(4)) "
      + "\(iso.dropFirst(11).prefix(8)) GMT"
  }

  /// nil for anything else; the day of the week is not checked.
  static func seconds(parsing text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT" || words[5] == "UTC",
      let month = months.firstIndex(of: String(words[2])), words[1].count == 2, words[3].count == 4, words[4].count == 8
    else { return nil }
    let number = month + 1
    let iso = "\(words[3])-\(number < 10 ? "0" : "")\(number)-\(words[1])T\(words[4])Z"
    return Timestamp.milliseconds(parsing: iso).map { $0 / 1000 }
  }
}

/// Names for contents: the same bytes have the same tag.
enum EntityTag {
  static func of(_ bytes: [UInt8]) -> String {
    // FNV-1a, 64 bits: not against forgery, only to tell versions apart.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return "\"" + String(hash, radix: 36) + "\""
  }
}
