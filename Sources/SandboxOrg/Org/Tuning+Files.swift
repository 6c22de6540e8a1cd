/// Limits of files and uploads.
extension Tuning {
  /// Bytes of a file in a form part. Salesforce accepts 2 GB; the sandbox holds the body in memory
  /// until it is stored.
  static let fileBytes = 100 * 1024 * 1024
  /// Bytes of a form with a file: the file, the other fields and the boundaries.
  static let uploadBodyBytes = fileBytes + 1024 * 1024
  /// Bytes of JSON with a file in base64: Salesforce's limit, 37 MB decoded.
  static let encodedFileBodyBytes = 52 * 1024 * 1024
  /// Bytes of a bulk job's input; Salesforce's value.
  static let bulkInputBytes = 150 * 1024 * 1024
  /// Bytes of each stored part of a file, and of a file that is sent in one piece rather than
  /// streamed.
  static let bytePartBytes = 256 * 1024, wholeReplyBytes = 1024 * 1024
  /// Characters of a file's extension and title, the lengths of their fields.
  static let fileEndingCharacters = 40, fileTitleCharacters = 255
  /// Files per page by default, per largest page and per batch, and the highest page number.
  static let filesPerPage = 25, filesPerBatch = 100, filePages = 100_000
}
