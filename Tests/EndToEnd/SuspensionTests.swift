import Foundation
import Glibc
import Testing

/// Tests `tureen run` with Ctrl-Z and `fg`.
@Suite struct SuspensionTests {
  @Test func suspend_andContinue_scriptHearsPauseAndResume() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      io.stdout:setvbuf("no")
      local timer
      tureen.on("pause", function() print("pause heard") end)
      tureen.on("resume", function()
        print("resume heard")
        timer:cancel()
      end)
      timer = tureen.after(600000, function() end)
      print("ready")
      """, to: "script.lua")
    let child = try place.startScript(script)
    #expect(await child.prints("ready"))
    child.send(SIGTSTP)
    #expect(await child.prints("pause heard"))
    #expect(await child.isSuspended())
    child.send(SIGCONT)
    let ended = await child.ended()
    #expect(ended.status == 0)
    #expect(ended.output == "ready\npause heard\nresume heard\n")
  }
}
