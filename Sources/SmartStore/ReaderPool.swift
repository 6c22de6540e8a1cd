import Database
import Glibc

/// The reading connections of a store: opened when first needed, at most a handful, each used by one thread at a time.
final class ReaderPool: @unchecked Sendable {
  private typealias Reader = (connection: Connection, state: ConnectionState)

  private let path: String
  private let busyTimeoutMs: Int32
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  // Touched with `mutex` locked.
  private var idle: [Reader] = []
  private var opened = 0
  private var isClosed = false

  init(path: String, busyTimeoutMs: Int32) {
    self.path = path
    self.busyTimeoutMs = busyTimeoutMs
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func with<T>(_ body: (Connection, ConnectionState) throws -> T) throws -> T {
    let reader = try take()
    defer { give(reader) }
    do {
      return try body(reader.connection, reader.state)
    } catch {
      reader.state.forget()
      throw error
    }
  }

  private func take() throws -> Reader {
    pthread_mutex_lock(mutex)
    while idle.isEmpty, opened >= Tuning.readers, !isClosed { pthread_cond_wait(condition, mutex) }
    guard !isClosed else {
      pthread_mutex_unlock(mutex)
      throw StoreError(.storeClosed, "the store is closed")
    }
    let reader = idle.popLast()
    if reader == nil { opened += 1 }
    pthread_mutex_unlock(mutex)
    if let reader { return reader }
    do {
      let connection = try Connection(path: path, mode: .readWrite)
      connection.setBusyTimeout(milliseconds: busyTimeoutMs)
      try Schema.configureReader(connection)
      return (connection, ConnectionState())
    } catch {
      pthread_mutex_lock(mutex)
      opened -= 1
      pthread_cond_signal(condition)
      pthread_mutex_unlock(mutex)
      throw error
    }
  }

  private func give(_ reader: Reader) {
    pthread_mutex_lock(mutex)
    if isClosed {
      opened -= 1
    } else {
      idle.append(reader)
    }
    let closing = isClosed
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
    if closing {
      reader.state.forget()
      reader.connection.close()
    }
  }

  /// Waits for the readers in use, then closes all.
  func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    let now = idle
    idle = []
    opened -= now.count
    pthread_cond_broadcast(condition)
    while opened > 0 { pthread_cond_wait(condition, mutex) }
    pthread_mutex_unlock(mutex)
    for reader in now {
      reader.state.forget()
      reader.connection.close()
    }
  }
}
