/// Rules for every resource: versions, methods and response formats.
enum Negotiation {
  /// Returns the method. A POST can override it, for clients that cannot send other methods.
  static func method(of request: ServerRequest) -> String {
    guard request.method == "POST" else { return request.method }
    return (request.parameter("_HttpMethod") ?? request.header("x-http-method-override"))?.uppercased() ?? "POST"
  }

  /// - Throws: ``SandboxError`` 410 for a retired version, 404 for an invalid or future one.
  static func checkVersion(_ version: String) throws(SandboxError) {
    guard version.first == "v", version.hasSuffix(".0"), let number = Int(version.dropFirst().dropLast(2)), number > 0,
      number <= Tuning.apiVersions.upperBound
    else { throw .notFound() }
    guard number >= Tuning.apiVersions.lowerBound else {
      throw SandboxError(status: 410, code: "GONE", message: "API version \(number).0 has been retired")
    }
  }

  /// - Throws: ``SandboxError`` 406 if the client accepts only XML from a data resource, since data
  ///   is always JSON. Sign-in resources have more formats and check for themselves.
  static func checkAccept(_ request: ServerRequest) throws(SandboxError) {
    let area = request.segments.prefix(2).map { $0.lowercased() }
    guard area == ["services", "data"] || area == ["services", "apexrest"] else { return }
    let ranges = (request.header("accept") ?? "").lowercased().split(separator: ",").map { range in
      range.prefix { $0 != ";" }.filter { !$0.isWhitespace }
    }
    let isXMLOnly = !ranges.isEmpty && ranges.allSatisfy { $0 == "application/xml" || $0 == "text/xml" }
    guard !isXMLOnly, request.segments.last?.lowercased().hasSuffix(".xml") != true || request.segments.count > 5 else {
      throw SandboxError(status: 406, code: "NOT_ACCEPTABLE", message: "this resource answers in JSON only, not in XML")
    }
  }

  /// Removes `.json` after the name of a resource; values further down the path keep it.
  static func plainSegments(_ segments: [String]) -> [String] {
    guard let last = segments.last, last.lowercased().hasSuffix(".json"), segments.count <= 5 else { return segments }
    return segments.dropLast() + [String(last.dropLast(5))]
  }
}
