// A program with a transport inside, for what cannot be tried in the process of the tests: its end, and fork.
import Glibc
import RestClient
import Support

/// The mode, the URL, and a file of authorities.
let arguments = CommandLine.arguments
let mode = arguments[1], url = arguments[2]
var configuration = TransportConfiguration()
if arguments.count > 3 { configuration.authorities = FileSystem.read(arguments[3]).flatMap { TrustedCertificates(pem: $0) } }
let transport = HTTPTransport(configuration)

func get() async -> String {
  do {
    return try await transport.exchange(.GET, url: url, headers: [], body: nil).body.text
  } catch {
    return "\(error)"
  }
}

/// Prints a line at once: a child process would have it in its buffer, too.
func say(_ line: String) {
  print(line)
  fflush(nil)
}

/// The bytes that this process has read from files.
func bytesRead() -> Int {
  let line = (FileSystem.read("/proc/self/io").map { String(decoding: $0, as: UTF8.self) } ?? "").prefix { $0 != "\n" }
  return Int(line.drop { !$0.isNumber }) ?? 0
}

/// The lines of ignored signals and of those that have a handler.
func signals() -> [Substring] {
  let status = FileSystem.read("/proc/self/status").map { String(decoding: $0, as: UTF8.self) } ?? ""
  return status.split(separator: "\n").filter { $0.hasPrefix("SigIgn") || $0.hasPrefix("SigCgt") }
}

func blockedSignals() -> [UInt8] {
  var mask = sigset_t()
  pthread_sigmask(SIG_BLOCK, nil, &mask)
  return withUnsafeBytes(of: mask) { Array($0) }
}

/// The descriptors of network sockets that a child would inherit. Pairs of sockets within libcurl 7.88 lead nowhere.
func inheritedSockets() -> [Int32] {
  (3..<Int32(getdtablesize())).filter { descriptor in
    var storage = sockaddr_storage(), length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let status = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard status == 0, [AF_INET, AF_INET6].contains(Int32(storage.ss_family)) else { return false }
    return fcntl(descriptor, F_GETFD) & FD_CLOEXEC == 0
  }
}

switch mode {
// The bytes read by the first transport's first request, and the most by one of ten further ones.
case "reads":
  var costs: [Int] = []
  for _ in 0..<11 {
    let start = bytesRead(), transport = HTTPTransport(configuration)
    _ = try? await transport.exchange(.GET, url: url, headers: [], body: nil)
    await transport.shutdown()
    costs.append(bytesRead() - start)
  }
  say("\(costs[0]) \(costs.dropFirst().max() ?? 0)")
// Makes one request, and names the sockets that a child would inherit meanwhile.
case "sockets": say("\(await get()) \(inheritedSockets())")
// Sends a body that is not read, which is a SIGPIPE for those who do not prevent it, and says whether a signal is treated
// otherwise than before.
case "signals":
  // The first thread that a program starts changes them, and the threads of tasks have a mask of their own.
  func state() async -> [String] { await Task.detached { signals().map(String.init) + ["\(blockedSignals())"] }.value }
  _ = await state()
  let before = await state()
  let body = [UInt8](repeating: 1, count: 30_000_000)
  _ = try? await transport.exchange(.POST, url: url, headers: [], body: body)
  say("\(await state() == before)")
  await transport.shutdown()
  say("\(await state() == before)")
// Ends the process while requests are under way or connections are open.
case "exit":
  for _ in 0..<8 { Task.detached { say(await get()) } }
  // The test closes our standard input once the server has all requests.
  while getchar() >= 0 {}
  exit(0)
// Forks with an open connection, which the child must not disturb.
case "fork":
  say(await get())
  let child = fork()
  if child == 0 { exit(7) }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  say("child \(status >> 8 & 0xff) \(status & 0x7f)")
  say(await get())
  await transport.shutdown()
// Makes one request.
case "get": say(await get())
default: exit(64)
}
