import CLuaBridge
import Glibc
import JSON
import LuaBridge
import Support

/// Runs a script in its own process, for `tureen_run_isolated`. Blocks until it has ended.
///
/// - Parameters:
///   - options: The JSON text of an object.
///   - path: The script's file, or its name if there is a text.
///   - text: The script's text; NULL to read the file.
///   - stop: A descriptor that interrupts the script when it becomes readable; negative: none.
///   - result: Receives the end of the script, or an error, as JSON.
/// - Returns: 1, or 0 if the options were refused.
@_cdecl("tureen_embedded_isolated")
public func tureenEmbeddedIsolated(
  _ options: UnsafePointer<CChar>, _ path: UnsafePointer<CChar>, _ text: UnsafePointer<CChar>?, _ stop: Int32,
  _ result: UnsafeMutablePointer<tureen_bytes>
) -> Int32 {
  LogSetup.silent()
  let path = String(cString: path)
  do {
    let (run, arguments) = try IsolatedRun.reading(embeddedOptions(String(cString: options).utf8))
    let request = IsolatedStop(), watch = try StopWatch(stop) { request.request() }
    defer { watch.end() }
    let end = try run.perform(request) { script in
      guard let text else { return script.run(file: path, arguments: arguments) }
      return script.run(text: Array(UnsafeRawBufferPointer(start: text, count: strlen(text))), path: path, arguments: arguments)
    }
    result.pointee = Payload(end.json.serialized()).release()
    return 1
  } catch {
    result.pointee = Payload(BridgeError(embedding: error).serialized).release()
    return 0
  }
}

/// A thread that waits for a descriptor to become readable.
private final class StopWatch {
  private let done: Int32
  private var thread = pthread_t()
  private let isWatching: Bool

  /// - Parameter stop: The descriptor; nothing is watched if it is negative.
  init(_ stop: Int32, _ action: @escaping @Sendable () -> Void) throws(BridgeError) {
    done = stop < 0 ? -1 : tureen_signal_open()
    isWatching = stop >= 0
    guard isWatching else { return }
    guard fcntl(stop, F_GETFD) >= 0 else {
      close(done)
      throw BridgeError(
        domain: "host", code: HostError.Code.invalidConfiguration.rawValue,
        message: "the descriptor \(stop), which interrupts the script, is not open")
    }
    guard done >= 0 else { throw Self.failure("descriptor", errno) }
    let work = Unmanaged.passRetained(Work(stop: stop, done: done, action: action))
    let status = pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().wait()
        return nil
      }, work.toOpaque())
    guard status == 0 else {
      work.release()
      close(done)
      throw Self.failure("thread", status)
    }
  }

  private static func failure(_ what: String, _ status: Int32) -> BridgeError {
    BridgeError(
      domain: "bridge", code: BridgeError.Code.internal.rawValue, message: "no \(what): \(String(cString: strerror(status)))",
      isRetryable: true)
  }

  /// Ends the thread, and waits for it.
  func end() {
    guard isWatching else { return }
    tureen_signal_set(done, 1)
    pthread_join(thread, nil)
    close(done)
  }

  private final class Work {
    let stop: Int32, done: Int32
    let action: @Sendable () -> Void

    init(stop: Int32, done: Int32, action: @escaping @Sendable () -> Void) {
      self.stop = stop
      self.done = done
      self.action = action
    }

    func wait() {
      var events = [pollfd(fd: done, events: Int16(POLLIN), revents: 0), pollfd(fd: stop, events: Int16(POLLIN), revents: 0)]
      while poll(&events, 2, -1) < 0, errno == EINTR {}
      if events[0].revents == 0, events[1].revents != 0 { action() }
    }
  }
}
