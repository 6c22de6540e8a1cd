/// Why a statement is invalid, with the position.
struct SOQLError: Error, Equatable {
  let code: String
  let message: String
  /// An index into the statement's characters; nil for errors that real orgs report without a
  /// position.
  var position: Int?

  static func malformed(_ message: String, at position: Int? = nil) -> Self {
    Self(code: "MALFORMED_QUERY", message: message, position: position)
  }

  static func unexpected(_ token: Token) -> Self {
    malformed("unexpected token: '\(token.text)'", at: token.position)
  }

  static func noColumn(_ field: String, on entity: String, at position: Int?) -> Self {
    Self(
      code: "INVALID_FIELD",
      message: "No such column '\(field)' on entity '\(entity)'. If you are attempting to use a custom field, be sure "
        + "to append the '__c' after the custom field name. Please reference your WSDL or the describe call for the "
        + "appropriate names.", position: position)
  }

  static func noRelationship(_ name: String, at position: Int?) -> Self {
    Self(
      code: "INVALID_FIELD",
      message: "Didn't understand relationship '\(name)' in field path. If you are attempting to use a custom "
        + "relationship, be sure to append the '__r' after the custom relationship name. Please reference your WSDL or "
        + "the describe call for the appropriate names.", position: position)
  }

  static func noObject(_ name: Name) -> Self {
    Self(code: "INVALID_TYPE", message: SandboxError.unsupportedTypeText(name.text), position: name.position)
  }

  static func noChildRelationship(_ name: Name) -> Self {
    Self(
      code: "INVALID_TYPE",
      message: "Didn't understand relationship '\(name.text)' in FROM part of query call. If you are attempting to use a "
        + "custom relationship, be sure to append the '__r' after the custom relationship name. Please reference your WSDL "
        + "or the describe call for the appropriate names.", position: name.position)
  }

  static func invalidField(_ message: String, at position: Int?) -> Self {
    Self(code: "INVALID_FIELD", message: message, position: position)
  }

  static func invalidOperator(_ message: String, at position: Int?) -> Self {
    Self(code: "INVALID_QUERY_FILTER_OPERATOR", message: message, position: position)
  }

  /// Converts to the error for clients, with a snippet, a caret and a 1-based position if there is
  /// one.
  func answer(to statement: [Unicode.Scalar]) -> SandboxError {
    guard let position else { return SandboxError(status: 400, code: code, message: message) }
    let place = min(max(0, position), statement.count)
    var lineStart = place
    while lineStart > 0, statement[lineStart - 1] != "\n" { lineStart -= 1 }
    var lineEnd = place
    while lineEnd < statement.count, statement[lineEnd] != "\n" { lineEnd += 1 }
    let row = statement[..<lineStart].count { $0 == "\n" } + 1
    let column = place - lineStart + 1
    // Show long lines as a window around the error.
    let from = max(lineStart, place - 80)
    var snippet = String.UnicodeScalarView()
    snippet.append(contentsOf: statement[from..<min(lineEnd, place + 60)])
    let caret = String(repeating: " ", count: place - from) + "^"
    return SandboxError(
      status: 400, code: code, message: "\n\(String(snippet))\n\(caret)\nERROR at Row:\(row):Column:\(column)\n\(message)")
  }
}
