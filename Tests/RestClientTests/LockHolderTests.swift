import Glibc
import Support
import TestSupport
import Testing

@testable import RestClient

/// A wait for the lock of a session names the process that holds it.
@Suite(.timeLimit(.minutes(60))) struct LockHolderTests {
  /// Takes the lock and says who it is, as Tureen does; then it stops itself.
  private static let script = """
    exec 9>>"$1"
    flock 9
    read -r line <"/proc/$$/stat"
    set -- ${line##*) }
    printf '%s:%s:%s %s\\n' "$(cat /proc/sys/kernel/random/boot_id)" $$ "${20}" "$(readlink /proc/self/ns/pid)" >&9
    kill -STOP $$
    echo continued
    read -r line
    """

  @Test func lock_ofAStoppedProcess_isNotWaitedForAndSaysHowToGoOn() throws {
    let folder = try TemporaryFolder(), lock = folder.path + "/session.lock"
    let holder = try ChildProcess.start(["/bin/sh", "-c", Self.script, "sh", lock], takesInput: true)
    var status: Int32 = 0
    #expect(waitpid(holder.id, &status, WUNTRACED) == holder.id && status & 0xff == 0x7f)
    let stopped = try #require(throws: RestError.self) { try TokenFile(folder: folder.path, patienceMs: 3_600_000) }
    #expect(stopped.code == .signInBusy && stopped.isRetryable)
    #expect(
      stopped.message == "process \(holder.id) (sh) is signing in and is stopped: it holds \(lock); continue it with "
        + "'kill -CONT \(holder.id)', or end it with 'kill -KILL \(holder.id)'")
    kill(holder.id, SIGCONT)
    _ = ChildProcess.read(holder.output)
    let late = try #require(throws: RestError.self) { try TokenFile(folder: folder.path, patienceMs: 0) }
    #expect(
      late.message == "process \(holder.id) (sh) has been signing in for too long: it holds \(lock); end it with "
        + "'kill \(holder.id)' if it hangs")
    kill(holder.id, SIGKILL)
    _ = holder.wait()
    close(holder.output)
    close(holder.input)
    _ = try TokenFile(folder: folder.path, patienceMs: 3_600_000)
  }

  /// A process of another container, or of an earlier release, is not named.
  @Test(arguments: ["", "x", "boot:1:1 pid:[1]", "\(ProcessIdentity.current.text) pid:[1]"])
  func lock_ofAnUnknownProcess_namesTheFile(text: String) throws {
    let folder = try TemporaryFolder(), path = folder.path + "/session.lock"
    let held = try TokenFile(folder: folder.path, patienceMs: 0)
    let descriptor = open(path, O_WRONLY | O_TRUNC)
    #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
    close(descriptor)
    let error = try #require(throws: RestError.self) { try TokenFile(folder: folder.path, patienceMs: 0) }
    #expect(error.message == "another process has been signing in for too long: it holds \(path)")
    held.release()
  }
}
