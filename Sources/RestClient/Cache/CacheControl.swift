import Support

/// The directives of a `Cache-Control` header of a request or a response. Unknown directives are
/// ignored.
///
/// - Note: Source: RFC 9111, section 5.2, and RFC 5861. If a directive is repeated, the strictest
///   one applies. An argument that is not a number counts as 0, and no value exceeds 2^31.
struct CacheControl: Sendable, Equatable {
  var noStore = false
  var noCache = false
  var mustRevalidate = false
  var onlyIfCached = false
  /// Seconds.
  var maxAge: Double?
  /// Seconds after the response stops being fresh; infinite if the directive has no argument.
  var maxStale: Double?
  var staleIfError: Double?
  var staleWhileRevalidate: Double?
  var minFresh: Double?

  init() {}

  /// - Parameter values: The values of all `Cache-Control` header lines.
  init(_ values: [String]) {
    for value in values {
      for directive in CacheControl.directives(of: value) { take(directive.name, directive.argument) }
    }
  }

  init(headers: [(name: String, value: String)]) {
    self.init(headers.filter { $0.name.equalsIgnoringCase("Cache-Control") }.map(\.value))
    // RFC 9111, section 5.4: Pragma applies only if there is no Cache-Control.
    let isAlone = !headers.contains { $0.name.equalsIgnoringCase("Cache-Control") }
    let pragma = headers.filter { $0.name.equalsIgnoringCase("Pragma") }
    if isAlone, pragma.contains(where: { $0.value.lowercased().containsASCII("no-cache") }) { noCache = true }
  }

  private mutating func take(_ name: String, _ argument: String?) {
    switch name {
    case "no-store": noStore = true
    // With field names, no-cache restricts only those fields. We restrict the whole response, which
    // is the strict reading.
    case "no-cache": noCache = true
    case "must-revalidate": mustRevalidate = true
    case "only-if-cached": onlyIfCached = true
    case "max-age": maxAge = min(maxAge ?? .infinity, seconds(argument))
    case "max-stale": maxStale = min(maxStale ?? .infinity, argument == nil ? .infinity : seconds(argument))
    case "stale-if-error": staleIfError = min(staleIfError ?? .infinity, seconds(argument))
    case "stale-while-revalidate": staleWhileRevalidate = min(staleWhileRevalidate ?? .infinity, seconds(argument))
    case "min-fresh": minFresh = max(minFresh ?? 0, seconds(argument))
    default: break
    }
  }

  private func seconds(_ text: String?) -> Double {
    text.flatMap(DeltaSeconds.parse) ?? 0
  }

  /// Splits a header value into directives, with names in lower case and arguments unquoted.
  private static func directives(of value: String) -> [(name: String, argument: String?)] {
    var result: [(String, String?)] = [], rest = Array(value.utf8)[...]
    while !rest.isEmpty {
      let name = take(&rest) { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",") }
      var argument: String?
      if rest.first == UInt8(ascii: "=") {
        rest = rest.dropFirst()
        rest = rest.drop { isBlank($0) }
        argument = rest.first == UInt8(ascii: "\"") ? quoted(&rest) : take(&rest) { $0 != UInt8(ascii: ",") }
      }
      rest = rest.drop { $0 != UInt8(ascii: ",") }.dropFirst()
      if !name.isEmpty { result.append((name.lowercased(), argument)) }
    }
    return result
  }

  private static func take(_ rest: inout ArraySlice<UInt8>, while isPart: (UInt8) -> Bool) -> String {
    let part = rest.prefix(while: isPart)
    rest = rest.dropFirst(part.count)
    let trimmed = part.drop { isBlank($0) }
    return String(decoding: trimmed[..<(trimmed.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? trimmed.startIndex)], as: UTF8.self)
  }

  private static func quoted(_ rest: inout ArraySlice<UInt8>) -> String {
    var text: [UInt8] = []
    rest = rest.dropFirst()
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() { text.append(escaped) } else { text.append(byte) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
