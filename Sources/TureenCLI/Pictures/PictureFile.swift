import Support

/// The file of a picture.
enum PictureFile {
  /// Writes a picture with mode 0600: it has names, and may have values of records.
  /// - Throws: ``CommandFailure``.
  static func write(_ text: String, to path: String) throws {
    do {
      try FileSystem.write(Array(text.utf8), to: path)
    } catch {
      throw CommandFailure("cannot write the picture to \(path): \(error)")
    }
  }
}
