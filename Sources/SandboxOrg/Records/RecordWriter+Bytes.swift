import Database

/// Bytes that come in form parts, or are stored apart from the row.
extension RecordWriter {
  /// - Throws: ``SandboxError`` `INVALID_MULTIPART_REQUEST` for a part that is not named after a
  ///   binary field.
  func addBytes(
    to values: inout [String: SQLValue], _ object: ObjectSchema, isNew: Bool, _ refused: inout [String]
  ) throws(SandboxError) {
    for (name, part) in bytes {
      guard let field = object.field(name), field.type == .base64 else {
        let fields = object.fields.filter { $0.type == .base64 }.map(\.name)
        let hint = fields.isEmpty ? "\(object.name) has none" : "\(object.name) has \(fields.joined(separator: ", "))"
        throw .invalidForm("the binary part '\(name)' must be named after a binary field; \(hint)")
      }
      guard isNew ? field.isCreateable : field.isUpdateable else {
        refused.append(field.name)
        continue
      }
      let limit = field.isKeptApart ? Tuning.fileBytes : field.length
      guard part.count <= limit else {
        throw SandboxError(
          status: 400, code: "STRING_TOO_LONG",
          message: "\(field.label): data value too large: \(part.count) bytes (max length=\(limit))", fields: [field.name])
      }
      values[field.name] = .blob(field.isKeptApart ? [] : Array(part))
    }
  }

  /// Removes the bytes that are stored apart from the row; their fields only record that there are
  /// some.
  func extractBytes(
    _ object: ObjectSchema, _ values: inout [String: SQLValue]
  ) -> [(field: String, bytes: ArraySlice<UInt8>)] {
    var taken: [(field: String, bytes: ArraySlice<UInt8>)] = []
    for field in object.fields where field.isKeptApart {
      guard case .blob(let given)? = values[field.name] else { continue }
      let part = bytes.first { $0.key.lowercased() == field.name.lowercased() }?.value
      taken.append((field.name, part ?? given[...]))
      values[field.name] = .blob([])
    }
    return taken
  }
}

extension SandboxError {
  /// Reports an unusable multipart body.
  static func invalidForm(_ message: String) -> Self {
    Self(status: 400, code: "INVALID_MULTIPART_REQUEST", message: message)
  }
}
