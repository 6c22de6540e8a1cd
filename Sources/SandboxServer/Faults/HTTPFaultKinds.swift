import JSON

/// The kinds of faults that every service supports.
package enum HTTPFaultKinds {
  package static let all = time + connection + body + status

  private static let clock = FaultParameter(
    "clock", .choice(["real", "org"]), "real",
    "which clock measures the delay: the computer's, or the org's, which tests can hold and move")
  private static let reset = FaultParameter(
    "reset", .boolean, false, "close with a TCP reset, which can lose bytes in flight")
  private static let executed = FaultParameter(
    "executed", .boolean, false, "the service handles the request all the same; its response is lost")
  private static let bytes = FaultParameter("bytes", .integer(0...ServerTuning.faultBytes), .null, "number of body bytes to send")
  private static let share = FaultParameter(
    "share", .share, .null, "share of the body to send if 'bytes' is not given")

  static func timing(_ draw: FaultDraw) -> Fault.Timing { Fault.Timing(rawValue: draw.text("clock") ?? "") ?? .real }
  static func ending(_ draw: FaultDraw) -> FaultDelivery.Ending { draw.flag("reset") ? .reset : .close }

  // MARK: Time

  private static let time: [FaultKind] = [
    FaultKind(
      "latency", .time, "Delays the request before it is handled.",
      [
        FaultParameter(
          "milliseconds", .range(0...ServerTuning.faultMilliseconds), 500,
          "the delay, or a pair: each request draws one between the two"),
        clock,
      ], sample: ["milliseconds": [0, 2]]
    ) { .delay(milliseconds: $0.drawn("milliseconds"), clock: timing($0)) },
    FaultKind(
      "trickle", .time, "Sends the body slowly, in small pieces.",
      [
        FaultParameter("bytesPerSecond", .integer(1...ServerTuning.faultBytes), 1_000, "the rate"),
        FaultParameter("pieceBytes", .integer(1...65_536), 64, "the size of each piece"), clock,
      ], sample: ["bytesPerSecond": 10_000_000, "pieceBytes": 64]
    ) { draw in
      let piece = draw.integer("pieceBytes") ?? 64, speed = draw.integer("bytesPerSecond") ?? 1_000
      let pause = (piece * 1_000 + speed - 1) / speed
      return .deliver { delivery, _ in
        delivery.pace = (piece, speed >= piece * 1_000 ? 0 : pause, timing(draw))
      }
    },
    FaultKind(
      "dateSkew", .time, "Shifts the Date header from the server's clock and closes the connection after the response.",
      [
        FaultParameter(
          "seconds", .integer(-ServerTuning.faultSeconds...ServerTuning.faultSeconds), 300,
          "the offset; negative values are in the past")
      ]
    ) { draw in .deliver { delivery, _ in delivery.date = draw.now + Int64(draw.integer("seconds") ?? 0) } },
  ]

  // MARK: Connection

  private static let connection: [FaultKind] = [
    FaultKind(
      "dropBeforeHandling", .connection, "Closes the connection without a byte; the service never sees the request.", [reset]
    ) {
      .silence(executed: false, ending: ending($0))
    },
    FaultKind("dropBeforeResponse", .connection, "Handles the request, then closes the connection without a byte.", [reset]) {
      .silence(executed: true, ending: ending($0))
    },
    FaultKind(
      "dropInsideResponse", .connection, "Closes the connection after the head and a part of the body.", [bytes, share, reset],
      sample: ["share": 0.5]
    ) { draw in
      .deliver { delivery, body in
        delivery.announced = delivery.announced ?? body
        delivery.cut = min(delivery.cut ?? .max, draw.count(of: body))
        delivery.ending = ending(draw)
      }
    },
    FaultKind(
      "dropAfterResponse", .connection, "Closes the connection right after a response that promised to keep it open.", [reset]
    ) {
      draw in .deliver { delivery, _ in delivery.ending = ending(draw) }
    },
    FaultKind("hang", .connection, "Sends no byte and keeps the connection open until the client closes it.", [executed]) {
      .silence(executed: $0.flag("executed"), ending: .open)
    },
  ]

  // MARK: Body

  private static let body: [FaultKind] = [
    FaultKind(
      "truncateBody", .body, "Cuts off the end of the body.",
      [
        bytes, share,
        FaultParameter(
          "framing", .choice(["length", "chunked", "consistent"]), "length",
          "announce the whole length, send chunks without the last one, or announce the length that is sent"),
      ], sample: ["share": 0.5], effect: truncation),
    FaultKind(
      "flipBytes", .body, "Flips one bit in each of some bytes at random positions.",
      [FaultParameter("count", .integer(1...ServerTuning.faultBytes), 1, "number of bytes to change")], sample: ["count": 3]
    ) { draw in .change { BodyDamage.flip(&$0.body, draw.integer("count") ?? 1, draw.random) } },
    FaultKind("invalidJSON", .body, "Removes a random bracket or colon, so that the body is not valid JSON.") { draw in
      .change { BodyDamage.breakJSON(&$0.body, draw.random) }
    },
    FaultKind("invalidUTF8", .body, "Inserts a byte that never occurs in UTF-8 at a random position.") { draw in
      .change { BodyDamage.breakUTF8(&$0.body, draw.random) }
    },
    FaultKind(
      "wrongContentLength", .body, "Sends a wrong Content-Length and closes the connection after the body.",
      [
        FaultParameter(
          "by", .integer(-ServerTuning.faultBytes...ServerTuning.faultBytes), 10,
          "bytes to add to the true length; negative values subtract")
      ]
    ) { draw in
      .deliver { delivery, body in
        delivery.announced = max(0, body + (draw.integer("by") ?? 0))
        delivery.ending = .close
      }
    },
    FaultKind("wrongGzip", .body, "Announces gzip and sends a gzip header with invalid data.") { draw in
      .change { BodyDamage.fakeGzip(&$0, draw.random) }
    },
    FaultKind(
      "emptyBody", .body, "Answers with success and no body.",
      [
        FaultParameter("status", .integer(200...299), 200, "such as 200 or 204"),
        FaultParameter("executed", .boolean, true, "the service handles the request"),
      ]
    ) { .answer(.empty($0.integer("status") ?? 200), executed: $0.flag("executed")) },
  ]

  private static func truncation(_ draw: FaultDraw) -> FaultEffect {
    switch draw.text("framing") {
    case "consistent":
      return .change { $0.body.removeLast($0.body.count - draw.count(of: $0.body.count)) }
    case "chunked":
      return .deliver { delivery, body in
        delivery.chunkBytes = 512
        delivery.cut = min(delivery.cut ?? .max, draw.count(of: body))
        delivery.ending = .close
      }
    default:
      return .deliver { delivery, body in
        delivery.announced = delivery.announced ?? body
        delivery.cut = min(delivery.cut ?? .max, draw.count(of: body))
        delivery.ending = .close
      }
    }
  }
}
