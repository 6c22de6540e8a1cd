import ArgumentParser
import Glibc
import JSON
import Tureen

struct WhoamiCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami",
    abstract: "Ask the org who the signed-in user is.",
    usage: "tureen whoami [<options>]",
    discussion: """
      Prints user, org, instance, flow, scopes and when the session began. In a folder with configuration files it is the user \
      whom the other commands there have.
      """
        + ExitStatus.help([
          (0, "done"),
          (67, "no session, or one that has ended: tureen login signs in"),
          (75, "the org is unreachable"),
          (78, "a configuration file is wrong; the message names it"),
        ]))

  @OptionGroup var project: ProjectOptions
  @OptionGroup var place: HostOptions

  @Flag(help: "Print one JSON object. The error is JSON on stderr.")
  var json = false

  func run() throws {
    let (host, sandbox) = try place.prepare(configDirectory: project.folder)
    defer {
      host.shutdown()
      sandbox.stop()
    }
    do {
      let found = try waitFor { try await host.whoAmI() }
      write(json ? TerminalText.escapedJSON(found.json.text) + "\n" : found.text, to: STDOUT_FILENO)
    } catch {
      complain(error, asJSON: json)
      throw ExitCode(ExitStatus.of(error))
    }
  }
}
