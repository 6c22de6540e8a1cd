import ArgumentParser
@preconcurrency import Glibc

/// Reserves standard output for machine-readable lines.
enum StandardOutput {
  /// Redirects standard output of this process and its children to standard error.
  /// - Returns: A descriptor of the original standard output.
  static func setApart() throws -> Int32 {
    fflush(nil)
    let kept = dup(STDOUT_FILENO)
    guard kept >= 0, fcntl(kept, F_SETFD, FD_CLOEXEC) == 0, dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else {
      complain("standard output cannot be set apart: \(String(cString: strerror(errno)))")
      throw ExitCode(ExitStatus.unavailable)
    }
    // Without line buffering, output would appear after errors that were written later.
    setvbuf(stdout, nil, _IOLBF, 0)
    return kept
  }
}
