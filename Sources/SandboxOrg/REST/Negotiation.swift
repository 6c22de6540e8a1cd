/// Rules that hold for every resource: versions, methods and forms of answers.
enum Negotiation {
  /// The method, or the one a POST stands in for: some clients can send nothing else.
  static func method(of request: ServerRequest) -> String {
    guard request.method == "POST" else { return request.method }
    return (request.parameter("_HttpMethod") ?? request.header("x-http-method-override"))?.uppercased() ?? "POST"
  }

  /// - Throws: ``SandboxError`` 410 for a version that was retired, 404 for text that is none or one to come.
  static func checkVersion(_ version: String) throws(SandboxError) {
    guard version.first == "v", version.hasSuffix(".0"), let number = Int(version.dropFirst().dropLast(2)), number > 0,
      number <= Tuning.apiVersions.upperBound
    else { throw .notFound() }
    guard number >= Tuning.apiVersions.lowerBound else {
      throw SandboxError(status: 410, code: "GONE", message: "API version \(number).0 has been retired")
    }
  }

  /// - Throws: ``SandboxError`` 406 for a client that takes XML alone from a data resource: there is only JSON here. What
  ///   has to do with signing in knows more forms and looks after them itself.
  static func checkAccept(_ request: ServerRequest) throws(SandboxError) {
    let area = request.segments.prefix(2).map { $0.lowercased() }
    guard area == ["services", "data"] || area == ["services", "apexrest"] else { return }
    let ranges = (request.header("accept") ?? "").lowercased().split(separator: ",").map { range in
      range.prefix { $0 != ";" }.filter { !$0.isWhitespace }
    }
    let isXMLOnly = !ranges.isEmpty && ranges.allSatisfy { $0 == "application/xml" || $0 == "text/xml" }
    guard !isXMLOnly, request.segments.last?.lowercased().hasSuffix(".xml") != true || request.segments.count > 5 else {
      throw SandboxError(status: 406, code: "NOT_ACCEPTABLE", message: "answers are JSON here; XML is not offered")
    }
  }

  /// The path without the `.json` that may follow the name of a resource; values further down may end like that.
  static func plainSegments(_ segments: [String]) -> [String] {
    guard let last = segments.last, last.lowercased().hasSuffix(".json"), segments.count <= 5 else { return segments }
    return segments.dropLast() + [String(last.dropLast(5))]
  }
}
