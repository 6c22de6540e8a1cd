import Foundation
import JSON
import RecordScan
import Support

@testable import RestClient
@testable import RestCollections

/// What leads from one page of a list to the next: `Link` headers, URL references, queries, next URLs, templates and paths.
enum LinkTarget {
  static let target = ParserTarget(
    "link", usualRounds: 800,
    dictionary: [
      "rel=next", "rel=\"next\"", "; rel", "anchor=\"", "title*=UTF-8''", "<https://h.example/a?page=2>", "https://", "http://",
      "//evil.example/", "@evil.example", "\\evil.example", "?page=", "&page=", "#next", "/../", "/./", "%2e%2e", "%2F", "%0d%0a",
      "[::1]",
      "127.0.0.1", ":443", ":80", ":0", ":65536", "h.example", "H.EXAMPLE", "{+a}", "{?a,b}", "{&c}", "{a", "$", "[*]",
      "[rel=next]",
      "header:", "~0", "~1", "links", "next",
    ],
    [
      .text("Link", header), .text("reference", reference), .text("query", query), .text("next URL", nextURL),
      .text("address", address), .text("template", template), .text("path", path),
    ])

  private static let base = "https://h.example/list/all?page=1"

  /// A URL has no white space, no control character and no character that needs encoding.
  private static func checkURL(_ url: String, _ what: String) throws(FuzzFailure) {
    try FuzzFailure.unless(
      url.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "\(what) has characters that a URL cannot have: \(url)")
  }

  private static func header(_ text: String) throws -> String {
    let header = LinkHeader(text.split(separator: "\n").map(String.init))
    try FuzzFailure.unless(header.links.count <= text.utf8.count { $0 == UInt8(ascii: "<") }, "more links than there are '<'")
    for link in header.links {
      try FuzzFailure.unless(!link.relations.isEmpty && link.relations.allSatisfy { !$0.isEmpty }, "a link without a relation")
      let written = written(link), again = LinkHeader([written]).links
      try FuzzFailure.unless(again == [link], "a link that is written as \(written) and reads differently")
    }
    var found = 0
    for relation in ["next", "LAST", "prev"] {
      guard let target = header.target(of: relation, responseURL: base) else { continue }
      found += 1
      try checkURL(target, "the target")
      try FuzzFailure.unless(URLReference(target).scheme != nil && !target.contains("#"), "the target is not absolute: \(target)")
    }
    if header.links.isEmpty { throw FuzzedParser.Refused("no links, damaged: \(header.isDamaged)") }
    return
      "\(FuzzSignal.magnitude(header.links.count)) \(found) \(header.isDamaged) \(header.links.contains { $0.anchor != nil })"
  }

  private static func written(_ link: WebLink) -> String {
    func quoted(_ text: String) -> String {
      "\"" + text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }
    let anchor = link.anchor.map { "; anchor=" + quoted($0) } ?? ""
    return "<\(link.target)>; rel=\(quoted(link.relations.joined(separator: " ")))\(anchor)"
  }

  private static func reference(_ text: String) throws -> String {
    let parsed = URLReference(text)
    try FuzzFailure.unless(parsed.text.hasSameBytes(as: text), "the reference is spelled '\(parsed.text)' afterwards")
    let repaired = URLReference.repaired(text)
    try checkURL(repaired, "the repaired reference")
    try FuzzFailure.unless(URLReference.repaired(repaired) == repaired, "repairing '\(repaired)' again changes it")
    let resolved = URLReference.resolve(repaired, against: base), url = URLReference(resolved)
    try FuzzFailure.unless(url.scheme != nil, "'\(resolved)' is not absolute")
    if parsed.scheme == nil, parsed.authority == nil {
      try FuzzFailure.unless(url.origin == "https://h.example", "a relative reference leads to \(url.origin ?? "no server")")
    }
    let segments = url.path.split(separator: "/")
    try FuzzFailure.unless(!segments.contains("..") && !segments.contains("."), "'\(resolved)' has dot segments")
    return
      "\(parsed.scheme != nil) \(parsed.authority != nil) \(parsed.query != nil) \(parsed.fragment != nil) \(parsed.path.first == "/")"
  }

  private static func query(_ text: String) throws -> String {
    let pairs = URLQuery.pairs(of: text)
    try FuzzFailure.unless(pairs.count <= text.utf8.count + 1, "\(pairs.count) pairs")
    for value in ["2", "", "a&b=c#d?é+%20", text] {
      let set = URLQuery.setting("page", to: value, in: text)
      try FuzzFailure.unless(
        URLQuery.value(of: "page", in: set)?.hasSameBytes(as: value) ?? false, "'page' is not '\(value)' in \(set)")
      let others = URLQuery.pairs(of: set).filter { !$0.name.hasSameBytes(as: "page") }
      let before = pairs.filter { !$0.name.hasSameBytes(as: "page") }
      try FuzzFailure.unless(
        others.elementsEqual(before) { $0.name.hasSameBytes(as: $1.name) && $0.value.hasSameBytes(as: $1.value) },
        "setting 'page' changes other pairs: \(set)")
      let moved = URLReference(set), whole = URLReference(text)
      try FuzzFailure.unless(
        moved.path == whole.path && moved.authority == whole.authority && moved.scheme == whole.scheme
          && moved.fragment == whole.fragment,
        "setting 'page' changes more than the query: \(set)")
    }
    let encoded = PercentEncoding.encode(text)
    try checkURL(encoded, "the encoded text")
    try FuzzFailure.unless(PercentEncoding.decode(encoded)?.hasSameBytes(as: text) ?? false, "encoding '\(text)' loses it")
    return "\(FuzzSignal.magnitude(pairs.count)) \(pairs.contains { $0.value.isEmpty })"
  }

