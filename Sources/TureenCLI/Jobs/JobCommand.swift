import ArgumentParser
import Glibc
import JSON
import LuaBridge
import Tureen

struct JobCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "job", abstract: "Schedule syncs and scripts that workers run on any machine.",
    subcommands: [
      JobAddCommand.self, JobListCommand.self, JobRetryCommand.self, JobRemoveCommand.self, JobRunsCommand.self,
    ])
}

/// The exit statuses of commands that change or list jobs.
private func statuses(_ failed: String) -> String {
  ExitStatus.help([
    (0, "done"), (1, failed), (64, "wrong usage"), (75, "the database is out of reach; try again later"),
    (78, "no database is set, or a configuration file is wrong; the message names file, line and key"),
  ])
}

/// The database of a command about jobs.
struct JobBoardOptions: ParsableArguments {
  @Option(help: "The folder of stores, sessions and the sandbox org.", completion: .directory, transform: nonEmpty)
  var home: String?

  @OptionGroup var project: ProjectOptions

  /// Runs `body` with the jobs, and ends the command with its exit status. It may throw the error of output whose reader is gone.
  func run(isJSON: Bool = false, _ body: (JobBoard) throws -> Void) throws {
    let status = BridgeCalls.ended(by: isJSON) {
      var settings = HostSettings()
      (settings.home, settings.configDirectory) = (home, project.folder)
      let host = Host(settings: settings)
      try host.prepare()
      defer { host.shutdown() }
      try body(JobBoard(host))
      return 0
    }
    guard status == 0 else { throw ExitCode(status) }
  }
}

struct JobListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the jobs of all stores, or the figures of their queues.",
    discussion: """
      Times are UTC. The state 'failing' means that the last attempt failed and another one follows; 'failed' means that the job \
      is given up, and tureen job retry makes it due again.
      """ + statuses("the database refused"))

  @Option(help: "List the jobs of this queue only.")
  var queue: String?

  @Flag(help: "Print the figures of each queue: due jobs, how long the oldest has waited, running and failed ones.")
  var metrics = false

  @Flag(help: "Print these figures in the text format of Prometheus.")
  var prometheus = false

  @Flag(help: "Print one JSON object a line. The error is JSON on stderr.")
  var json = false

  @OptionGroup var place: JobBoardOptions

  func validate() throws {
    if prometheus, json { throw ValidationError("--prometheus and --json exclude one another") }
    if metrics || prometheus, queue != nil { throw ValidationError("--queue is for the list of jobs; metrics show all queues") }
  }

  func run() throws {
    try place.run(isJSON: json) { board in
      let output = ByteOutput()
      if prometheus {
        try output.write(board.metrics().prometheus)
      } else if metrics {
        try write(board.metrics(), output)
      } else {
        try write(board.jobs(queue: queue), output)
      }
      try output.finish()
    }
  }

  private func write(_ metrics: QueueMetrics, _ output: ByteOutput) throws {
    if json {
      for object in metrics.json { try output.write(TerminalText.escapedJSON(object.text) + "\n") }
    } else if metrics.isEmpty {
      complain("there are no jobs", .notice)
    } else {
      try output.write(TextTable.text(QueueMetrics.titles, metrics.rows, width: TerminalWidth.columns))
    }
  }

  private func write(_ jobs: [JobSummary], _ output: ByteOutput) throws {
    if json {
      for job in jobs { try output.write(TerminalText.escapedJSON(job.json.text) + "\n") }
    } else if jobs.isEmpty {
      complain("there are no jobs" + (queue.map { " in the queue '\($0)'" } ?? "") + "; tureen job add adds one")
    } else {
      try output.write(Self.table(jobs))
    }
  }

  private static func table(_ jobs: [JobSummary]) -> String {
    let columns: [TextTable.Column] = [
      .init("ID", isNumeric: true), .init("KIND"), .init("NAME"), .init("STORE"), .init("QUEUE"), .init("EVERY"), .init("STATE"),
      .init("DUE"), .init("ATTEMPTS"), .init(""),
    ]
    let rows = jobs.map { job in
      [
        "\(job.id)", job.kind, job.name, job.place, job.queue, job.interval, job.state, job.due.map(TimeText.minute) ?? "",
        job.attempts, job.remark,
      ]
    }
    return TextTable.text(columns, rows, width: TerminalWidth.columns)
  }
}

/// The jobs of a command that changes them one by one.
struct ChosenJobs: ParsableArguments {
  @Argument(help: "The ids of the jobs, or names that only one job has.")
  var jobs: [String]

  @Flag(help: "Print one JSON object a line. The error is JSON on stderr.")
  var json = false

  @OptionGroup var place: JobBoardOptions

  /// Changes each job and prints it.
  /// - Parameter result: Follows the job in the line for people, such as `is removed`.
  func forEach(_ result: String, _ change: (JobBoard, String) throws -> JobSummary) throws {
    try place.run(isJSON: json) { board in
      for word in jobs {
        let job = try change(board, word), output = ByteOutput()
        let line =
          json ? TerminalText.escapedJSON(job.json.text) : TerminalText.escaped("job \(job.title) of \(job.place) \(result)")
        try output.write(line + "\n")
        try output.finish()
      }
    }
  }
}

struct JobRetryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Make jobs due at once, with all their attempts.",
    discussion: "For jobs that failed, are done, or wait." + statuses("there is no such job, or it is running"))

  @OptionGroup var chosen: ChosenJobs

  func run() throws { try chosen.forEach("is due now") { try $0.retry($1) } }
}

struct JobRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove jobs with the record of their runs.",
    discussion: "The syncs and scripts stay." + statuses("there is no such job, or it is running"))

  @OptionGroup var chosen: ChosenJobs

  func run() throws { try chosen.forEach("is removed") { try $0.remove($1) } }
}

struct JobRunsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "runs",
    abstract: "List the attempts of a job, the latest first.",
    discussion: """
      Times are UTC. The last 200 attempts are kept. 'released' means that a worker stopped and gave the job back, \
      'postponed' that another run of the sync was going on, 'lost' that its worker vanished.
      """ + statuses("there is no such job"))

  @Argument(help: "The id of the job, or a name that only one job has.")
  var job: String

  @Flag(help: "Print one JSON object a line. The error is JSON on stderr.")
  var json = false

  @OptionGroup var place: JobBoardOptions

  func run() throws {
    try place.run(isJSON: json) { board in
      let (found, runs) = try board.runs(of: job), output = ByteOutput()
      if json {
        for run in runs { try output.write(TerminalText.escapedJSON(run.json.text) + "\n") }
      } else if runs.isEmpty {
        complain("job \(found.title) has not run yet", .notice)
      } else {
        let columns: [TextTable.Column] = [
          .init("ATTEMPT", isNumeric: true), .init("BEGAN"), .init("TOOK"), .init("OUTCOME"), .init("WORKER"), .init(""),
        ]
        let rows = runs.map { run in
          ["\(run.number)", TimeText.minute(run.began), run.duration, run.outcome, run.owner, run.remark]
        }
        try output.write(TextTable.text(columns, rows, width: TerminalWidth.columns))
      }
      try output.finish()
    }
  }
}
