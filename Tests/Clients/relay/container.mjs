// The native container of a hybrid application, played by the relay: `exec` and `document` over a socket.
import net from 'node:net';

/** Connects to a relay. `exec(success, fail, service, action, args)` and `document` as a hybrid page knows them. */
export function connect(port) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    const waiting = new Map(); // id -> {success, fail}
    const listeners = new Map(); // event -> Set of functions
    let last = 0, partial = '';

    const exec = (success, fail, service, action, args) => {
      last += 1;
      waiting.set(last, { success, fail });
      socket.write(JSON.stringify({ id: last, service, action, args }) + '\n');
    };

    const document = {
      addEventListener: (name, fn) => {
        if (!listeners.has(name)) listeners.set(name, new Set());
        listeners.get(name).add(fn);
      },
      removeEventListener: (name, fn) => listeners.get(name)?.delete(fn),
    };

    const take = (message) => {
      if (message.event) {
        for (const fn of [...(listeners.get(message.event) ?? [])]) fn({ type: message.event, detail: message.detail });
        return;
      }
      const call = waiting.get(message.id);
      if (!call) throw new Error(`an answer nobody waits for: ${JSON.stringify(message)}`);
      waiting.delete(message.id);
      (message.ok ? call.success : call.fail)?.(message.value);
    };

    socket.setEncoding('utf8');
    socket.on('data', (text) => {
      const lines = (partial + text).split('\n');
      partial = lines.pop();
      // A turn for each message, so that what a callback begins is heard before the next one.
      for (const line of lines) setImmediate(() => take(JSON.parse(line)));
    });
    socket.on('error', reject);
    socket.on('connect', () => resolve({ exec, document, pending: () => waiting.size, close: () => socket.end() }));
  });
}
