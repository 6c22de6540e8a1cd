// News from the server. A browser allows six connections to a server, so that of all tabs one holds the stream and tells the
// others; if it is closed, another one goes on where it was.
import { authorized } from "./api.js";

const channel = new BroadcastChannel("tureen-events");
const listeners = new Set();
let last = null;

export const listen = (listener) => listeners.add(listener);

function tell(event) {
  if (event.id) last = event.id;
  for (const listener of listeners) listener(event);
}

channel.onmessage = ({ data }) => tell(data);

function share(event) {
  tell(event);
  channel.postMessage(event);
}

/** Calls `onEvent` for each event of a stream, up to its end. */
async function read(stream, onEvent) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = {};
      for (const line of block.split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) event[line.slice(0, colon)] = line.slice(colon + 2);
      }
      if (event.event) onEvent({ kind: event.event, id: event.id, data: JSON.parse(event.data ?? "{}") });
    }
  }
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

async function hold() {
  for (let wait = 250; ; wait = Math.min(wait * 2, 5000)) {
    try {
      const headers = authorized(last ? { "Last-Event-ID": last } : {});
      const answer = await fetch("/api/v1/events", { headers });
      if (answer.status === 401) return;
      if (answer.ok) {
        share({ kind: "connected" });
        wait = 125;
        await read(answer.body, (event) => {
          // A new stream begins after the events that its page has seen.
          if (event.kind === "hello") last ??= event.data.last;
          else share(event);
        });
      }
    } catch {
      // The connection is gone; what happens meanwhile comes with the next one.
    }
    share({ kind: "disconnected" });
    await pause(wait);
  }
}

/** Starts to listen, in this tab or through another one. */
export function start() {
  if (navigator.locks) navigator.locks.request("tureen-stream", hold);
  else hold();
}
