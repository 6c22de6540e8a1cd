import Foundation
import Glibc
import Testing

/// Tests a bridge that a program in another language uses: `Tests/Clients/relay`.
@Suite struct RelayTests {
  private static let folder = Built.package.path + "/Tests/Clients/relay"

  private func startRelay(_ place: Workplace) async throws -> (child: Child, port: String) {
    let child = try place.startScript(Self.folder + "/relay.lua")
    let hasStarted = await child.prints("\n")
    #expect(hasStarted)
    return (child, try #require(child.printed.split(separator: "\n").first?.split(separator: " ").last.map(String.init)))
  }

  @Test func relay_hybridClient_doesTheMainJob() async throws {
    let place = try Workplace()
    let (relay, port) = try await startRelay(place)
    let client = try await place.run("/usr/bin/env", ["node", Self.folder + "/main_job.mjs", port])
    #expect(client.status == 0 && client.output == "the main job runs through the relay\n", "\(client)")
    relay.send(SIGINT)
    let ended = await relay.ended()
    #expect(ended.status == 130 && !ended.errors.contains("traceback"), "\(ended)")
  }

  @Test func relay_pluginOfTheScript_isListedAndAnswersAHybridClient() async throws {
    let place = try Workplace()
    let (relay, port) = try await startRelay(place)
    let client = try await place.run("/usr/bin/env", ["node", Self.folder + "/plugin_job.mjs", port])
    #expect(client.status == 0 && client.output == "the plug-in answers through the relay\n", "\(client)")
    relay.send(SIGINT)
    let ended = await relay.ended()
    #expect(ended.status == 130 && !ended.errors.contains("traceback"), "\(ended)")
  }

  @Test func relay_brokenLines_areAnsweredAndTheConnectionStays() async throws {
    let place = try Workplace()
    let (relay, port) = try await startRelay(place)
    let client = try await place.run(
      "/usr/bin/env",
      [
        "node", "-e",
        """
        const socket = require('net').connect(\(port), '127.0.0.1')
        const lines = ['{broken', '5', '{"id":1}', '{"id":2,"service":"com.salesforce.smartstore","action":"pgSoupExists","args":7}',
          '{"id":3,"service":"com.salesforce.smartstore","action":"pgSoupExists","args":[{"soupName":"x"}]}', '']
        let text = ''
        socket.on('data', (data) => {
          text += data
          if (!text.includes('"id":3')) return
          console.log(text)
          socket.end()
        })
        socket.write(lines.join('\\n'))
        """,
      ])
    let answers = client.output.split(separator: "\n")
    #expect(answers.count == 5 && client.output.contains(#""value":false"#), "\(client)")
    #expect(answers.filter { $0.contains(#""ok":false"#) }.count == 4, "\(client)")
    relay.send(SIGINT)
    #expect(await relay.ended().status == 130)
  }
}
