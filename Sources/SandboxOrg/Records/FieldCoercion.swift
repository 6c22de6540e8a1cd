import Database
import JSON
import Support

/// Converts a client's JSON value to the value of a column.
struct FieldCoercion {
  let object: ObjectSchema
  let field: FieldSchema

  /// - Throws: ``SandboxError`` in the wording of Salesforce's write errors.
  func value(_ json: JSONValue) throws(SandboxError) -> SQLValue {
    if json.isNull { return field.type == .boolean ? .integer(0) : .null }
    switch field.type {
    case .boolean: return try boolean(json)
    case .int: return try integer(json)
    case .double, .currency, .percent: return try real(json)
    case .date, .datetime: return try moment(json)
    case .id, .reference: return try reference(json)
    case .time: return try time(json)
    case .base64: return try bytes(json)
    case .address, .location: throw mismatch(json)
    case .picklist: return try picked(try text(json))
    case .multipicklist: return try pickedSeveral(try text(json))
    default: return try text(json)
    }
  }

  // MARK: Text

  private func text(_ json: JSONValue) throws(SandboxError) -> SQLValue {
    guard let string = json.stringValue else { throw mismatch(json) }
    let text = trimmed(string)
    guard !text.isEmpty else { return .null }
    guard text.utf16.count <= field.length else {
      throw SandboxError(
        status: 400, code: "STRING_TOO_LONG",
        message: "\(field.label): data value too large: \(text) (max length=\(field.length))", fields: [field.name])
    }
    if field.type == .email, !isEmail(text) {
      throw SandboxError(
        status: 400, code: "INVALID_EMAIL_ADDRESS", message: "\(field.label): invalid email address: \(text)",
        fields: [field.name])
    }
    return .text(text)
  }

  // MARK: Picklists

  private func picked(_ value: SQLValue) throws(SandboxError) -> SQLValue {
    if case .text(let text) = value { try requireListed(text) }
    return value
  }

  /// Returns `a;b` without duplicates and in the picklist's order; values that are not in the
  /// picklist follow.
  private func pickedSeveral(_ value: SQLValue) throws(SandboxError) -> SQLValue {
    guard case .text(let text) = value else { return value }
    var chosen: [String] = []
    for part in text.split(separator: ";") {
      let choice = trimmed(String(part))
      guard !choice.isEmpty, !chosen.contains(choice) else { continue }
      try requireListed(choice)
      chosen.append(choice)
    }
    let listed = field.picklist.filter(chosen.contains), others = chosen.filter { !field.picklist.contains($0) }
    return chosen.isEmpty ? .null : .text((listed + others).joined(separator: ";"))
  }

  private func requireListed(_ text: String) throws(SandboxError) {
    guard field.isRestricted, !field.picklist.contains(text) else { return }
    throw SandboxError(
      status: 400, code: "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
      message: "\(field.label): bad value for restricted picklist field: \(text)", fields: [field.name])
  }

  private func isEmail(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !text.contains(where: \.isWhitespace) else { return false }
    let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
  }

  private func trimmed(_ text: String) -> String {
    let head = text.drop(while: \.isWhitespace)
    guard let last = head.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(head[...last])
  }

  // MARK: Numbers, flags

  private func boolean(_ json: JSONValue) throws(SandboxError) -> SQLValue {
    switch (json.boolValue, json.stringValue?.lowercased()) {
    case (let value?, _): return .integer(value ? 1 : 0)
    case (_, "true"?): return .integer(1)
    case (_, "false"?): return .integer(0)
    default: throw mismatch(json)
    }
  }

  private func integer(_ json: JSONValue) throws(SandboxError) -> SQLValue {
    guard let value = json.stringValue.map({ Int64($0) }) ?? json.integerValue else { throw mismatch(json) }
    let limit = field.precision > 0 ? power(field.precision) : Self.wholeNumberLimit
    guard abs(Double(value)) < limit else { throw outOfRange(json) }
    return .integer(value)
  }

