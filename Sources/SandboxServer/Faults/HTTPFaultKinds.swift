import JSON

/// The kinds of faults that any service can have.
package enum HTTPFaultKinds {
  package static let all = time + connection + body + status

  private static let clock = FaultParameter(
    "clock", .choice(["real", "org"]), "real", "whose time passes: the computer's, or the org's, which can be held and moved")
  private static let reset = FaultParameter(
    "reset", .boolean, false, "with a TCP reset; bytes on their way may be lost then")
  private static let executed = FaultParameter(
    "executed", .boolean, false, "the service does what was asked all the same; its answer is lost")
  private static let bytes = FaultParameter("bytes", .integer(0...ServerTuning.faultBytes), .null, "body bytes that are sent")
  private static let share = FaultParameter(
    "share", .share, .null, "the share of the body that is sent, when 'bytes' is not given")

  static func timing(_ draw: FaultDraw) -> Fault.Timing { Fault.Timing(rawValue: draw.text("clock") ?? "") ?? .real }
  static func ending(_ draw: FaultDraw) -> FaultDelivery.Ending { draw.flag("reset") ? .reset : .close }

  // MARK: Time

  private static let time: [FaultKind] = [
    FaultKind(
      "latency", .time, "The request waits before it is handled.",
      [
        FaultParameter("milliseconds", .range(0...ServerTuning.faultMilliseconds), 500, "how long; random between two numbers"),
        clock,
      ], sample: ["milliseconds": [0, 2]]
    ) { .delay(milliseconds: $0.drawn("milliseconds"), clock: timing($0)) },
    FaultKind(
      "trickle", .time, "The body comes in small pieces.",
      [
        FaultParameter("bytesPerSecond", .integer(1...ServerTuning.faultBytes), 1_000, "how fast"),
        FaultParameter("pieceBytes", .integer(1...65_536), 64, "how much at once"), clock,
      ], sample: ["bytesPerSecond": 10_000_000, "pieceBytes": 64]
    ) { draw in
      let piece = draw.integer("pieceBytes") ?? 64, speed = draw.integer("bytesPerSecond") ?? 1_000
      let pause = (piece * 1_000 + speed - 1) / speed
      return .deliver { delivery, _ in
        delivery.pace = (piece, speed >= piece * 1_000 ? 0 : pause, timing(draw))
      }
    },
    FaultKind(
      "dateSkew", .time, "The Date header is off the server's clock; the connection is closed after the answer.",
      [
        FaultParameter(
          "seconds", .integer(-ServerTuning.faultSeconds...ServerTuning.faultSeconds), 300, "how far; negative is the past")
      ]
    ) { draw in .deliver { delivery, _ in delivery.date = draw.now + Int64(draw.integer("seconds") ?? 0) } },
  ]

  // MARK: Connection

  private static let connection: [FaultKind] = [
    FaultKind("dropBeforeHandling", .connection, "Closed without a byte; the service never saw the request.", [reset]) {
      .silence(executed: false, ending: ending($0))
    },
    FaultKind("dropBeforeResponse", .connection, "Closed without a byte after the service has done what was asked.", [reset]) {
      .silence(executed: true, ending: ending($0))
    },
    FaultKind(
      "dropInsideResponse", .connection, "Closed after the head and a part of the body.", [bytes, share, reset],
      sample: ["share": 0.5]
    ) { draw in
      .deliver { delivery, body in
        delivery.announced = delivery.announced ?? body
        delivery.cut = min(delivery.cut ?? .max, draw.count(of: body))
        delivery.ending = ending(draw)
      }
    },
    FaultKind("dropAfterResponse", .connection, "Closed right after the whole answer, which promised to keep it open.", [reset]) {
      draw in .deliver { delivery, _ in delivery.ending = ending(draw) }
    },
    FaultKind("hang", .connection, "No byte comes, and the connection stays open until the client closes it.", [executed]) {
      .silence(executed: $0.flag("executed"), ending: .open)
    },
  ]

  // MARK: Body

  private static let body: [FaultKind] = [
    FaultKind(
      "truncateBody", .body, "The end of the body is missing.",
      [
        bytes, share,
        FaultParameter(
          "framing", .choice(["length", "chunked", "consistent"]), "length",
          "announced with the whole length, in chunks without the last one, or with the length that comes"),
      ], sample: ["share": 0.5], effect: truncation),
    FaultKind(
      "flipBytes", .body, "Bytes at random places have one bit turned over.",
      [FaultParameter("count", .integer(1...ServerTuning.faultBytes), 1, "how many")], sample: ["count": 3]
    ) { draw in .change { BodyDamage.flip(&$0.body, draw.integer("count") ?? 1, draw.random) } },
    FaultKind("invalidJSON", .body, "A random bracket or colon is gone: the body is no JSON.") { draw in
      .change { BodyDamage.breakJSON(&$0.body, draw.random) }
    },
    FaultKind("invalidUTF8", .body, "A byte that no UTF-8 text holds stands at a random place.") { draw in
      .change { BodyDamage.breakUTF8(&$0.body, draw.random) }
    },
    FaultKind(
      "wrongContentLength", .body, "Content-Length is off; the connection is closed after the body.",
      [
        FaultParameter(
          "by", .integer(-ServerTuning.faultBytes...ServerTuning.faultBytes), 10, "how many bytes more, or fewer, than come")
      ]
    ) { draw in
      .deliver { delivery, body in
        delivery.announced = max(0, body + (draw.integer("by") ?? 0))
        delivery.ending = .close
      }
    },
    FaultKind("wrongGzip", .body, "Announced as gzip, and begins so, but is none.") { draw in
      .change { BodyDamage.pretendGzip(&$0, draw.random) }
    },
    FaultKind(
      "emptyBody", .body, "Success without a body.",
      [
        FaultParameter("status", .integer(200...299), 200, "such as 200 or 204"),
        FaultParameter("executed", .boolean, true, "the service does what was asked"),
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
