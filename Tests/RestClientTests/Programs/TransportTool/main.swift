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

func milliseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
}

switch mode {
// The milliseconds of CPU of the first transport's first request, and the least of ten further ones.
case "cpu":
  var costs: [Double] = []
  for _ in 0..<11 {
    let start = milliseconds(), transport = HTTPTransport(configuration)
    _ = try? await transport.exchange(.GET, url: url, headers: [], body: nil)
    await transport.shutdown()
    costs.append(milliseconds() - start)
  }
  say("\(costs[0]) \(costs.dropFirst().min() ?? 0)")
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
