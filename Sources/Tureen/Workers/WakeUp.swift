import Glibc

/// Lets any thread end another one's wait. Waits for a second descriptor at the same time.
final class WakeUp: Sendable {
  private let reading: Int32, writing: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw JobError(.database, "a pipe cannot be opened: \(String(cString: strerror(errno)))")
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      // A full pipe wakes, too, and no writer must wait for the reader.
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// Ends the current wait, or the next one.
  func signal() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }

  /// Waits until ``signal()``, until the other descriptor is readable or closed, or until the time is over.
  /// - Parameter other: -1 for none.
  /// - Returns: True if the other descriptor is ready.
  func wait(or other: Int32, milliseconds: Int64) -> Bool {
    var waiting = [
      pollfd(fd: reading, events: Int16(POLLIN), revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&waiting, 2, Int32(clamping: max(0, milliseconds))) > 0 else { return false }
    if waiting[0].revents != 0 { clear() }
    return waiting[1].revents != 0
  }

  /// Readable after ``signal()``, for a `poll` of its own.
  var descriptor: Int32 { reading }

  /// Makes the descriptor unreadable again.
  func clear() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(reading, &bytes, bytes.count) == bytes.count {}
  }
}