  private func real(_ json: JSONValue) throws(SandboxError) -> SQLValue {
    guard let value = json.stringValue.map({ Double($0) }) ?? json.doubleValue, value.isFinite else {
      throw mismatch(json)
    }
    guard field.precision == 0 || abs(value) < power(field.precision - field.scale) else { throw outOfRange(json) }
    let unit = power(field.scale)
    return .real((value * unit).rounded() / unit)
  }

  /// Integers have 32 bits.
  private static let wholeNumberLimit = 2_147_483_648.0

  private func power(_ exponent: Int) -> Double { (0..<max(0, exponent)).reduce(1.0) { value, _ in value * 10 } }

  private func outOfRange(_ json: JSONValue) -> SandboxError {
    SandboxError(
      status: 400, code: "NUMBER_OUTSIDE_VALID_RANGE",
      message: "\(field.label): value outside of valid range on numeric field: \(plain(json))", fields: [field.name])
  }

  // MARK: Dates

  private func moment(_ json: JSONValue) throws(SandboxError) -> SQLValue {
    guard let text = json.stringValue else { throw mismatch(json) }
    if field.type == .date {
      // A timestamp is truncated to its date.
      guard let date = CivilDate(parsing: text.prefix(10)),
        text.utf8.count == 10 || Timestamp.milliseconds(parsing: text) != nil
      else { throw mismatch(json) }
      return .text(date.text)
    }
    guard let milliseconds = Timestamp.milliseconds(parsing: text) else { throw mismatch(json) }
    return .text(Timestamp.text(milliseconds / 1000))
  }

  /// Reads `hh:mm` with optional seconds, fraction and `Z`; stored as `hh:mm:ss.SSSZ`.
  private func time(_ json: JSONValue) throws(SandboxError) -> SQLValue {
    guard let text = json.stringValue else { throw mismatch(json) }
    guard let time = TimeOfDay.text(parsing: text) else { throw mismatch(json) }
    return .text(time)
  }

  // MARK: Bytes

  private func bytes(_ json: JSONValue) throws(SandboxError) -> SQLValue {
    guard let text = json.stringValue else { throw mismatch(json) }
    if text.isEmpty { return .null }
    guard let bytes = Base64.decodeLenient(text) else { throw mismatch("base64", "VALUE_STRING") }
    guard bytes.count <= field.length else {
      throw SandboxError(
        status: 400, code: "STRING_TOO_LONG",
        message: "\(field.label): data value too large: \(bytes.count) bytes (max length=\(field.length))",
        fields: [field.name])
    }
    return .blob(bytes)
  }

  // MARK: References

  /// Checks the form and type of an id. The writer checks that the row exists.
  private func reference(_ json: JSONValue) throws(SandboxError) -> SQLValue {
    guard let text = json.stringValue else { throw mismatch(json) }
    if trimmed(text).isEmpty { return .null }
    guard let id = RecordID.normalized(text) else {
      throw SandboxError(
        status: 400, code: "MALFORMED_ID", message: "\(field.label): id value of incorrect type: \(text)",
        fields: [field.name])
    }
    return .text(id)
  }

  /// Returns an error in the wording of Salesforce's JSON reader.
  private func mismatch(_ json: JSONValue) -> SandboxError {
    let kind: String
    switch json {
    case .string: kind = "VALUE_STRING"
    case .integer: kind = "VALUE_NUMBER_INT"
    case .number, .decimal: kind = "VALUE_NUMBER_FLOAT"
    case .bool(let value): kind = value ? "VALUE_TRUE" : "VALUE_FALSE"
    case .array: kind = "START_ARRAY"
    case .object: kind = "START_OBJECT"
    case .null: kind = "VALUE_NULL"
    }
    let type = field.type.isText ? "string" : field.type.isReference ? "id" : field.type.rawValue
    return mismatch(type, "\(kind) value \(plain(json).prefix(200))")
  }

  private func mismatch(_ type: String, _ found: String) -> SandboxError {
    .json("Cannot deserialize instance of \(type) from \(found) or request may be missing a required field")
  }

  private func plain(_ json: JSONValue) -> String { json.stringValue ?? json.text }
}
