import JSON
import MobileSync
import RestClient
import SmartStore

/// Uploads the files of one entry. Their names on the server are stored before the entry is sent,
/// so that neither a killed run nor a refused entry causes a second upload.
struct FileUploads: Sendable {
  let exchange: ParseExchange
  let context: UploadContext
  let entryId: Int64

  /// - Throws: ``ParseProblem``, `RestError`.
  func uploaded(_ value: JSONValue) async throws -> JSONValue {
    try await PendingFile.replaced(in: value) { file in
      let key = "\(LocalField.localIdPrefix)file_\(entryId)_\(file.digest)"
      if let known = try await known(key) { return known }
      let recorder = context.intent.recorder, before = recorder?.begin(.send, records: 0)
      defer { if let before { recorder?.resume(before) } }
      do {
        let stored = try await exchange.upload(file)
        try await keep(stored, key)
        return stored
      } catch  where error.isPlanned {
        return TypedValue.file(name: "«name of request \(recorder?.lastNumber ?? 0)»", url: nil).json
      }
    }
  }

  private func known(_ key: String) async throws -> JSONValue? {
    guard let origin = context.origin, let text = try await context.assignedId(for: key, in: origin.soup) else { return nil }
    return try JSONValue(parsing: Array(text.utf8))
  }

  private func keep(_ stored: JSONValue, _ key: String) async throws {
    guard let origin = context.origin else { return }
    let now = context.configuration.now()
    try await origin.store.write(.synced) { transaction in
      try transaction.noteAssignedId(stored.text, for: key, in: origin.soup, now: now)
    }
  }
}
