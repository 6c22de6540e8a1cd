import Foundation
import Support

/// Takes the place of the C library's look-up of names, also for libcurl. The name `blocked.test` has no answer until a test says so.
@_cdecl("getaddrinfo")
public func lookUp(
  _ name: UnsafePointer<CChar>?, _ service: UnsafePointer<CChar>?, _ hints: UnsafePointer<addrinfo>?,
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
) -> Int32 {
  if let name, strcmp(name, "blocked.test") == 0 {
    NameLookup.shared.block()
    return EAI_AGAIN
  }
  return NameLookup.next(name, service, hints, result)
}

final class NameLookup: @unchecked Sendable {  // all state is touched only with `lock` held
  static let shared = NameLookup()

  typealias Function =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<addrinfo>?,
      UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
    ) -> Int32
  static let next = unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: -1), "getaddrinfo"), to: Function.self)

  private let lock = Lock()
  private var isReleased = false
  private var entered: [CheckedContinuation<Void, Never>] = []
  private var count = 0

  fileprivate func block() {
    let waiting = lock.withLock { () -> [CheckedContinuation<Void, Never>] in
      count += 1
      defer { entered = [] }
      return entered
    }
    for continuation in waiting { continuation.resume() }
    lock.withLock { while !isReleased { lock.wait() } }
  }

  /// Waits until the name is being looked up.
  func begun() async {
    await withCheckedContinuation { continuation in
      let isThere = lock.withLock { () -> Bool in
        if count == 0 { entered.append(continuation) }
        return count > 0
      }
      if isThere { continuation.resume() }
    }
  }

  func release() {
    lock.withLock {
      isReleased = true
      lock.broadcast()
    }
  }
}
