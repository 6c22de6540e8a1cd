import Glibc

/// Copies one output of a worker to an output of this process. Never blocks, because a slow reader must not delay the end of
/// the worker.
struct WorkerOutput {
  let source: Int32
  let sink: Int32
  private var waiting: [UInt8] = []
  private(set) var isAtEnd = false
  private var isSinkGone = false
  /// The errno with which the sink failed; 0 if it has everything, or if its reader is gone.
  private(set) var failure: Int32 = 0

  /// The number of bytes to read or write at once: a writable pipe accepts that many.
  private static let mostRead = 64 << 10, mostWritten = 4096

  init(from source: Int32, to sink: Int32) {
    self.source = source
    self.sink = sink
  }

  /// True if the source is at its end and all bytes are written.
  var isDone: Bool { isAtEnd && waiting.isEmpty }

  /// The descriptor to poll: the sink while bytes wait for it, else the source; nil at the end.
  var interest: pollfd? {
    if !waiting.isEmpty { return pollfd(fd: sink, events: Int16(POLLOUT), revents: 0) }
    return isAtEnd ? nil : pollfd(fd: source, events: Int16(POLLIN), revents: 0)
  }

  /// Reads or writes once the descriptor in `interest` is ready.
  mutating func step() {
    if waiting.isEmpty { read() } else { write() }
  }

  private mutating func read() {
    let count = withUnsafeTemporaryAllocation(byteCount: Self.mostRead, alignment: 1) { buffer in
      let count = Glibc.read(source, buffer.baseAddress, buffer.count)
      // Drop output without a reader, as the command does.
      if count > 0, !isSinkGone { waiting.append(contentsOf: buffer[..<count]) }
      return count
    }
    if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { isAtEnd = true }
  }

  private mutating func write() {
    let part = waiting.prefix(Self.mostWritten)
    let count = part.withUnsafeBytes { Glibc.write(sink, $0.baseAddress, $0.count) }
    if count > 0 {
      waiting.removeFirst(count)
    } else if count < 0, errno != EAGAIN, errno != EINTR {
      failure = errno == EPIPE ? 0 : errno
      isSinkGone = true
      waiting = []
    }
  }
}
