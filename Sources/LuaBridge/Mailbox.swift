import CLuaBridge
import Glibc

/// Text on its way to Lua, in memory that C may free: copied by the thread that posts, not by the one that takes.
package final class Payload: @unchecked Sendable {
  // Written in init and by whoever owns the last reference: a message has one owner at a time.
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
  package enum Kind: Int32, Sendable { case result = 1, error, update, end, fail, request, news = 8 }

  package struct Message: Sendable {
    package let call: Int64
    package let kind: Kind
    package let payload: Payload
    /// True for an update that a later one may replace.
    let isProgress: Bool
    /// Booked places that are free again once this is taken.
    let freesPlaces: Int

    package init(call: Int64, kind: Kind, payload: Payload, isProgress: Bool = false, freesPlaces: Int = 0) {
      self.call = call
      self.kind = kind
      self.payload = payload
      self.isProgress = isProgress
      self.freesPlaces = freesPlaces
    }
  }

  /// Readable while a message waits or a wake was not answered; -1 after `close`.
  package private(set) var descriptor: Int32
  // All state is touched only with `lock` held.
  private let lock = Lock()
  private let capacity: Int
  private var booked = 0
  private var messages: [Message] = []
  private var first = 0  // index of the next one in `messages`
  private var taken = 0  // how many have left `messages` in front, so that positions stay valid
  private var progress: [Int64: Int] = [:]  // call -> position of its waiting progress
  private var isAwake = false, isSignalled = false, isClosed = false

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
  package func post(_ message: Message) {
    lock.withLock {
      guard !isClosed else { return }
      if message.isProgress {
        if let position = progress[message.call] {
          messages[position - taken] = message
          return
        }
        progress[message.call] = taken + messages.count
      }
      messages.append(message)
      signal()
    }
  }

  /// The next message in posting order; nil when none waits.
  package func take() -> Message? {
    lock.withLock {
      guard first < messages.count else { return nil }
      let message = messages[first]
      first += 1
      if message.isProgress { progress[message.call] = nil }
      booked -= message.freesPlaces
      dropTaken()
      signal()
      return message
    }
  }

  /// How many messages wait. Answers earlier wakes.
  package func answerWake() -> Int {
    lock.withLock {
      isAwake = false
      signal()
      return messages.count - first
    }
  }

  /// Makes the descriptor readable until `answerWake`.
  package func wake() {
    lock.withLock {
      isAwake = true
      signal()
    }
  }

  /// Drops what waits and what will be posted. Safe twice.
  package func close() {
    lock.withLock {
      guard !isClosed else { return }
      isClosed = true
      messages = []
      first = 0
      progress = [:]
      Glibc.close(descriptor)
      descriptor = -1
    }
  }

  /// Forgets delivered messages now and then: always when none waits, else when they are the larger half.
  private func dropTaken() {
    guard first == messages.count || (first > 64 && first * 2 > messages.count) else { return }
    taken += first
    messages.removeFirst(first)
    first = 0
  }

  /// Makes the descriptor say whether something waits.
  private func signal() {
    let shouldSignal = isAwake || first < messages.count
    guard shouldSignal != isSignalled, !isClosed else { return }
    isSignalled = shouldSignal
    tureen_signal_set(descriptor, shouldSignal ? 1 : 0)
  }
}
