import Glibc
import JSON
import LuaBridge

/// A `multipart/form-data` body (RFC 7578): one part per parameter, then one part per file.
struct MultipartBody {
  struct File: Sendable {
    /// The part's name.
    let part: String
    let path: String
    let name: String
    let mimeType: String
  }

  let bytes: [UInt8]
  let contentType: String

  /// Reads the files. Text parameters are sent unchanged, other values as JSON.
  /// - Throws: `fileNotReadable`, naming the file; `fileTooLarge`.
  init(parameters: JSONObject, files: [File]) throws {
    let boundary = "tureen-" + (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    var bytes: [UInt8] = []
    func open(_ name: String, _ rest: String) {
      bytes += Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.quoted(name))\"\(rest)\r\n\r\n".utf8)
    }
    for (name, value) in parameters where !value.isNull {
      if let text = value.stringValue {
        open(name, "\r\nContent-Type: text/plain; charset=utf-8")
        bytes += Array(text.utf8)
      } else {
        open(name, "\r\nContent-Type: application/json")
        bytes += value.serialized()
      }
      bytes += Array("\r\n".utf8)
    }
    for file in files {
      open(file.part, "; filename=\"\(Self.quoted(file.name))\"\r\nContent-Type: \(Self.plain(file.mimeType))")
      try Self.append(file.path, to: &bytes)
      bytes += Array("\r\n".utf8)
    }
    bytes += Array("--\(boundary)--\r\n".utf8)
    self.bytes = bytes
    contentType = "multipart/form-data; boundary=\(boundary)"
  }

  /// Encodes a name as web browsers do: characters that would end the quotes or the line are percent-encoded.
  private static func quoted(_ name: String) -> String {
    var text = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": text += "%22"
      case "\r": text += "%0D"
      case "\n": text += "%0A"
      case "\0": text += "%00"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  private static func plain(_ type: String) -> String {
    let isClean = !type.isEmpty && type.utf8.allSatisfy { (UInt8(ascii: " ")...UInt8(ascii: "~")).contains($0) }
    return isClean ? type : "application/octet-stream"
  }

  private static func append(_ path: String, to bytes: inout [UInt8]) throws {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw failure(path) }
    guard info.st_mode & S_IFMT == S_IFREG else { throw HostError(.fileNotReadable, "\(path) is not a regular file") }
    guard info.st_size <= Tuning.largestUpload else {
      throw HostError(.fileTooLarge, "\(path) has \(info.st_size) bytes; \(Tuning.largestUpload) can be sent at most")
    }
    bytes.reserveCapacity(bytes.count + Int(info.st_size) + 1024)
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path) }
      if count == 0 { return }
      bytes.append(contentsOf: chunk[..<count])
      // A file that grows while it is read must not exhaust the memory.
      guard bytes.count <= Tuning.largestUpload * 2 else { throw HostError(.fileTooLarge, "\(path) grows while it is read") }
    }
  }

  private static func failure(_ path: String) -> HostError {
    HostError(.fileNotReadable, "cannot read \(path): \(String(cString: strerror(errno)))")
  }
}
