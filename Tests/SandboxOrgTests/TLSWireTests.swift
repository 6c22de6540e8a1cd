import Foundation
import SandboxOrg
import TestSupport
import Testing

/// Tests the sandbox's TLS on the wire, with clients that do what libraries do not: programs of Python's `ssl`.
@Suite(.timeLimit(.minutes(60))) struct TLSWireTests {
  /// What each program starts with. `plain()` connects, `tls()` shakes hands, `request(...)` makes the text of a request.
  private static let start = #"""
    import os, socket, ssl, struct, sys, threading, time
    port = int(os.environ["PORT"])
    def plain():
        s = socket.create_connection(("127.0.0.1", port)); s.settimeout(30); return s
    def settings():
        c = ssl.create_default_context(cadata=os.environ["CA"]); return c
    def tls(context=None):
        return (context or settings()).wrap_socket(plain(), server_hostname="localhost", suppress_ragged_eofs=False)
    def request(path="/services/data", method="GET", headers=""):
        return (f"{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n").encode()
    def answer(s):
        data = b""
        while True:
            try: part = s.recv(65536)
            except ssl.SSLEOFError: return data, "cut"
            except ConnectionResetError: return data, "reset"
            if not part: return data, "end"
            data += part
    """#

  private func run(
    _ program: String, configuration: SandboxConfiguration = SandboxConfiguration(), faults: [Fault] = []
  ) async throws -> [String] {
    var configuration = configuration
    configuration.seed = .none
    configuration.tls = .generated(folder: nil)
    let server = try await SandboxServer.start(configuration)
    for (index, fault) in faults.enumerated() { try server.faults.add(fault, when: .nth(index + 1)) }
    var environment = ["PORT": "\(server.port)", "PROGRAM": Self.start + "\n" + program]
    environment["CA"] = server.certificateAuthority
    let output = try await shell(#"/usr/bin/python3 -W ignore -c "$PROGRAM" 2>&1"#, environment)
    // Whatever a client does, the next one is served.
    environment["PROGRAM"] =
      Self.start + "\n" + #"""
        s = tls(); s.sendall(request(headers="Connection: close\r\n")); print(answer(s)[0][:15].decode())
        """#
    #expect(try await shell(#"/usr/bin/python3 -W ignore -c "$PROGRAM" 2>&1"#, environment) == "HTTP/1.1 200 OK\n")
    await server.stop()
    return output.split(separator: "\n").map(String.init)
  }

  @Test func handshake_eachVersion_isSpokenFrom12On() async throws {
    let lines = try await run(
      #"""
      for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
          c = settings(); c.minimum_version = c.maximum_version = version; c.set_alpn_protocols(["h2", "http/1.1"])
          s = tls(c); print(s.version(), s.selected_alpn_protocol()); s.close()
      for version in ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1:
          c = settings(); c.minimum_version = c.maximum_version = version; c.set_ciphers("DEFAULT:@SECLEVEL=0")
          try: tls(c); print("spoken")
          except ssl.SSLError as error: print(error.reason)
      c = settings(); c.set_alpn_protocols(["h2"]); s = tls(c); print(s.selected_alpn_protocol())
      """#)
    #expect(
      lines == [
        "TLSv1.2 http/1.1", "TLSv1.3 http/1.1", "TLSV1_ALERT_PROTOCOL_VERSION", "TLSV1_ALERT_PROTOCOL_VERSION", "None",
      ])
  }

  @Test func keptConnection_ofManyRequests_answersAll() async throws {
    let lines = try await run(
      #"""
      for count in 1, 300:
          s = tls(); data = b""
          for _ in range(count): s.sendall(request())
          while data.count(b"HTTP/1.1 200") < count or not data.endswith(b"]"): data += s.recv(65536)
          print(data.count(b"HTTP/1.1 200")); s.close()
      # A byte a record.
      s = tls()
      for byte in request(headers="Connection: close\r\n"): s.send(bytes([byte]))
      print(answer(s)[0].count(b"HTTP/1.1 200"))
      """#)
    #expect(lines == ["1", "300", "1"])
  }

  @Test func clientsHalf_endedByFarewell_stillGetsItsAnswer() async throws {
    let lines = try await run(
      #"""
      # close_notify after the request, without a FIN; then with one.
      for closes in False, True:
          incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
          raw = plain(); object = settings().wrap_bio(incoming, outgoing, server_hostname="localhost")
          def step(f):
              while True:
                  try: result = f()
                  except ssl.SSLWantReadError:
                      waiting = outgoing.read()
                      if waiting: raw.sendall(waiting)
                      part = raw.recv(65536)
                      if part: incoming.write(part)
                      else: incoming.write_eof()
                      continue
                  waiting = outgoing.read()
                  if waiting: raw.sendall(waiting)
                  return result
          step(object.do_handshake)
          step(lambda: object.write(request()))
          try: object.unwrap()
          except ssl.SSLWantReadError: pass
          raw.sendall(outgoing.read())
          if closes: raw.shutdown(socket.SHUT_WR)
          data = b""
          while True:
              try: part = step(lambda: object.read(65536))
              except ssl.SSLZeroReturnError: part = b""
              if not part: break
              data += part
          print(data[:15].decode())
      """#)
    #expect(lines == ["HTTP/1.1 200 OK", "HTTP/1.1 200 OK"])
  }

  @Test func serversHalf_endsWithAFarewell_alsoUnderFaults() async throws {
    let lines = try await run(
      #"""
      s = tls(); s.sendall(request(headers="Connection: close\r\n")); data, ending = answer(s)
      print(data[:15].decode(), ending)
      # Refused bytes: the connection's last answer, then a farewell.
      s = tls(); s.sendall(b"nonsense\r\n\r\n"); data, ending = answer(s)
      print(data[:12].decode(), ending)
      # A FIN without a farewell: no request is missing its end, the answer comes.
      s = tls(); s.sendall(request()); socket.socket.shutdown(s, socket.SHUT_WR); data, ending = answer(s)
      print(data[:15].decode(), ending)
      # In the middle of a request.
      s = tls(); s.sendall(request()[:20]); socket.socket.shutdown(s, socket.SHUT_WR); data, ending = answer(s)
      print(ending in ("end", "cut", "reset"))
      """#)
    #expect(lines == ["HTTP/1.1 200 OK end", "HTTP/1.1 400 end", "HTTP/1.1 200 OK end", "True"])
  }

  @Test func faults_thatEndTheConnection_reachTheSocket() async throws {
    let lines = try await run(
      #"""
      def ending_below(s):
          while True:
              # Encrypted bytes: Python's TLS reports a reset as an end.
              try: part = socket.socket.recv(s, 65536)
              except ConnectionResetError: return "reset"
              if not part: return "end"
      for resets in True, False, False, True:
          s = tls(); s.sendall(request())
          if resets: print(ending_below(s)); continue
          data, ending = answer(s); print(len(data.partition(b"\r\n\r\n")[2]), ending)
      s = tls(); s.sendall(request()); s.settimeout(0.3)
      try: print(answer(s))
      except TimeoutError: print("silent")
      s.close()
      """#,
      faults: [
        .dropBeforeHandling(reset: true), .dropBeforeHandling(), .dropInsideResponse(bytes: 3),
        .dropInsideResponse(bytes: 3, reset: true), .hang(),
      ])
    #expect(lines == ["reset", "0 end", "3 end", "reset", "silent"])
  }

  @Test func garbage_insteadOfAClientHello_endsTheConnection() async throws {
    let lines = try await run(
      #"""
      import random
      random.seed(36)
      tries = [b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"\x16\x03\x01\xff\xff" + b"A" * 70000, b"\x16\x03\x01\0\x05\x01\xff\xff\xff\xff",
               b"\x80\x2e\x01\0\x02" + b"B" * 60, b"\x15\x03\x03\0\x02\x02\x28", b"\x17\x03\x03\0\x05hello"]
      tries += [bytes(random.randrange(256) for _ in range(random.randrange(1, 3000))) for _ in range(30)]
      tries += [b"\x16\x03\x01" + struct.pack(">H", 200) + bytes(random.randrange(256) for _ in range(200)) for _ in range(30)]
      ended = 0
      for text in tries:
          s = plain()
          try:
              s.sendall(text); s.shutdown(socket.SHUT_WR)
              while s.recv(65536): pass
          except (ConnectionError, OSError) as error:
              if isinstance(error, TimeoutError): raise
          ended += 1; s.close()
      print(ended == len(tries))
      """#)
    #expect(lines == ["True"])
  }

  @Test func clientHello_damagedOrCut_endsTheConnection() async throws {
    let lines = try await run(
      #"""
      import random
      random.seed(37)
      incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
      object = settings().wrap_bio(incoming, outgoing, server_hostname="localhost")
      try: object.do_handshake()
      except ssl.SSLWantReadError: pass
      hello = outgoing.read()
      ended = 0
      for i in range(150):
          text = bytearray(hello)
          if i % 2: text = text[:random.randrange(1, len(text))]
          else: text[random.randrange(len(text))] ^= 1 << random.randrange(8)
          s = plain()
          try:
              s.sendall(text)
              if i % 3 == 0: s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
              else:
                  s.shutdown(socket.SHUT_WR)
                  while s.recv(65536): pass
          except (ConnectionError, OSError) as error:
              if isinstance(error, TimeoutError): raise
          ended += 1; s.close()
      print(ended)
      """#)
    #expect(lines == ["150"])
  }

  @Test func client_thatHangsUpAnywhere_takesNothingDown() async throws {
    let lines = try await run(
      #"""
      for i in range(60):
          s = tls(); s.sendall(request() * 20)
          for _ in range(i % 4): s.recv(100)
          if i % 2: s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
          socket.socket.close(s)
      # A record that is damaged on its way.
      s = tls(); socket.socket.send(s, b"\x17\x03\x03\0\x20" + b"x" * 32)
      try: print(answer(s))
      except ssl.SSLError as error: print(error.reason)
      """#)
    #expect(lines == ["SSLV3_ALERT_BAD_RECORD_MAC"])
  }

  @Test func largeBodies_bothWays_arriveWhole() async throws {
    var configuration = SandboxConfiguration()
    (configuration.username, configuration.password) = ("ann@example.org", "secret")
    (configuration.clientId, configuration.clientSecret) = ("app", "hidden")
    let lines = try await run(
      #"""
      import base64, hashlib, json
      def exchange(method, path, body=b"", headers="", slowly=False):
          s = tls()
          if slowly: s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
          s.sendall(request(path, method, headers + f"Content-Length: {len(body)}\r\n"))
          s.sendall(body)
          # Long enough for the sandbox to find the socket full.
          if slowly: time.sleep(1)
          file = s.makefile("rb")
          file.readline(); count = 0
          while (line := file.readline()) != b"\r\n":
              name, value = line.decode().split(":", 1)
              if name.lower() == "content-length": count = int(value)
          return file.read(count)
      form = b"grant_type=password&client_id=app&client_secret=hidden&username=ann@example.org&password=secret"
      token = json.loads(exchange("POST", "/services/oauth2/token", form, "Content-Type: application/x-www-form-urlencoded\r\n"))
      signed = f"Authorization: Bearer {token['access_token']}\r\n"
      content = os.urandom(1 << 20) * 9
      record = json.dumps({"PathOnClient": "a.bin", "VersionData": base64.b64encode(content).decode()}).encode()
      made = json.loads(exchange("POST", "/services/data/v66.0/sobjects/ContentVersion", record,
                                 signed + "Content-Type: application/json\r\n"))
      path = f"/services/data/v66.0/sobjects/ContentVersion/{made['id']}"
      for slowly in False, True: print(exchange("GET", path + "/VersionData", headers=signed, slowly=slowly) == content)
      checksum = json.loads(exchange("GET", path, headers=signed))["Checksum"]
      print(checksum == hashlib.md5(content).hexdigest())
      """#, configuration: configuration)
    #expect(lines == ["True", "True", "True"])
  }

  @Test func clients_manyAtOnce_areServed() async throws {
    let lines = try await run(
      #"""
      results = []
      def one():
          for _ in range(5):
              s = tls(); s.sendall(request(headers="Connection: close\r\n")); data, ending = answer(s)
              results.append((data[:15], ending))
      threads = [threading.Thread(target=one) for _ in range(30)]
      for t in threads: t.start()
      for t in threads: t.join()
      print(len(results), set(results))
      """#)
    #expect(lines == [#"150 {(b'HTTP/1.1 200 OK', 'end')}"#])
  }
}
