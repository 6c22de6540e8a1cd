/// Limits of files and uploads.
extension Tuning {
  /// Bytes of a file that comes as a part of a form. Salesforce takes 2 GB; here the body is in memory until it is kept.
  static let fileBytes = 100 * 1024 * 1024
  /// Bytes of a form with a file: the file, the other fields and the lines around them.
  static let uploadBodyBytes = fileBytes + 1024 * 1024
  /// Bytes of JSON with a file in base64: Salesforce's figure for 37 MB of file.
  static let encodedFileBodyBytes = 52 * 1024 * 1024
  /// Bytes of a bulk job's input, Salesforce's own figure.
  static let bulkInputBytes = 150 * 1024 * 1024
  /// Bytes of one stored part of a file, and of a file that is answered in one piece rather than part by part.
  static let bytePartBytes = 256 * 1024, wholeReplyBytes = 1024 * 1024
  /// Characters of a file's ending and of its title, as the fields have them.
  static let fileEndingCharacters = 40, fileTitleCharacters = 255
  /// Files in a page of a list, those in the largest page and in one batch, and pages that can be asked for.
  static let filesPerPage = 25, filesPerBatch = 100, filePages = 100_000
}
