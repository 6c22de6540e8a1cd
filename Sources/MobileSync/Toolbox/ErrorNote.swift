import JSON

/// The meaning of an entry's `__last_error__`: an error of the server in its own form, or a note of the engine.
/// No store, network or clock.
struct ErrorNote: Sendable, Equatable {
  let code: String
  let text: String
  /// The fields that it names.
  let fields: [String]
  /// When it was received, in ms since 1970 UTC; nil if it does not say so.
  let at: Int64?

  /// The code of a note about an entry that was not sent, for the reasons of the toolbox.
  static let nothingToSend = "NOTHING_TO_SEND", preconditionFailed = "PRECONDITION_FAILED"
  static let resolver = "RESOLVER", inDoubt = "IN_DOUBT"

  /// The server's texts are cut: they may be pages.
  private static let longestText = 300

  /// - Returns: nil if the entry has no note.
  init?(_ entry: JSONObject) {
    guard let note = entry[LocalField.lastError], !note.isNull else { return nil }
    let text = note.stringValue
    guard let parsed = text == nil ? note : text.flatMap({ try? JSONValue(parsing: $0) }) else {
      guard let text, !text.isEmpty else { return nil }
      self.init(code: "", text: ErrorNote.cut(text), fields: [], at: nil)
      return
    }
    let error = parsed.arrayValue?.first ?? parsed
    let code = ["errorCode", "statusCode", "code"].lazy.compactMap { error[$0].flatMap(ErrorNote.word) }.first
    let status = error["status"]?.integerValue.flatMap { $0 > 0 ? "\($0)" : nil }
    let said = (ErrorNote.said(error) ?? error.text) + ErrorNote.details(error["fields"])
    let named = error["fields"]?.arrayValue?.compactMap(\.stringValue) ?? error["fields"]?.objectValue?.keys
    self.init(
      code: code ?? status ?? "", text: ErrorNote.cut(status.map { "\($0): \(said)" } ?? said), fields: named ?? [],
      at: error["at"]?.integerValue)
  }

  /// Returns what an error says; empty without one.
  static func text(of error: JSONValue?) -> String {
    error.flatMap { ErrorNote([LocalField.lastError: .string($0.text)]) }?.text ?? ""
  }

  private init(code: String, text: String, fields: [String], at: Int64?) {
    self.code = code
    self.text = text
    self.fields = fields
    self.at = at
  }

  private static func word(_ value: JSONValue) -> String? { value.stringValue ?? value.integerValue.map { "\($0)" } }

  private static func said(_ error: JSONValue) -> String? {
    if let text = error.stringValue { return text }
    for key in ["message", "error", "error_description", "detail", "title"] {
      if let text = error[key]?.stringValue, !text.isEmpty { return text }
      if let text = error[key]?["message"]?.stringValue, !text.isEmpty { return text }
    }
    return nil
  }

  /// The texts about single fields, such as ` (title: is missing)`; empty if there are none.
  private static func details(_ fields: JSONValue?) -> String {
    let texts = (fields?.objectValue ?? [:]).compactMap { key, value in value.stringValue.map { "\(key): \($0)" } }
    return texts.isEmpty ? "" : " (\(texts.joined(separator: ", ")))"
  }

  private static func cut(_ text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    guard line.utf8.count > longestText else { return line }
    var kept = "", bytes = 0
    for character in line {
      bytes += character.utf8.count
      guard bytes <= longestText else { break }
      kept.append(character)
    }
    return kept + "…"
  }

  /// The note of an entry whose upload failed a condition of the server although the record did not change.
  static let preconditionNote: JSONValue = [
    "errorCode": .string(preconditionFailed), "statusCode": .string(preconditionFailed),
    "message": "the server answered twice that the record has changed, and its record shows no change; it was not sent",
    "fields": [],
  ]
}
