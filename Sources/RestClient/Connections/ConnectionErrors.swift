import JSON

/// Builds errors from the responses of a named server.
package enum ConnectionErrors {
  /// Where servers put the text of an error, in search order.
  private static let places: [[String]] = [
    ["message"], ["error", "message"], ["error", "msg"], ["detail"], ["description"], ["error_description"], ["reason"],
    ["errorMessages", "0"], ["errors", "0", "message"], ["errors", "0", "detail"], ["title"], ["error"],
  ]

  /// Returns the error that a response stands for.
  ///
  /// - Parameters:
  ///   - response: Without secrets: the message may show the beginning of the body, and a part of a secret is not recognised.
  ///   - name: The server's name in messages.
  static func error(
    _ response: RestResponse, of name: String, paths: ConnectionSettings.ErrorPaths, code: RestError.Code = .httpStatus
  ) -> RestError {
    let body = try? response.body.json()
    let said = message(of: response, paths: paths) ?? emptyWords(response)
    return RestError(
      code: code, message: "connection '\(name)': the server answered \(response.status): \(said)", status: response.status,
      headers: response.headers, body: response.body.text, errors: body?.objectValue.map { [.object($0)] } ?? [],
      outcome: response.status >= 500 ? .unknown : .answered)
  }

  /// Returns the server's description of the problem: the first text in the usual places, or else
  /// the beginning of a body that is not HTML.
  package static func message(of response: RestResponse, paths: ConnectionSettings.ErrorPaths) -> String? {
    guard response.body.count > 0 else { return nil }
    guard let value = try? response.body.json() else {
      let type = response.header("Content-Type")?.lowercased() ?? ""
      return type.containsASCII("html") ? nil : String(response.body.text.prefix(Tuning.shownCharacters))
    }
    let asked = paths.message.map { [$0.split(separator: ".").map(String.init)] } ?? []
    for place in asked + places {
      if let text = text(at: place, in: value) { return text }
    }
    let words = sentence(in: value["errors"] ?? value) ?? value.text
    return String(words.prefix(Tuning.shownCharacters))
  }

  /// Reads lists of texts, also by field, as Rails and Django REST framework write them: `{"errors": ["…"]}`,
  /// `{"errors": {"title": ["…"]}}`, `{"title": ["…"]}`. Nil for any other value.
  private static func sentence(in value: JSONValue) -> String? {
    if let list = value.arrayValue { return texts(list) }
    guard let object = value.objectValue, !object.isEmpty else { return nil }
    var parts: [String] = []
    for (name, member) in object {
      guard let words = member.arrayValue.flatMap(texts) else { return nil }
      parts.append("\(name): \(words)")
    }
    return parts.joined(separator: "; ")
  }

  private static func texts(_ list: [JSONValue]) -> String? {
    let texts = list.compactMap(\.stringValue)
    return texts.isEmpty || texts.count < list.count ? nil : texts.joined(separator: "; ")
  }

  private static func text(at place: [String], in value: JSONValue) -> String? {
    var value = value
    for step in place {
      if let list = value.arrayValue, let index = Int(step), list.indices.contains(index) {
        value = list[index]
      } else if let member = value[step] {
        value = member
      } else {
        return nil
      }
    }
    return value.stringValue.flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func emptyWords(_ response: RestResponse) -> String {
    response.body.count == 0 ? "an empty body" : response.header("Content-Type") ?? "a body without a Content-Type"
  }
}
