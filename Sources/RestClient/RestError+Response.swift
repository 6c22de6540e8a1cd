import JSON

extension RestError {
  /// Makes the error for a response with an error status: with the server's first message, its body
  /// verbatim, and its list of errors.
  package init(refusal response: RestResponse, words: RefusalWords = .none) {
    let text = response.body.text
    let errors = RestError.errors(in: response)
    let serverCode = (errors.first?["errorCode"] ?? errors.first?["error"])?.stringValue
    let isLimit = words.isLimit(status: response.status, code: serverCode)
    let message = RestError.message(of: errors, text: text, response: response)
    self.init(
      code: isLimit ? .requestLimitExceeded : .httpStatus, message: message,
      status: response.status, headers: response.headers, body: text, errors: errors,
      outcome: response.status >= 500 ? .unknown : .answered)
    passing = words.passing(isLimit: isLimit, code: serverCode, message: message)
  }

  /// Returns the same failure with another code and message. The body still holds the server's
  /// text.
  package func recoded(_ code: Code, _ words: String? = nil) -> RestError {
    RestError(
      code: code, message: words ?? message, status: status, headers: headers, body: body, errors: errors, outcome: outcome)
  }

  /// Data resources respond with an array of errors, sign-in endpoints with one object, gateways
  /// with HTML.
  private static func errors(in response: RestResponse) -> [JSONValue] {
    switch try? response.body.json() {
    case .array(let elements)?: elements.filter { $0.objectValue != nil }
    case .object(let error)?: [.object(error)]
    default: []
    }
  }

  private static func message(of errors: [JSONValue], text: String, response: RestResponse) -> String {
    let said = ["message", "error_description", "error"].lazy.compactMap { errors.first?[$0]?.stringValue }
    if let message = said.first(where: { !$0.isEmpty }) { return message }
    let isPlain = response.header("Content-Type")?.lowercased().hasPrefix("text/plain") ?? false
    if isPlain, !text.isEmpty, text.utf8.count <= Tuning.shownCharacters { return text }
    let type = response.body.count == 0 ? "an empty body" : response.header("Content-Type") ?? "a body without a Content-Type"
    return "the server answered \(response.status) with \(type)"
  }
}
