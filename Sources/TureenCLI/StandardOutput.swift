import ArgumentParser
@preconcurrency import Glibc

/// Standard output, kept for what a program reads.
enum StandardOutput {
  /// From now on what this process and its children write to standard output goes to standard error.
  /// - Returns: A descriptor of what standard output was.
  static func setApart() throws -> Int32 {
    fflush(nil)
    let kept = dup(STDOUT_FILENO)
    guard kept >= 0, fcntl(kept, F_SETFD, FD_CLOEXEC) == 0, dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else {
      complain("standard output cannot be set apart: \(String(cString: strerror(errno)))")
      throw ExitCode(ExitStatus.unavailable)
    }
    // Else lines would wait for one another in the C library, and come behind errors that were written later.
    setvbuf(stdout, nil, _IOLBF, 0)
    return kept
  }
}