  private static func pagedTarget(_ options: String) -> RestTarget {
    let text = #"{"type":"rest","connection":"c","url":"/list","paging":{"style":"link"\#(options)}}"#
    // The target is our own text.
    return try! RestTarget(JSONValue(parsing: text).objectValue ?? [:])
  }
  private static let plainTarget = pagedTarget("")
  private static let keepingTarget = pagedTarget(#","keepParams":["per_page","q"]"#)

  /// A next URL leads to the connection's own server, or to one that its settings allow.
  private static func nextURL(_ text: String) throws -> String {
    var signal = ""
    for target in [plainTarget, keepingTarget] {
      let next = NextURL(target: target, base: base, allowedOrigins: ["https://files.example:8443"])
      let prepared: (url: String, isForeign: Bool)
      do { prepared = try next.prepared(text, from: base, first: base + "&per_page=5&q=%C3%A4") } catch {
        // It ends up in a sync's state.
        try FuzzFailure.unless(error.description.utf8.count < 1_000, "a message of \(error.description.utf8.count) bytes")
        throw FuzzedParser.Refused("\(error.code) \(error.description)")
      }
      try checkURL(prepared.url, "the next URL")
      let expected = prepared.isForeign ? (host: "files.example", port: 8443) : (host: "h.example", port: 443)
      try checkHost(prepared.url, host: expected.host, port: expected.port)
      signal += " \(prepared.isForeign) \(URLReference(prepared.url).query != nil)"
      _ = NextURL.differsByANumber(base, prepared.url)
    }
    return signal
  }

  /// Another parser of URLs, which the HTTP library uses, finds the same server.
  private static func checkHost(_ url: String, host: String, port: Int) throws(FuzzFailure) {
    guard let parsed = URL(string: url), let other = parsed.host(percentEncoded: true) else { return }
    let otherPort = parsed.port ?? (parsed.scheme?.lowercased() == "https" ? 443 : 80)
    try FuzzFailure.unless(
      other.lowercased() == host.filter { $0 != "[" && $0 != "]" } && otherPort == port,
      "'\(url)' is taken for \(host):\(port), and leads to \(other):\(otherPort)")
  }

  private static func address(_ text: String) throws -> String {
    var signal = ""
    for path in [text, "/" + text] {
      let url: String
      do { url = try WebAddress.url(path: path, query: [("a", text)], base: "https://h.example/base/") } catch {
        signal += FuzzSignal.shape(error.message)
        continue
      }
      try checkURL(url, "the request's URL")
      guard let address = WebAddress(url) else { throw FuzzFailure(message: "'\(url)' has no address") }
      try FuzzFailure.unless(address.isEncrypted || address.isLoopback, "unencrypted to \(address.host)")
      try checkHost(url, host: address.host, port: address.port)
      if path.hasPrefix("/") { try FuzzFailure.unless(address.host == "h.example", "a path leads to \(address.host)") }
      signal += " \(address.scheme) \(address.isLoopback)"
    }
    guard WebAddress(text) != nil else { throw FuzzedParser.Refused(signal) }
    return signal
  }

  private static func template(_ text: String) throws -> String {
    let template = try URITemplate(text, for: .url)
    let url = try template.expanded { $0.utf8.count > 12 ? nil : "é /?&#%0d\r\n" + $0 }
    try checkURL(url, "the expanded template")
    let names = template.names
    _ = try? URITemplate(text, for: .text).expanded { $0 }
    return "\(FuzzSignal.magnitude(names.count)) \(template.isWholeReference)"
  }

  private static func path(_ text: String) throws -> String {
    let path = try ValuePath(text, taking: [.header, .each])
    try FuzzFailure.unless(path.text.hasSameBytes(as: text), "the path is spelled '\(path.text)' afterwards")
    let values: JSONValue = ["a": ["b": [["c": 1, "rel": "next"], ["c": [nil]]]], "links": [["rel": "next", "href": "/x"]]]
    let bytes = values.serialized()
    if let steps = path.steps {
      let found = try bytes.withUnsafeBytes { raw in
        try ScannedValue(kind: .object, start: 0, count: bytes.count).value(at: steps, in: raw).kind
      }
      return "\(FuzzSignal.magnitude(steps.count)) \(found)"
    }
    return path.headerName == nil ? "each" : "header"
  }
}
