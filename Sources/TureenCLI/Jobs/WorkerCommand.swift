import ArgumentParser
import Glibc
import JSON
import Tureen

struct WorkerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker",
    abstract: "Run the jobs of a database, together with workers on other machines.",
    usage: "tureen worker [<options>]",
    discussion: """
      Stores must be in PostgreSQL: $TUREEN_STORE, or store in bootconfig.json. tureen job adds jobs. A worker runs those of \
      the users who are signed in in its home, and of the sandbox org; others are left to other workers. With --org it runs \
      those of one org only.

      A line for each event goes to stderr. Ctrl-C and SIGTERM stop syncs at a page and scripts as Ctrl-C does, and give the \
      jobs back, so that another worker continues at once. Jobs that do not stop within six seconds are cut off. A second \
      signal ends the worker at once. If a worker is killed, others take its jobs over after 30 seconds.
      """
        + ExitStatus.help([
          (0, "stopped, or nothing was due any more (--drain)"),
          (1, "the database refused, or an attempt failed (--drain)"), (64, "wrong usage"),
          (67, "the org or user is not known or not signed in (--org)"),
          (75, "the database is out of reach (--drain)"),
          (78, "no database is set, or a configuration file is wrong; the message names file, line and key"),
          (130, "ended by a second signal"),
        ]))

  @Option(help: "The number of jobs to run at once.")
  var slots = 4

  @Option(help: "The queue.")
  var queue = "default"

  @Flag(help: "End as soon as nothing is due any more.")
  var drain = false

  @Option(help: "The folder of scripts. Without it script jobs are left to other workers.", completion: .directory)
  var scripts: String?

  @Flag(help: "Print each event as a line of JSON on stdout instead of text on stderr.")
  var json = false

  @OptionGroup var project: ProjectOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    guard (1...256).contains(slots) else { throw ValidationError("--slots must be 1 to 256") }
    if let scripts {
      var info = stat()
      guard stat(scripts, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
        throw ValidationError("--scripts: the folder '\(scripts)' does not exist")
      }
    }
    if place.user != nil, place.org == nil { throw ValidationError("--user goes with --org") }
  }

  func run() throws {
    let (host, sandbox) = try place.settings(configDirectory: project.folder)
    var settings = WorkerSettings()
    settings.host = host
    (settings.queue, settings.slots, settings.isDraining, settings.scripts) = (queue, slots, drain, scripts)
    let isJSON = json
    let status = BridgeCalls.ended(by: json) {
      let worker = try JobWorker(settings) { news in
        guard !isJSON else { return write(TerminalText.escapedJSON(news.json.text) + "\n", to: STDOUT_FILENO) }
        complain(news.text, news.isTrouble ? .warning : .info)
      }
      // Ends by itself: what does not stop in time is cut off.
      let interrupts = InterruptWatch(grace: nil) { worker.stop() }
      defer { withExtendedLifetime(interrupts) {} }
      switch try worker.run() {
      case .stopped, .drained(failed: 0): return 0
      case .drained: return ExitStatus.callFailed
      }
    }
    sandbox.stop()
    guard status == 0 else { throw ExitCode(status) }
  }
}
