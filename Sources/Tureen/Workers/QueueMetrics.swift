import JSON
import PostgresStore
import Support

/// The figures of a database's queues, for people and for Prometheus.
package struct QueueMetrics: Sendable, Equatable {
  let queues: [QueueFigures]

  private struct Metric {
    let name: String, help: String
    let value: @Sendable (QueueFigures) -> String
  }

  private static let metrics = [
    Metric(name: "tureen_jobs_due", help: "Jobs that a worker could take now.") { "\($0.due)" },
    Metric(name: "tureen_jobs_oldest_due_seconds", help: "Seconds for which the oldest due job has waited; 0 if none is due.") {
      seconds($0.lagMs)
    },
    Metric(name: "tureen_jobs_waiting", help: "Jobs that become due later.") { "\($0.waiting)" },
    Metric(name: "tureen_jobs_running", help: "Jobs that workers are running.") { "\($0.running)" },
    Metric(name: "tureen_jobs_failing", help: "Jobs whose last attempt failed and that are tried again.") { "\($0.failing)" },
    Metric(name: "tureen_jobs_failed", help: "Jobs that are given up.") { "\($0.failed)" },
    Metric(name: "tureen_jobs_done", help: "Jobs that ran once and are done.") { "\($0.done)" },
  ]

  /// Prometheus's text format, version 0.0.4. Without jobs, the queue `default` has zeros, so that the series exist.
  package var prometheus: String {
    let shown = queues.isEmpty ? [QueueFigures(queue: "default")] : queues
    return Self.metrics.map { metric in
      "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) gauge\n"
        + shown.map { "\(metric.name){queue=\"\(Self.escaped($0.queue))\"} \(metric.value($0))\n" }.joined()
    }.joined()
  }

  /// The value of a label. - Note: Source: Prometheus, "Exposition formats".
  private static func escaped(_ text: String) -> String {
    text.replacingBytes("\\", with: "\\\\").replacingBytes("\"", with: "\\\"").replacingBytes("\n", with: "\\n")
  }

  private static func seconds(_ milliseconds: Int64) -> String {
    let value = max(0, milliseconds), rest = value % 1000
    return "\(value / 1000)." + (rest < 10 ? "00" : rest < 100 ? "0" : "") + "\(rest)"
  }

  package static let titles: [TextTable.Column] = [
    .init("QUEUE"), .init("DUE", isNumeric: true), .init("OLDEST"), .init("WAITING", isNumeric: true),
    .init("RUNNING", isNumeric: true), .init("FAILING", isNumeric: true), .init("FAILED", isNumeric: true),
    .init("DONE", isNumeric: true),
  ]

  package var rows: [[String]] {
    queues.map { queue in
      // Whole seconds are enough for people.
      let oldest = queue.due == 0 ? "" : "\(JobInterval(milliseconds: max(0, queue.lagMs) / 1000 * 1000))"
      return [queue.queue, "\(queue.due)", oldest]
        + [queue.waiting, queue.running, queue.failing, queue.failed, queue.done].map { "\($0)" }
    }
  }

  package var json: [JSONObject] {
    queues.map { queue in
      [
        "queue": .string(queue.queue), "due": .integer(queue.due), "oldestDueMs": .integer(queue.lagMs),
        "waiting": .integer(queue.waiting), "running": .integer(queue.running), "failing": .integer(queue.failing),
        "failed": .integer(queue.failed), "done": .integer(queue.done),
      ]
    }
  }

  package var isEmpty: Bool { queues.isEmpty }
}
