import CInspectorAssets

/// A file of the page.
struct Asset: Sendable {
  let type: String
  let bytes: [UInt8]
}

/// The files of the page, which are in the program itself.
struct Assets: Sendable {
  private let files: [String: Asset]

  init() {
    var files: [String: Asset] = [:]
    var next = tureen_inspector_assets
    while let path = next.pointee.path {
      let name = String(cString: path)
      files["/" + name] = Asset(
        type: Assets.type(of: name), bytes: Array(UnsafeRawBufferPointer(start: next.pointee.bytes, count: next.pointee.length)))
      next += 1
    }
    files["/"] = files.removeValue(forKey: "/index.html")
    self.files = files
  }

  /// The paths of all files, sorted.
  var paths: [String] { files.keys.sorted() }

  func file(at path: String) -> Asset? { files[path] }

  private static func type(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "application/octet-stream"
    }
  }
}
