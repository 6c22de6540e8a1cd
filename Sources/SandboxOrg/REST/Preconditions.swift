/// The conditional headers of a request for a resource with a modification time and perhaps an
/// entity tag.
///
/// Source: Salesforce, "Conditional requests": times are compared in whole seconds; tags only if
/// the object has them.
struct Preconditions {
  let request: ServerRequest
  /// Seconds since 1970 UTC.
  let lastModified: Int64
  /// Including its quotes; nil if the object has no entity tags.
  var entityTag: String?

  /// Returns a 304 for a read if the client's copy is current.
  ///
  /// - Throws: ``SandboxError`` 412 if the resource has changed.
  func shortReply() throws(SandboxError) -> ServerReply? {
    try requireUnchanged(isWrite: false)
    let unchanged = ServerReply(status: 304, headers: headers, body: [])
    if let tags = try self.tags("if-none-match", isWrite: false) { return matches(tags) ? unchanged : nil }
    if let text = request.header("if-modified-since"), let since = HTTPDate.seconds(parsing: text), lastModified <= since {
      return unchanged
    }
    return nil
  }

  /// Checks the conditions of a write.
  ///
  /// - Throws: ``SandboxError`` 412 if the resource has changed, 400 for an invalid header.
  func requireForWrite() throws(SandboxError) {
    try requireUnchanged(isWrite: true)
    if let tags = try self.tags("if-none-match", isWrite: true), matches(tags) { throw Self.failed }
  }

  /// `Last-Modified` and `ETag` of the response.
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

  /// Returns the tags of a header without `-gzip`; nil without the header, or if the object has no
  /// tags.
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
