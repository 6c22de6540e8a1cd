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
    let found = ["errors", "error", "detail"].lazy.compactMap { value[$0].flatMap { words(in: $0) } }.first
    return String((found ?? words(byField: value) ?? value.text).prefix(Tuning.shownCharacters))
  }

  /// Where an element of a list of errors has its text, in search order.
  private static let names = ["message", "msg", "detail", "title", "description", "error", "reason"]
  /// Errors within errors that are read.
  private static let deepest = 4

  /// Reads texts, lists of errors, and errors by field: `{"title": ["…"]}`, as Rails writes them, `[{"loc": […], "msg": "…"}]`,
  /// as FastAPI does. Nil if there is something else among them.
  private static func words(in value: JSONValue, depth: Int = 0) -> String? {
    guard depth < deepest else { return nil }
    if let text = value.stringValue { return text.isEmpty ? nil : text }
    if let list = value.arrayValue { return joined(list) { words(in: $0, depth: depth + 1) } }
    guard let object = value.objectValue else { return nil }
    if let text = names.lazy.compactMap({ object[$0]?.stringValue }).first(where: { !$0.isEmpty }) { return text }
    return joined(Array(object)) { name, member in words(in: member, depth: depth + 1).map { "\(name): \($0)" } }
  }

  /// Reads an object with nothing but lists by field, as Django REST framework writes it: `{"title": ["…"]}`. Also a list of
  /// errors.
  private static func words(byField value: JSONValue) -> String? {
    if value.arrayValue != nil { return words(in: value) }
    guard let object = value.objectValue, object.allSatisfy({ $0.value.arrayValue != nil }) else { return nil }
    return words(in: value)
  }

  /// Returns nil unless there are elements, and all of them have words.
  private static func joined<Element>(_ elements: [Element], _ words: (Element) -> String?) -> String? {
    let found = elements.compactMap(words)
    return found.isEmpty || found.count < elements.count ? nil : found.joined(separator: "; ")
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
