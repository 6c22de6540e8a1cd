import CLuaBridge
import Glibc
import Support

/// Text on its way to Lua, in memory that C may free: copied by the thread that posts, not by the one that takes.
package final class Payload: @unchecked Sendable {
  // Written in init and by the owner of the last reference: a message has one owner at a time.
  private var bytes: tureen_bytes
  private var make: (@Sendable () -> [UInt8])?

  /// Text that is made when the message is taken, by the thread that takes it.
  package convenience init(lazily make: @escaping @Sendable () -> [UInt8]) {
    self.init([])
    self.make = make
  }

  package init(_ text: [UInt8]) {
    let memory = malloc(max(1, text.count))
    if let memory {
      text.withUnsafeBytes { if let source = $0.baseAddress { memcpy(memory, source, $0.count) } }
    }
    // Without memory the text is empty, which the receiver reports as an unusable answer.
    bytes = tureen_bytes(data: memory?.assumingMemoryBound(to: CChar.self), length: memory == nil ? 0 : text.count)
  }

  deinit { free(bytes.data) }

  /// Hands the memory over; the receiver frees it.
  package func release() -> tureen_bytes {
    if let make {
      self.make = nil
      return Payload(make()).release()
    }
    defer { bytes = tureen_bytes(data: nil, length: 0) }
    return bytes
  }
}

/// News on its way to one Lua thread. Any thread posts and none blocks; only the Lua thread takes.
///
/// Bounded: the places of a call's answers are booked when the call is accepted. Of a sync's progress only the latest
/// waits; its start and its end are never replaced. The descriptor is readable while something waits.
package final class Mailbox: @unchecked Sendable {
  /// What a message says about its call. Raw values: tureen_bridge.h.
  package enum Kind: Int32, Sendable { case result = 1, error, update, end, fail, request, news = 8, progress, call, callOver }

  package struct Message: Sendable {
    package let call: Int64
    package let kind: Kind
    package let payload: Payload
    /// True for an update that a later one may replace.
    let isProgress: Bool
    /// Booked places that are free again once this is taken.
    let freesPlaces: Int
    /// Of a plug-in's call: the plug-in's number, and how many bytes of the payload name the action. A zero byte and the
    /// arguments follow.
    let plugin: Int64, actionLength: Int

    package init(
      call: Int64, kind: Kind, payload: Payload, isProgress: Bool = false, freesPlaces: Int = 0, plugin: Int64 = 0,
      actionLength: Int = 0
    ) {
      self.call = call
      self.kind = kind
      self.payload = payload
      self.isProgress = isProgress
      self.freesPlaces = freesPlaces
      self.plugin = plugin
      self.actionLength = actionLength
    }
  }

  /// Readable while a message waits or a wake was not answered; -1 after `close`.
  package private(set) var descriptor: Int32
  // Lua thread only: what it has taken out together and not looked at yet.
  private var batch: [Message] = []
  private var next = 0
  // All other state is touched only with `lock` held.
  private let lock = Lock()
  private let capacity: Int
  private var booked = 0
  private var messages: [Message] = []
  private var progress: [Int64: Int] = [:]  // call -> index of its waiting progress in `messages`
  private var isAwake = false, isSignalled = false, isClosed = false
  private var hasBatch = false  // the Lua thread has not looked at all of its batch

  package init(capacity: Int) throws(BridgeError) {
    self.capacity = capacity
    descriptor = tureen_signal_open()
    guard descriptor >= 0 else {
      throw .bridge(.internal, "no descriptor for the mailbox: \(String(cString: strerror(errno)))", isRetryable: true)
    }
  }

  deinit { close() }

  /// Promises room for a call's answers; false when there is none.
  package func book(_ places: Int) -> Bool {
    lock.withLock {
      guard !isClosed, booked + places <= capacity else { return false }
      booked += places
      return true
    }
  }

  /// Puts a message where the Lua thread finds it. After `close` it is dropped.
  package func post(_ message: Message) { post { message } }

  /// The same for a message that is made, or withheld, with the mailbox to oneself: two threads that post for one call agree
  /// on an order. `make` must be short.
  /// - Returns: False when `make` gave none.
  @discardableResult
  package func post(_ make: () -> Message?) -> Bool {
    lock.withLock {
      guard let message = make() else { return false }
      guard !isClosed else { return true }
      if message.isProgress {
        if let position = progress[message.call] {
          messages[position] = message
          return true
        }
        progress[message.call] = messages.count
      }
      messages.append(message)
      signal()
      return true
    }
  }

  /// The next message in posting order; nil when none waits. Lua thread only.
  ///
  /// Takes all that wait out together, so that many answers cost one visit to the lock and one system call.
  package func take() -> Message? {
    if next == batch.count, !fetch() { return nil }
    defer {
      next += 1
      if next == batch.count { lookedAtAll() }
    }
    return batch[next]
  }

  private func fetch() -> Bool {
    next = 0
    batch.removeAll(keepingCapacity: true)
    return lock.withLock {
      guard !messages.isEmpty else { return false }
      swap(&batch, &messages)
      for message in batch { booked -= message.freesPlaces }
      if !progress.isEmpty { progress = [:] }
      hasBatch = true
      return true
    }
  }

  private func lookedAtAll() {
    lock.withLock {
      hasBatch = false
      signal()
    }
  }

  /// How many messages wait. Answers earlier wakes. Lua thread only.
  package func answerWake() -> Int {
    lock.withLock {
      isAwake = false
      signal()
      return messages.count + batch.count - next
    }
  }

  /// Makes the descriptor readable until `answerWake`.
  package func wake() {
    lock.withLock {
      isAwake = true
      signal()
    }
  }

  /// Drops what waits and what will be posted. Safe twice. Lua thread only.
  package func close() {
    batch = []
    next = 0
    lock.withLock {
      guard !isClosed else { return }
      isClosed = true
      messages = []
      progress = [:]
      Glibc.close(descriptor)
      descriptor = -1
    }
  }

  /// Makes the descriptor say whether something waits.
  private func signal() {
    let shouldSignal = isAwake || hasBatch || !messages.isEmpty
    guard shouldSignal != isSignalled, !isClosed else { return }
    isSignalled = shouldSignal
    tureen_signal_set(descriptor, shouldSignal ? 1 : 0)
  }
}
