import Glibc
import Support

/// Keeps the input that runs in a file, so that the input is known after a trap or a kill.
final class FuzzRecorder {
  private let file: Int32
  /// Whether the file keeps the earlier inputs of a session, too.
  private let appends: Bool

  /// - Returns: nil without a path, and if the file cannot be written.
  init?(_ path: String?, appends: Bool) {
    guard let path else { return nil }
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    self.appends = appends
    guard file >= 0 else { return nil }
  }

  deinit { if file >= 0 { close(file) } }

  /// Forgets the inputs so far.
  func beginSession() { empty() }

  func note(_ input: [UInt8]) {
    if !appends { empty() }
    FileSystem.write(appends ? input + [UInt8(ascii: "\n")] : input, to: file)
  }

  private func empty() {
    ftruncate(file, 0)
    lseek(file, 0, SEEK_SET)
  }
}
