/// The file type and media type of a file name extension.
struct FileKind: Equatable {
  /// The value for `FileType`.
  let type: String
  let mediaType: String

  static let unknown = FileKind(type: "UNKNOWN", mediaType: "application/octet-stream")

  /// Looks up an extension without its dot; case is ignored.
  static func of(_ ending: String) -> FileKind { known[ending.lowercased()] ?? unknown }

  /// Returns the extension for a media type; nil if it is unknown.
  static func ending(of mediaType: String) -> String? {
    let wanted = mediaType.lowercased()
    return list.first { $0.mediaType == wanted }?.ending
  }

  var isImage: Bool { mediaType.hasPrefix("image/") }

  private static let known = Dictionary(
    uniqueKeysWithValues: list.map { ($0.ending, FileKind(type: $0.type, mediaType: $0.mediaType)) })

  private static let list: [(ending: String, type: String, mediaType: String)] = [
    ("txt", "TEXT", "text/plain"), ("log", "TEXT", "text/plain"), ("csv", "CSV", "text/csv"), ("htm", "HTML", "text/html"),
    ("html", "HTML", "text/html"), ("xml", "XML", "text/xml"), ("rtf", "RTF", "application/rtf"),
    ("pdf", "PDF", "application/pdf"), ("png", "PNG", "image/png"), ("gif", "GIF", "image/gif"), ("jpg", "JPG", "image/jpeg"),
    ("jpeg", "JPEG", "image/jpeg"), ("bmp", "BMP", "image/bmp"), ("tiff", "TIFF", "image/tiff"),
    ("svg", "SVG", "image/svg+xml"), ("zip", "ZIP", "application/zip"), ("mp3", "MP3", "audio/mpeg"),
    ("mp4", "MP4", "video/mp4"), ("mov", "MOV", "video/quicktime"), ("doc", "WORD", "application/msword"),
    ("xls", "EXCEL", "application/vnd.ms-excel"), ("ppt", "POWER_POINT", "application/vnd.ms-powerpoint"),
    ("docx", "WORD_X", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "EXCEL_X", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("pptx", "POWER_POINT_X", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
  ]
}

/// A file name split into title and extension.
struct FileName {
  /// Without directories and extension.
  let title: String
  /// Without the dot; empty if there is none.
  let ending: String

  init(_ path: String) {
    let name = path.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? path
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else {
      title = name
      ending = ""
      return
    }
    let tail = name[name.index(after: dot)...]
    let isEnding = (1...Tuning.fileEndingCharacters).contains(tail.utf16.count) && !tail.contains(" ")
    title = isEnding ? String(name[..<dot]) : name
    ending = isEnding ? String(tail) : ""
  }
}
